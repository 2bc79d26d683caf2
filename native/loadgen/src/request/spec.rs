//! The request: put together from flags or from a cell, and turned into the job of the worker threads.

use std::sync::OnceLock;

use crate::cli::flags::{Flags, Protocol};
use crate::engine::job::{Job, Kind};
use crate::net::socket::Options;
use crate::request::message::{self, HttpRequest};
use crate::response::reader::{Expect, HttpExpect};

/// All that a request and its connection are made from.
pub struct RequestSpec {
    pub protocol: Protocol,
    /// How far /calc is to count. HTTP: none for any other request.
    pub calc_target: Option<u64>,
    pub payload_bytes: usize,
    pub message_bytes: usize,
    pub method: String,
    pub host: String,
    pub path: String,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    pub keep_alive: bool,
    pub fresh: bool,
    pub expect_status: u16,
    pub expect_length: Option<u64>,
    pub nodelay: bool,
    pub buffer_bytes: usize,
    pub timeout_ns: u64,
    /// Whether one request in 64 asks when its handler began.
    pub probes: bool,
    pub one_timeout_is_enough: bool,
    pub times_first_byte: bool,
}

impl RequestSpec {
    /// From the flags alone; host and path are the target's.
    pub fn from_flags(flags: &Flags) -> Self {
        Self {
            protocol: flags.protocol,
            calc_target: flags.calc_target,
            payload_bytes: flags.payload_bytes,
            message_bytes: flags.message_bytes,
            method: flags.method().to_owned(),
            host: String::new(),
            path: String::new(),
            headers: flags.headers.clone(),
            body: flags.body_bytes.clone(),
            keep_alive: flags.keep_alive,
            fresh: flags.fresh || !flags.keep_alive,
            expect_status: flags.expect_status,
            expect_length: flags.expect_length,
            nodelay: flags.nodelay,
            buffer_bytes: flags.buffer_bytes,
            timeout_ns: flags.timeout_ns(),
            probes: false,
            one_timeout_is_enough: false,
            times_first_byte: false,
        }
    }

    /// The bytes of the request, and what is expected of the answer.
    pub fn into_job(self) -> Job {
        let (message, probe) = self.messages();
        let kind = |message: Vec<u8>| Kind {
            expect: self.expect(&message),
            message,
            title: String::new(),
            route: 0,
            template: None,
            save: Vec::new(),
        };
        let mut kinds = vec![kind(message)];
        kinds.extend(probe.filter(|_| self.probes).map(kind));
        Job {
            probe: (kinds.len() > 1).then_some(1),
            kinds,
            routes: 0,
            order: Vec::new(),
            opens_early: true,
            sessions: None,
            think_ns: 0,
            options: Options {
                nodelay: self.nodelay,
                buffer_bytes: self.buffer_bytes,
            },
            tls: None,
            http2: false,
            actual: OnceLock::new(),
            fresh: self.fresh,
            timeout_ns: self.timeout_ns,
            one_timeout_is_enough: self.one_timeout_is_enough,
            times_first_byte: self.times_first_byte,
        }
    }

    /// The request, and the one that asks when its handler began.
    fn messages(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        match (self.protocol, self.calc_target) {
            (Protocol::Echo, _) => (message::echo(self.message_bytes), None),
            (Protocol::Framed, _) => {
                let bytes = |begun| message::framed_calc(self.count(), self.payload_bytes, begun);
                (bytes(false), Some(bytes(true)))
            }
            (Protocol::Http, Some(_)) => (self.http_calc(false), Some(self.http_calc(true))),
            (Protocol::Http, None) => (self.http().bytes(), None),
        }
    }

    fn http_calc(&self, begun: bool) -> Vec<u8> {
        let mut headers = self.headers.clone();
        if !headers
            .iter()
            .any(|line| line.to_ascii_lowercase().starts_with("content-type:"))
        {
            headers.push("Content-Type: application/json".to_owned());
        }
        let body = message::calc_params(self.count(), self.payload_bytes, begun).into_bytes();
        HttpRequest {
            method: "POST",
            path: "/calc",
            headers: &headers,
            body: &body,
            ..self.http()
        }
        .bytes()
    }

    fn http(&self) -> HttpRequest<'_> {
        HttpRequest {
            method: &self.method,
            path: &self.path,
            host: &self.host,
            headers: &self.headers,
            body: &self.body,
            keep_alive: self.keep_alive,
        }
    }

    fn expect(&self, message: &[u8]) -> Expect {
        match self.protocol {
            Protocol::Framed => Expect::Frame {
                target: self.count().to_string(),
            },
            Protocol::Echo => Expect::Echo {
                message: message.to_vec(),
            },
            Protocol::Http => Expect::Http(HttpExpect {
                status: self.expect_status,
                length: self.expect_length.map_or_else(OnceLock::new, OnceLock::from),
                target: self.calc_target.map(|target| target.to_string()),
                server: OnceLock::new(),
                body: None,
                keeps: false,
                is_grpc: false,
                bodyless: self.calc_target.is_none() && self.method == "HEAD",
            }),
        }
    }

    fn count(&self) -> u64 {
        self.calc_target.unwrap_or(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestSpec;
    use crate::cli::flags::Flags;

    #[test]
    fn a_calc_post_is_the_one_of_the_python_client() {
        let flags = Flags::from_words(&["--calc-target", "1000", "-n", "1", "http://127.0.0.1:1/"]);
        let spec = RequestSpec {
            host: "localhost".to_owned(),
            ..RequestSpec::from_flags(&flags)
        };
        let expected = b"POST /calc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
            Content-Length: 16\r\n\r\n{\"target\": 1000}";
        assert_eq!(spec.into_job().kinds[0].message, expected);
    }
}
