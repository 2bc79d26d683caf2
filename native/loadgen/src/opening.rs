//! Connections that are kept are opened before the clock starts.

use std::io;
use std::time::Duration;

use contract::now_ns;
use socket2::SockAddr;

use crate::connection::State;
use crate::recorder::Recorder;
use crate::socket::{self, Actual};
use crate::worker::Worker;

impl Worker {
    /// Open all connections; how long each took, or which cannot be opened. Nothing is opened where each request has its own.
    pub fn open_all(&mut self) -> Result<Recorder, String> {
        let mut took = Recorder::default();
        if self.job.fresh {
            return Ok(took);
        }
        for at in 0..self.connections.len() {
            let start_ns = now_ns();
            self.open_one(at).map_err(|error| {
                let address = shown(&self.connections[at].address);
                format!("cannot connect to {address}: {error}; is anything listening there?")
            })?;
            took.record(now_ns() - start_ns);
        }
        Ok(took)
    }

    fn open_one(&mut self, at: usize) -> io::Result<()> {
        let connection = &mut self.connections[at];
        let patience = Duration::from_nanos(self.job.timeout_ns);
        let socket = socket::open(&connection.address, self.job.options, patience)?;
        self.job.actual.get_or_init(|| Actual::of(&socket));
        connection.adopt(socket, self.poll.registry(), at, false)?;
        connection.state = State::Idle;
        Ok(())
    }
}

fn shown(address: &SockAddr) -> String {
    let path = address.as_pathname().map(|path| path.display().to_string());
    path.or_else(|| address.as_socket().map(|socket| socket.to_string()))
        .unwrap_or_default()
}
