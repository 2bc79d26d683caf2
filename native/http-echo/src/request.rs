//! One HTTP/1.1 request, cut off the beginning of a stream. Source: RFC 9112.

use httparse::{EMPTY_HEADER, Header, Status};

const MAX_HEADERS: usize = 64;
const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_BODY_BYTES: usize = 16 << 20;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    /// Send the body back.
    Post,
    Other,
}

/// What becomes of the connection, and how the answer has to say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// HTTP/1.1 keeps it without a word.
    Kept,
    /// HTTP/1.0 needs the header: `ab -k` reads no length otherwise.
    KeptByHeader,
    Closed,
}

/// What the beginning of a stream holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    Request {
        method: Method,
        connection: Connection,
        body: &'a [u8],
        rest: &'a [u8],
    },
    Partial,
    Bad,
}

/// Cut the first request off a stream.
pub fn cut(stream: &[u8]) -> Cut<'_> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let head_bytes = match request.parse(stream) {
        Ok(Status::Complete(head_bytes)) => head_bytes,
        Ok(Status::Partial) if stream.len() <= MAX_HEAD_BYTES => return Cut::Partial,
        _ => return Cut::Bad,
    };
    let Some(meaning) = Meaning::of(request.headers, request.version == Some(1)) else {
        return Cut::Bad;
    };
    match stream[head_bytes..].split_at_checked(meaning.body_bytes) {
        None => Cut::Partial,
        Some((body, rest)) => Cut::Request {
            method: method(request.method),
            connection: meaning.connection,
            body,
            rest,
        },
    }
}

/// What the headers say about the body and the connection.
struct Meaning {
    body_bytes: usize,
    connection: Connection,
}

impl Meaning {
    /// None for what this server does not take: a length that is none, two lengths, a chunked body.
    fn of(headers: &[Header<'_>], is_http_11: bool) -> Option<Self> {
        let mut body_bytes = None;
        let mut connection = if is_http_11 {
            Connection::Kept
        } else {
            Connection::Closed
        };
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let announced = whole(header.value).filter(|bytes| *bytes <= MAX_BODY_BYTES)?;
                if body_bytes
                    .replace(announced)
                    .is_some_and(|before| before != announced)
                {
                    return None;
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                return None;
            } else if header.name.eq_ignore_ascii_case("connection") {
                connection = requested(header.value, is_http_11).unwrap_or(connection);
            }
        }
        Some(Self {
            body_bytes: body_bytes.unwrap_or(0),
            connection,
        })
    }
}

/// What a Connection header asks for, if it is about keeping the connection.
fn requested(value: &[u8], is_http_11: bool) -> Option<Connection> {
    let mut words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    words.find_map(|word| match word {
        _ if word.eq_ignore_ascii_case(b"close") => Some(Connection::Closed),
        _ if is_http_11 || !word.eq_ignore_ascii_case(b"keep-alive") => None,
        _ => Some(Connection::KeptByHeader),
    })
}

/// Digits and nothing else: no sign, as RFC 9110 wants it.
fn whole(value: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(value).ok()?.trim();
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn method(name: Option<&str>) -> Method {
    match name {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST" | "PUT") => Method::Post,
        _ => Method::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection_of(head: &[u8]) -> Connection {
        match cut(head) {
            Cut::Request { connection, .. } => connection,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_connection_is_kept_as_the_request_asks() {
        for (head, expected) in [
            (&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], Connection::Kept),
            (b"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", Connection::Closed),
            (
                b"GET / HTTP/1.1\r\nconnection: keep-alive, TE\r\n\r\n",
                Connection::Kept,
            ),
            (b"GET / HTTP/1.0\r\n\r\n", Connection::Closed),
            (
                b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                Connection::KeptByHeader,
            ),
        ] {
            assert_eq!(connection_of(head), expected, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn a_body_is_as_long_as_it_is_said_to_be() {
        let post = b"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET";
        let expected = Cut::Request {
            method: Method::Post,
            connection: Connection::Kept,
            body: b"abc",
            rest: b"GET",
        };
        assert_eq!(cut(post), expected);
        assert_eq!(cut(&post[..post.len() - 4]), Cut::Partial);
        assert_eq!(cut(&post[..20]), Cut::Partial);
    }

    #[test]
    fn what_is_not_http_or_not_taken_is_bad() {
        for bad in [
            &b"\0\0\0\x02{}"[..],
            b"GET /\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(cut(bad), Cut::Bad, "{}", String::from_utf8_lossy(bad));
        }
    }
}

#[cfg(test)]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_request_is_cut_at_the_same_place_however_much_of_it_came(
            line in "(GET|POST|HEAD) /[a-z]{0,9} HTTP/1[.][01]", headers in "([A-Z]{1,9}: ?[ -~]{0,9}\r\n){0,4}",
            body in vec(any::<u8>(), 0..40), after in vec(any::<u8>(), 0..40), at in 0usize..200,
        ) {
            let head = format!("{line}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
            let request = [head.as_bytes(), &body].concat();
            prop_assert_eq!(cut(&request[..at % request.len()]), Cut::Partial);
            let stream = [&request[..], &after].concat();
            let Cut::Request { body: read, rest, .. } = cut(&stream) else { panic!("{head}") };
            prop_assert_eq!((read, rest), (&body[..], &after[..]));
        }

        #[test]
        fn no_bytes_are_a_request_of_more_than_came(start in "(GET / HTTP/1.1\r\n)?", data in vec(any::<u8>(), 0..200)) {
            let stream = [start.as_bytes(), &data].concat();
            if let Cut::Request { body, rest, .. } = cut(&stream) {
                prop_assert!(body.len() + rest.len() < stream.len());
            }
        }
    }
}
