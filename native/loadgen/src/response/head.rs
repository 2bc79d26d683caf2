//! The head of an HTTP response.

use std::mem::MaybeUninit;

use crate::limits::{MAX_HEAD_BYTES, MAX_HEADERS};

const MAX_DIGITS: usize = 12;

/// How the end of the body is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    Counted(u64),
    Chunked,
    UntilClosed,
}

/// What a head says of the response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Head {
    pub status: u16,
    pub length: Length,
    /// Whether the server keeps the connection open.
    pub keep: bool,
}

impl Head {
    /// Whether the answer is still to come. After 101 comes another protocol.
    pub fn is_interim(&self) -> bool {
        matches!(self.status, 100 | 102..200)
    }
}

impl Default for Head {
    fn default() -> Self {
        Self {
            status: 0,
            length: Length::UntilClosed,
            keep: false,
        }
    }
}

/// The head at the beginning of `data` and its size in bytes; none if it is not whole yet.
///
/// Source: RFC 9112, section 6.3 (length of a body) and 9.3 (persistence).
pub fn parse(data: &[u8]) -> Result<Option<(Head, usize)>, httparse::Error> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let httparse::Status::Complete(size) =
        config.parse_response_with_uninit_headers(&mut response, data, &mut headers)?
    else {
        return Ok(None);
    };
    if size > MAX_HEAD_BYTES {
        return Err(httparse::Error::TooManyHeaders);
    }
    let status = response.code.unwrap_or(0);
    if !(100..=599).contains(&status) {
        return Err(httparse::Error::Status);
    }
    let mut head = Head {
        status,
        length: Length::UntilClosed,
        keep: response.version == Some(1),
    };
    for header in response.headers.iter() {
        note(&mut head, header)?;
    }
    if head.is_interim() || matches!(head.status, 101 | 204 | 304) {
        head.length = Length::Counted(0);
    }
    Ok(Some((head, size)))
}

/// A length that is said twice must be the same, and none may stand beside a transfer coding (RFC 9112, section 6.3).
fn note(head: &mut Head, header: &httparse::Header<'_>) -> Result<(), httparse::Error> {
    if header.name.eq_ignore_ascii_case("content-length") {
        let length = Length::Counted(whole(header.value).ok_or(httparse::Error::HeaderValue)?);
        if head.length != Length::UntilClosed && head.length != length {
            return Err(httparse::Error::HeaderValue);
        }
        head.length = length;
    } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
        let codings = header.value.trim_ascii().to_ascii_lowercase();
        if head.length != Length::UntilClosed || !codings.ends_with(b"chunked") {
            return Err(httparse::Error::HeaderValue);
        }
        head.length = Length::Chunked;
    } else if header.name.eq_ignore_ascii_case("connection") {
        let value = header.value.to_ascii_lowercase();
        head.keep = head.keep && value != b"close" || value == b"keep-alive";
    }
    Ok(())
}

/// A number of digits alone.
fn whole(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    if digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The Server header of a whole head; empty if there is none.
pub fn server(head: &[u8]) -> String {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let _ = response.parse(head);
    let server = response
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("server"));
    server.map_or_else(String::new, |header| {
        String::from_utf8_lossy(header.value).into_owned()
    })
}

/// The values of all headers of this name in a whole head, without the blanks around them.
pub fn headers<'a>(head: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let _ = response.parse(head);
    let named = response.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| header.value.trim_ascii()).collect()
}
