//! The head of an HTTP response.

use std::mem::MaybeUninit;

const MAX_HEADERS: usize = 96;

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
    let mut head = Head {
        status: response.code.unwrap_or(0),
        length: Length::UntilClosed,
        keep: response.version == Some(1),
    };
    for header in response.headers.iter() {
        note(&mut head, header)?;
    }
    if matches!(head.status, 100..200 | 204 | 304) {
        head.length = Length::Counted(0);
    }
    Ok(Some((head, size)))
}

fn note(head: &mut Head, header: &httparse::Header<'_>) -> Result<(), httparse::Error> {
    if header.name.eq_ignore_ascii_case("content-length") {
        let bytes = std::str::from_utf8(header.value)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let bytes = bytes.ok_or(httparse::Error::HeaderValue)?;
        if head.length != Length::Chunked {
            head.length = Length::Counted(bytes);
        }
    } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
        head.length = Length::Chunked;
    } else if header.name.eq_ignore_ascii_case("connection") {
        let value = header.value.to_ascii_lowercase();
        head.keep = head.keep && value != b"close" || value == b"keep-alive";
    }
    Ok(())
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
