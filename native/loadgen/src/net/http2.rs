//! HTTP/2 on one connection, with one stream at a time. Outside, requests and answers keep the form of HTTP/1.1.
//!
//! The crate h2 reads and writes the frames. It is polled whenever bytes have come, so it needs no runtime.

use std::io::{self, Write};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::{MAX_BODY_BYTES, MAX_FRAMING_BYTES, MAX_HEAD_BYTES, MAX_HEADERS};

/// How much of an answer may be under way.
const WINDOW_BYTES: u32 = 1 << 24;
/// Many servers end a connection after 1000 requests, and Hypercorn never answers number 1001.
const MAX_REQUESTS: u32 = 500;

/// What the service has sent, and what is to be sent to it.
#[derive(Default)]
struct Pipe {
    received: BytesMut,
    to_send: Vec<u8>,
    is_ended: bool,
}

#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Pipe>>);

enum Stage {
    Idle,
    Asked(ResponseFuture),
    Answered(Response<RecvStream>),
}

/// One connection. Its bytes are passed in by `feed` and taken out by `take_unsent`.
pub struct Http2 {
    wire: Wire,
    sender: SendRequest<Bytes>,
    frames: h2::client::Connection<Wire, Bytes>,
    scheme: &'static str,
    stage: Stage,
    requests: u32,
    body: Vec<u8>,
    /// Bytes that came since the last request was sent, and that are no content of its answer.
    framing_bytes: u64,
    /// Bytes of the last request.
    request_bytes: usize,
    /// The answer, and how much of it was read.
    answer: Vec<u8>,
    read_bytes: usize,
    /// Whether no more requests can be sent.
    pub is_over: bool,
    /// Whether the service has said that it did not begin to serve the request.
    pub is_refused: bool,
}

impl Http2 {
    pub fn new(is_secure: bool) -> io::Result<Self> {
        let wire = Wire::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(MAX_HEAD_BYTES as u32);
        let handshake = pin!(builder.handshake(wire.clone()));
        let Poll::Ready(made) = handshake.poll(&mut Context::from_waker(Waker::noop())) else {
            return Err(io::Error::other("the preface was not written"));
        };
        let (sender, frames) = made.map_err(io::Error::other)?;
        Ok(Self {
            wire,
            sender,
            frames,
            scheme: if is_secure { "https" } else { "http" },
            stage: Stage::Idle,
            requests: 0,
            body: Vec::new(),
            framing_bytes: 0,
            request_bytes: 0,
            answer: Vec::new(),
            read_bytes: 0,
            is_over: false,
            is_refused: false,
        })
    }

