//! HTTP/1.1 as the reactor wants it: a fixed answer to GET, the body back to POST.

use std::io::Write;

use reactor::{Fed, Protocol, Then};

use crate::request::{Connection, Cut, Method, cut};

/// The answer to GET.
pub const HELLO: &[u8] = b"Hello, World!";

/// Requests in, responses out.
pub struct Http;

impl Http {
    /// Answer the whole requests of a stream; also how many bytes at its end are unused.
    fn answer_all(stream: &[u8], out: &mut Vec<u8>) -> (Fed, usize) {
        let (mut rest, mut answered) = (stream, 0);
        let then = loop {
            if rest.is_empty() {
                break Then::Stay;
            }
            match cut(rest) {
                Cut::Partial => break Then::Stay,
                Cut::Bad => {
                    respond(out, "400 Bad Request", Connection::Closed, b"bad request\n", true);
                    break Then::Linger;
                }
                Cut::Request {
                    method,
                    connection,
                    body,
                    rest: after,
                } => {
                    answer(method, connection, body, out);
                    answered += 1;
                    rest = after;
                    if connection == Connection::Closed {
                        break if rest.is_empty() {
                            Then::Close
                        } else {
                            Then::Linger
                        };
                    }
                }
            }
        };
        (Fed { answered, then }, rest.len())
    }
}

impl Protocol for Http {
    /// What has come of a request that is not whole yet.
    type State = Vec<u8>;

    fn feed(&self, held: &mut Vec<u8>, data: &[u8], out: &mut Vec<u8>) -> Fed {
        if held.is_empty() {
            let (fed, unused) = Self::answer_all(data, out);
            held.extend_from_slice(&data[data.len() - unused..]);
            return fed;
        }
        let mut stream = std::mem::take(held);
        stream.extend_from_slice(data);
        let (fed, unused) = Self::answer_all(&stream, out);
        if unused > 0 {
            stream.drain(..stream.len() - unused);
            *held = stream;
        }
        fed
    }

    fn refusal(&self, _connections: usize) -> Vec<u8> {
        let mut out = Vec::new();
        respond(
            &mut out,
            "503 Service Unavailable",
            Connection::Closed,
            b"too many connections\n",
            true,
        );
        out
    }
}

fn answer(method: Method, connection: Connection, body: &[u8], out: &mut Vec<u8>) {
    match method {
        Method::Get => respond(out, "200 OK", connection, HELLO, true),
        Method::Head => respond(out, "200 OK", connection, HELLO, false),
        Method::Post => respond(out, "200 OK", connection, body, true),
        Method::Other => respond(
            out,
            "405 Method Not Allowed",
            connection,
            b"GET, HEAD, POST, PUT\n",
            true,
        ),
    }
}

fn respond(out: &mut Vec<u8>, status: &str, connection: Connection, body: &[u8], with_body: bool) {
    let connection_line = match connection {
        Connection::Kept => "",
        Connection::KeptByHeader => "Connection: keep-alive\r\n",
        Connection::Closed => "Connection: close\r\n",
    };
    let bytes = body.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\n{connection_line}\r\n"
    )
    .expect("a Vec takes all that is written");
    if with_body {
        out.extend_from_slice(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered_in_order_however_they_arrive() {
        let stream =
            b"GET / HTTP/1.1\r\n\r\nPOST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcdHEAD / HTTP/1.1\r\n\r\n";
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ";
        let expected = format!("{head}13\r\n\r\nHello, World!{head}4\r\n\r\nabcd{head}13\r\n\r\n");
        for size in 1..=stream.len() {
            let (mut held, mut out, mut answered) = (Vec::new(), Vec::new(), 0);
            for chunk in stream.chunks(size) {
                answered += Http.feed(&mut held, chunk, &mut out).answered;
            }
            assert_eq!(String::from_utf8_lossy(&out), expected, "in chunks of {size}");
            assert_eq!((answered, held.len()), (3, 0));
        }
    }

    #[test]
    fn a_bad_request_is_answered_400_and_the_connection_closed() {
        let mut out = Vec::new();
        let fed = Http.feed(&mut Vec::new(), b"nonsense\r\n\r\n", &mut out);
        assert_eq!(
            fed,
            Fed {
                answered: 0,
                then: Then::Linger
            }
        );
        assert!(out.starts_with(b"HTTP/1.1 400 "));
    }
}
