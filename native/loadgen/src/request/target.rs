//! Where requests go: `host:port`, `/path.sock`, `http://host:port/path` or `unix:/path.sock:/path`.

use std::net::ToSocketAddrs;

use socket2::SockAddr;

use crate::cli::values::is_printable;

/// An address, and what HTTP needs besides.
#[derive(Debug, Clone)]
pub struct Target {
    pub address: SockAddr,
    /// Name and port as they were given; for a Unix socket its path and 0.
    pub host: String,
    pub port: u16,
    /// Path and query of an HTTP request; empty if there is none.
    pub path: String,
}

impl Target {
    /// The target of an HTTP URL.
    pub fn from_url(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix("unix:") {
            let (socket, path) = rest.split_once(":/").unwrap_or((rest, ""));
            return Ok(Self {
                path: format!("/{path}"),
                ..Self::from_address(socket)?
            });
        }
        let rest = text.strip_prefix("http://").ok_or_else(|| {
            format!("the target is {text}; it must be http://host:port/path or unix:/path.sock:/path")
        })?;
        if !is_printable(rest) {
            return Err(format!(
                "the target is {text:?}; it must not contain blanks or control characters"
            ));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let address = if has_port(authority) {
            authority.to_owned()
        } else {
            format!("{authority}:80")
        };
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok(Self {
            path,
            ..Self::from_address(&address)?
        })
    }

    /// The target of an address: a Unix path begins with '/', anything else is host:port.
    pub fn from_address(text: &str) -> Result<Self, String> {
        if text.starts_with('/') {
            let address = SockAddr::unix(text).map_err(|error| format!("the socket {text}: {error}"))?;
            return Ok(Self {
                address,
                host: text.to_owned(),
                port: 0,
                path: String::new(),
            });
        }
        let (host, port) = text
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)))
            .ok_or_else(|| {
                format!("the address is {text}; it must be host:port, or the path of a Unix socket")
            })?;
        let addresses = (host.trim_matches(['[', ']']), port)
            .to_socket_addrs()
            .map_err(|error| format!("the host {host} was not found: {error}"))?;
        let mut addresses: Vec<_> = addresses.collect();
        addresses.sort_by_key(|address| !address.is_ipv4()); // localhost is often ::1 first, where nothing listens
        let first = addresses
            .first()
            .ok_or_else(|| format!("the host {host} has no address"))?;
        Ok(Self {
            address: SockAddr::from(*first),
            host: host.to_owned(),
            port,
            path: String::new(),
        })
    }

    /// What goes into the Host header.
    pub fn authority(&self) -> String {
        if self.address.is_unix() {
            "localhost".to_owned()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

fn has_port(authority: &str) -> bool {
    authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'))
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn urls_and_addresses_are_taken_apart() {
        let table = [
            ("http://127.0.0.1:8080/a?b=c", "127.0.0.1", 8080, "/a?b=c"),
            ("http://127.0.0.1", "127.0.0.1", 80, "/"),
            ("http://127.0.0.1:81?x", "127.0.0.1", 81, "/?x"),
            ("http://[::1]:82/", "[::1]", 82, "/"),
            ("unix:/run/s.sock:/calc", "/run/s.sock", 0, "/calc"),
            ("unix:/run/s.sock", "/run/s.sock", 0, "/"),
        ];
        for (url, host, port, path) in table {
            let target = Target::from_url(url).unwrap();
            assert_eq!(
                (target.host.as_str(), target.port, target.path.as_str()),
                (host, port, path),
                "{url}"
            );
        }
    }

    #[test]
    fn what_is_no_target_is_refused_with_what_is() {
        for wrong in ["https://x/", "x:80", "http://127.0.0.1:99999/"] {
            assert!(
                Target::from_url(wrong).unwrap_err().contains("must be"),
                "{wrong}"
            );
        }
        assert!(
            Target::from_address("127.0.0.1")
                .unwrap_err()
                .contains("host:port")
        );
    }
}
