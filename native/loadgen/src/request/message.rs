//! The bytes of a request, made once.

/// The params of the calc request of docs/child-contract.md as JSON; `begun` asks when the handler began.
///
/// Key by key and space by space what core/work.py makes: all clients send the same bytes.
pub fn calc_params(target: u64, payload_bytes: usize, begun: bool) -> String {
    let mut params = format!("{{\"target\": {target}");
    if begun {
        params += ", \"begun\": true";
    }
    if payload_bytes > 0 {
        params += &format!(", \"filler\": \"{}\"", "x".repeat(payload_bytes));
    }
    params + "}"
}

/// A frame: 4-byte big-endian length, then the request.
pub fn framed_calc(target: u64, payload_bytes: usize, begun: bool) -> Vec<u8> {
    let params = calc_params(target, payload_bytes, begun);
    let body = format!("{{\"method\": \"POST\", \"url\": \"/calc\", \"params\": {params}}}");
    let length = i32::try_from(body.len()).expect("the payload is below 16 MiB");
    [&length.to_be_bytes(), body.as_bytes()].concat()
}

/// An HTTP request.
pub struct HttpRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub host: &'a str,
    /// Lines `Name: value`.
    pub headers: &'a [String],
    pub body: &'a [u8],
    pub keep_alive: bool,
}

impl HttpRequest<'_> {
    /// Its bytes. Host, Connection and Content-Length are added unless a header gives them.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.has("host") {
            head += &format!("Host: {}\r\n", self.host);
        }
        for line in self.headers {
            head += &format!("{line}\r\n");
        }
        if !self.keep_alive && !self.has("connection") {
            head += "Connection: close\r\n";
        }
        if (!matches!(self.method, "GET" | "HEAD") || !self.body.is_empty()) && !self.has("content-length") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        [head.as_bytes(), b"\r\n", self.body].concat()
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|line| {
            line.split_once(':')
                .is_some_and(|(given, _)| given.trim().eq_ignore_ascii_case(name))
        })
    }
}

/// A message for an echo: bytes that differ from their neighbours, so that a shift is seen.
pub fn echo(size_bytes: usize) -> Vec<u8> {
    (0..size_bytes).map(|at| (at % 251) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::{HttpRequest, echo, framed_calc};

    #[test]
    fn a_frame_has_the_bytes_of_the_contract() {
        let body = br#"{"method": "POST", "url": "/calc", "params": {"target": 1000}}"#;
        let frame = framed_calc(1000, 0, false);
        assert_eq!(frame[..6], [0x00, 0x00, 0x00, 0x3e, 0x7b, 0x22]);
        assert_eq!(&frame[4..], body);
    }

    #[test]
    fn probe_and_filler_come_after_the_target() {
        let frame = framed_calc(7, 3, true);
        assert!(frame.ends_with(br#""params": {"target": 7, "begun": true, "filler": "xxx"}}"#));
    }

    #[test]
    fn an_http_request_has_the_headers_that_are_given_once() {
        let headers = ["host: there".to_owned(), "X: y".to_owned()];
        let request = HttpRequest {
            method: "GET",
            path: "/a",
            host: "here:1",
            headers: &headers,
            body: b"",
            keep_alive: false,
        };
        assert_eq!(
            request.bytes(),
            b"GET /a HTTP/1.1\r\nhost: there\r\nX: y\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn an_echo_message_has_its_size() {
        assert_eq!(echo(1000).len(), 1000);
        assert_ne!(echo(600)[0..300], echo(600)[300..600]);
    }
}