    /// Send a request, given as for HTTP/1.1.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let (request, body) = translate(message, self.scheme).map_err(io::Error::other)?;
        let sent = self.sender.send_request(request, body.is_empty());
        let (answer, mut stream) = sent.map_err(|error| self.lost(error))?;
        if !body.is_empty() {
            stream
                .send_data(Bytes::copy_from_slice(body), true)
                .map_err(failure)?;
        }
        self.requests += 1;
        (self.framing_bytes, self.request_bytes) = (0, message.len());
        self.stage = Stage::Asked(answer);
        self.advance()
    }

    /// Take in what the service has sent; nothing at the end of the stream.
    ///
    /// Fails with InvalidData if too much of it belongs to no answer, or if the service does not take our replies to it.
    pub fn feed(&mut self, data: &[u8]) -> io::Result<()> {
        let mut pipe = self.wire.pipe();
        pipe.received.extend_from_slice(data);
        pipe.is_ended |= data.is_empty();
        let most_unsent = self.request_bytes as u64 + MAX_FRAMING_BYTES;
        let is_flooded = pipe.to_send.len() as u64 > most_unsent || self.framing_bytes > MAX_FRAMING_BYTES;
        drop(pipe);
        if is_flooded {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.framing_bytes += data.len() as u64;
        self.advance()?;
        self.is_over |= data.is_empty();
        Ok(())
    }

    /// Read from the answer, once it is complete, in the form of HTTP/1.1.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.answer[self.read_bytes..];
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        self.read_bytes += bytes;
        bytes
    }

    /// What is to be sent to the service; `put_back` takes what could not be sent.
    pub fn take_unsent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.wire.pipe().to_send)
    }

    pub fn put_back(&mut self, mut unsent: Vec<u8>, sent: usize) {
        unsent.drain(..sent);
        self.wire.pipe().to_send = unsent;
    }

    pub fn has_unsent(&self) -> bool {
        !self.wire.pipe().to_send.is_empty()
    }

    /// Whether an answer has begun.
    pub fn has_answered(&self) -> bool {
        matches!(self.stage, Stage::Answered(_))
    }

    fn advance(&mut self) -> io::Result<()> {
        let context = &mut Context::from_waker(Waker::noop());
        self.poll_frames(context);
        loop {
            match &mut self.stage {
                Stage::Idle => break,
                Stage::Asked(answer) => match Pin::new(answer).poll(context) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(answer)) => self.stage = Stage::Answered(answer),
                    Poll::Ready(Err(error)) => return Err(self.lost(error)),
                },
                Stage::Answered(answer) => match answer.body_mut().poll_data(context) {
                    Poll::Pending => break,
                    Poll::Ready(Some(Ok(data))) => {
                        self.body.extend_from_slice(&data);
                        self.framing_bytes = self.framing_bytes.saturating_sub(data.len() as u64);
                        let window = answer.body_mut().flow_control();
                        window.release_capacity(data.len()).map_err(failure)?;
                        if self.body.len() as u64 > MAX_BODY_BYTES {
                            return Err(io::ErrorKind::InvalidData.into());
                        }
                    }
                    Poll::Ready(Some(Err(error))) if error.reason() != Some(Reason::NO_ERROR) => {
                        return Err(failure(error));
                    }
                    Poll::Ready(_) => match answer.body_mut().poll_trailers(context) {
                        Poll::Pending => break,
                        Poll::Ready(Ok(trailers)) => self.finish(context, trailers.unwrap_or_default())?,
                        Poll::Ready(Err(error)) if error.reason() != Some(Reason::NO_ERROR) => {
                            return Err(failure(error));
                        }
                        Poll::Ready(Err(_)) => self.finish(context, HeaderMap::new())?,
                    },
                },
            }
        }
        self.poll_frames(context); // now that windows are larger
        Ok(())
    }

    /// The failure of a request without an answer. Source: RFC 9113, 8.7.
    fn lost(&mut self, error: h2::Error) -> io::Error {
        let is_planned = error.is_go_away() && error.reason() == Some(Reason::NO_ERROR);
        let is_refused = error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
        self.is_refused = error.is_remote() && (is_planned || is_refused);
        failure(error)
    }

    fn poll_frames(&mut self, context: &mut Context<'_>) {
        self.is_over = self.is_over || Pin::new(&mut self.frames).poll(context).is_ready();
    }

    /// The answer is whole. Its trailers become part of its head.
    fn finish(&mut self, context: &mut Context<'_>, trailers: HeaderMap) -> io::Result<()> {
        let Stage::Answered(answer) = std::mem::replace(&mut self.stage, Stage::Idle) else {
            return Ok(());
        };
        let (head, body) = answer.into_parts();
        drop(body); // then a connection that the service has ended is over
        self.poll_frames(context);
        self.read_bytes = 0;
        self.answer.clear();
        write!(self.answer, "HTTP/1.1 {} \r\n", head.status.as_str())?;
        for (name, value) in head.headers.iter().chain(&trailers) {
            for piece in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                self.answer.extend_from_slice(piece);
            }
        }
        if !head.headers.contains_key(header::CONTENT_LENGTH) {
            write!(self.answer, "content-length: {}\r\n", self.body.len())?;
        }
        if self.is_over || self.requests >= MAX_REQUESTS {
            self.answer.extend_from_slice(b"connection: close\r\n");
        }
        self.answer.extend_from_slice(b"\r\n");
        self.answer.append(&mut self.body);
        Ok(())
    }
}

