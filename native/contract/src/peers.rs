//! Whom a service serves: where clients are on other hosts, those of its cell and nobody else.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use socket2::SockRef;

/// Set once, before the service accepts; without any, all that get there are served.
static PEERS: OnceLock<Peers> = OnceLock::new();

struct Peers {
    addresses: Vec<IpAddr>,
    strangers: AtomicU64,
}

impl Peers {
    fn new(addresses: &[IpAddr]) -> Self {
        Self {
            addresses: addresses.to_vec(),
            strangers: AtomicU64::new(0),
        }
    }

    fn admits(&self, socket: &SockRef<'_>) -> bool {
        let peer = socket.peer_addr().ok().and_then(|peer| peer.as_socket());
        let admitted = peer.is_some_and(|peer| self.addresses.contains(&peer.ip()));
        if !admitted {
            self.strangers.fetch_add(1, Relaxed);
        }
        admitted
    }
}

/// Serve these addresses alone; none for all.
pub(crate) fn serve_only(addresses: &[IpAddr]) {
    if !addresses.is_empty() {
        let _ = PEERS.set(Peers::new(addresses));
    }
}

/// Whether a connection that was accepted comes from a peer; else it is counted, and the caller closes it.
pub fn admits(socket: &SockRef<'_>) -> bool {
    PEERS.get().is_none_or(|peers| peers.admits(socket))
}

/// How many connections came from elsewhere, where that is watched.
pub(crate) fn strangers() -> Option<u64> {
    PEERS.get().map(|peers| peers.strangers.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::atomic::Ordering::Relaxed;

    use socket2::SockRef;

    use super::Peers;

    #[test]
    fn a_connection_from_elsewhere_is_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let _caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let socket = SockRef::from(&accepted);
        let (own, other) = (
            Peers::new(&[Ipv4Addr::LOCALHOST.into()]),
            Peers::new(&[Ipv4Addr::new(10, 0, 0, 2).into()]),
        );
        assert!(own.admits(&socket));
        assert!(!other.admits(&socket));
        assert_eq!(
            (own.strangers.load(Relaxed), other.strangers.load(Relaxed)),
            (0, 1)
        );
    }
}
