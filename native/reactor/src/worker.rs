//! One thread's event loop.

use std::os::fd::RawFd;
use std::sync::Arc;

use contract::now_ns;

use crate::connection::{Connection, Phase};
use crate::epoll::Event;
use crate::protocol::Protocol;
use crate::serving::Serving;
use crate::shared::LISTENER;

const EVENTS: usize = 256;

/// Serve until the process ends.
pub fn run<P: Protocol>(mut serving: Serving<P>) {
    let shared = Arc::clone(&serving.shared);
    let mut events = [Event { events: 0, u64: 0 }; EVENTS];
    loop {
        let timeout_ms = serving.deadlines.timeout_ms(now_ns);
        let filled = shared.epolls[serving.number].wait(&mut events, timeout_ms);
        for event in &events[..filled] {
            let token = event.u64;
            if token & LISTENER != 0 {
                serving.accept((token & !LISTENER) as usize);
            } else {
                on_event(&mut serving, token);
            }
        }
        if timeout_ms >= 0 {
            pass_deadlines(&mut serving);
        }
    }
}

fn on_event<P: Protocol>(serving: &mut Serving<P>, token: u64) {
    let fd = (token & 0x7fff_ffff) as RawFd;
    let mut connection = serving
        .take(fd)
        .unwrap_or_else(|| Connection::dealt(fd, (token >> 32) as usize));
    let alive = match connection.phase {
        Phase::Open if connection.has_unsent() => serving.go_on_sending(&mut connection),
        Phase::Open => serving.read(&mut connection),
        Phase::Closing(then) => serving.close_when_sent(&mut connection, then),
        Phase::Draining => connection
            .receive(&mut serving.received)
            .map(|received| received != Some(0)),
        Phase::OverLimit => Ok(true),
    };
    serving.keep_if(alive, connection);
}

/// Connections whose deadline is over are closed, or looked at again; listeners listen again.
fn pass_deadlines<P: Protocol>(serving: &mut Serving<P>) {
    let now_ns = now_ns();
    while let Some(fd) = serving.deadlines.pop_over(now_ns) {
        match serving.take(fd) {
            Some(connection) if connection.phase == Phase::OverLimit => serving.look_again(connection),
            Some(connection) => serving.forget(&connection),
            None => serving.listen_again(fd),
        }
    }
}