/// A request and its body from the form of HTTP/1.1. Fails with what HTTP/2 cannot send.
pub fn translate<'a>(message: &'a [u8], scheme: &str) -> Result<(Request<()>, &'a [u8]), String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let size = match parsed.parse(message) {
        Ok(httparse::Status::Complete(size)) => size,
        Ok(httparse::Status::Partial) => return Err("its head is not complete".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let mut request = Request::builder().method(parsed.method.unwrap_or_default());
    let mut host = "";
    for field in parsed.headers.iter() {
        if field.name.eq_ignore_ascii_case("host") {
            host = std::str::from_utf8(field.value).map_err(|error| error.to_string())?;
        } else {
            let value = HeaderValue::from_bytes(field.value.trim_ascii());
            request = request.header(field.name, value.map_err(|error| error.to_string())?);
        }
    }
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(host.trim())
        .path_and_query(parsed.path.unwrap_or_default());
    let uri = uri.build().map_err(|error| error.to_string())?;
    let request = request.uri(uri).body(()).map_err(|error| error.to_string())?;
    Ok((request, &message[size..]))
}

/// UnexpectedEof: the service has closed. ConnectionReset: it gave the request up. InvalidData: it broke the protocol.
fn failure(error: h2::Error) -> io::Error {
    let kind = if error.is_io() || error.is_go_away() && error.is_remote() {
        io::ErrorKind::UnexpectedEof
    } else if error.is_reset() && error.is_remote() {
        io::ErrorKind::ConnectionReset
    } else {
        io::ErrorKind::InvalidData
    };
    io::Error::new(kind, error)
}

impl Wire {
    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut pipe = self.pipe();
        if pipe.received.is_empty() && !pipe.is_ended {
            return Poll::Pending;
        }
        let bytes = buffer.remaining().min(pipe.received.len());
        buffer.put_slice(&pipe.received.split_to(bytes));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.pipe().to_send.extend_from_slice(data);
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::{Http2, translate};

    const REQUEST: &[u8] =
        b"PUT /a?b=c HTTP/1.1\r\nHost: example.org:1\r\nX-A: b \r\nContent-Length: 2\r\n\r\nxy";

    #[test]
    fn a_request_has_the_parts_that_http_2_sends() {
        let (request, body) = translate(REQUEST, "http").unwrap();
        assert_eq!(request.uri(), "http://example.org:1/a?b=c");
        assert_eq!(
            format!("{:?}", request.headers()),
            r#"{"x-a": "b", "content-length": "2"}"#
        );
        assert_eq!(body, b"xy");
        assert!(translate(b"GET /a<b HTTP/1.1\r\nHost: x\r\n\r\n", "http").is_err());
    }

    #[test]
    fn a_service_that_speaks_http_1_breaks_the_protocol() {
        let mut http2 = Http2::new(false).unwrap();
        http2.send(REQUEST).unwrap();
        assert!(
            http2
                .take_unsent()
                .starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        );
        let error = http2
            .feed(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            .unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidData,
            "{error:?} {:?}",
            error.get_ref()
        );
    }

    #[test]
    fn frames_without_end_break_the_protocol() {
        // RFC 9113: PING and WINDOW_UPDATE
        let frames: [&[u8]; 2] = [
            b"\0\0\x08\x06\0\0\0\0\012345678",
            b"\0\0\x04\x08\0\0\0\0\x01\0\0\0\x01",
        ];
        for frame in frames {
            let mut http2 = Http2::new(false).unwrap();
            http2.send(REQUEST).unwrap();
            http2.feed(b"\0\0\0\x04\0\0\0\0\0").unwrap();
            let flood = frame.repeat(65_536 / frame.len());
            let fed = (0..1_000).find_map(|_| http2.feed(&flood).err());
            assert_eq!(fed.unwrap().kind(), ErrorKind::InvalidData, "{frame:?}");
            assert!(http2.take_unsent().len() < 10 << 20, "{frame:?}");
        }
    }

    #[test]
    fn replies_that_the_service_never_takes_have_a_limit() {
        let mut http2 = Http2::new(false).unwrap();
        let pings = b"\0\0\x08\x06\0\0\0\0\012345678".repeat(65_536);
        http2.feed(b"\0\0\0\x04\0\0\0\0\0").unwrap();
        let mut rounds = 0;
        while http2.feed(&pings).is_ok() {
            http2.framing_bytes = 0; // as after an answer
            rounds += 1;
            assert!(rounds < 20);
        }
        assert!(http2.take_unsent().len() < 12 << 20);
    }
}
