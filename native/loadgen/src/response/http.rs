//! HTTP/1.1 responses. Bodies are counted, not kept, unless a count has to be found in them.

use std::sync::OnceLock;

use super::answer::{Answer, Fault, Feed, Verdict, check_calc};
use super::body::{Body, beginning};
use super::chunks::{Chunks, Progress};
use super::head::{Head, Length, parse};
use crate::limits::{
    MAX_ANSWER_BYTES, MAX_BODY_BYTES, MAX_COUNTED_BYTES, MAX_FRAMING_BYTES, MAX_HEAD_BYTES, MAX_INTERIM,
};

/// What a right response is, and what was learnt from the first one.
pub struct HttpExpect {
    pub status: u16,
    /// Bytes of the body: as given, or those of the first answer.
    pub length: OnceLock<u64>,
    /// The count that the JSON body must hold, as text.
    pub target: Option<String>,
    /// A user's service: what the body must be, in place of a length or a count.
    pub body: Option<Body>,
    /// Whether a value is saved from the body.
    pub keeps: bool,
    /// Whether a right answer has the grpc-status 0.
    pub is_grpc: bool,
    /// The Server header of the first answer.
    pub server: OnceLock<String>,
    /// Whether a response has no body whatever its head says: those to HEAD.
    pub bodyless: bool,
}

impl HttpExpect {
    /// Whether the body has to be kept until it is whole.
    fn keeps_body(&self) -> bool {
        self.keeps || self.target.is_some() || self.body.as_ref().is_some_and(Body::is_read)
    }

    /// How long the body may be.
    fn most_bytes(&self) -> u64 {
        match (&self.target, &self.body) {
            (Some(_), _) => MAX_ANSWER_BYTES,
            (None, Some(_)) => MAX_BODY_BYTES,
            (None, None) => MAX_COUNTED_BYTES,
        }
    }
}

/// How much is shown of an answer that is not HTTP.
const STRAY_BYTES: usize = 60;

enum Stage {
    Head,
    Counted(u64),
    Chunked(Chunks),
    UntilClosed,
}

/// Reads one response after the other.
pub struct Http {
    stage: Stage,
    head: Head,
    /// The beginning of a head that is not complete yet.
    held: Vec<u8>,
    body: Vec<u8>,
    body_bytes: u64,
    /// Bytes of the body with its framing.
    coded_bytes: u64,
    /// Interim responses before this one.
    interim: u32,
    /// The head that was parsed last: most responses of a connection have the same, byte for byte.
    known: Vec<u8>,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            stage: Stage::Head,
            head: Head::default(),
            held: Vec::new(),
            body: Vec::new(),
            body_bytes: 0,
            coded_bytes: 0,
            interim: 0,
            known: Vec::new(),
        }
    }
}

impl Http {
    pub fn reset(&mut self) {
        self.stage = Stage::Head;
        self.held.clear();
        self.body.clear();
        (self.body_bytes, self.coded_bytes) = (0, 0);
        self.interim = 0;
    }

    pub fn feed(&mut self, expect: &HttpExpect, data: &[u8]) -> Feed {
        if !matches!(self.stage, Stage::Head) {
            return self.take_body(expect, data);
        }
        if self.held.is_empty() {
            return self.take_head(expect, data);
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(data);
        self.take_head(expect, &held)
    }

    /// A body without a length ends with the connection.
    pub fn end(&mut self, expect: &HttpExpect) -> Option<Answer> {
        matches!(self.stage, Stage::UntilClosed).then(|| self.answer(expect))
    }

    fn take_head(&mut self, expect: &HttpExpect, mut data: &[u8]) -> Feed {
        while !data.is_empty() {
            match self.take_one_head(expect, data) {
                Err(feed) => return feed,
                Ok(rest) if !self.head.is_interim() => return self.begin_body(expect, rest),
                Ok(rest) => data = rest,
            }
            self.interim += 1;
            if self.interim > MAX_INTERIM {
                return Feed::Broken(Fault::Garbled);
            }
        }
        Feed::More
    }

    /// What comes after the head at the beginning of `data`, or what its absence means.
    #[inline]
    fn take_one_head<'a>(&mut self, expect: &HttpExpect, data: &'a [u8]) -> Result<&'a [u8], Feed> {
        if self.known.is_empty() || !data.starts_with(&self.known) {
            match parse(data) {
                Ok(Some((head, size))) => self.learn(expect, head, &data[..size]),
                Ok(None) if data.len() < MAX_HEAD_BYTES => {
                    self.held.extend_from_slice(data);
                    return Err(Feed::More);
                }
                _ => {
                    self.held.extend_from_slice(&data[..data.len().min(STRAY_BYTES)]);
                    return Err(Feed::Broken(Fault::Garbled));
                }
            }
        }
        Ok(&data[self.known.len()..])
    }

    #[inline]
    fn begin_body(&mut self, expect: &HttpExpect, mut rest: &[u8]) -> Feed {
        if self.head.status == 101 {
            rest = &[]; // what follows is not HTTP
        }
        self.stage = match self.head.length {
            _ if expect.bodyless => Stage::Counted(0),
            Length::Counted(bytes) if bytes > expect.most_bytes() => return Feed::Broken(Fault::Garbled),
            Length::Counted(bytes) => Stage::Counted(bytes),
            Length::Chunked => Stage::Chunked(Chunks::default()),
            Length::UntilClosed => Stage::UntilClosed,
        };
        self.take_body(expect, rest)
    }

    fn learn(&mut self, expect: &HttpExpect, head: Head, bytes: &[u8]) {
        self.head = head;
        self.known.clear();
        self.known.extend_from_slice(bytes);
        if expect.server.get().is_none() {
            let _ = expect.server.set(super::head::server(bytes));
        }
    }

    fn take_body(&mut self, expect: &HttpExpect, data: &[u8]) -> Feed {
        // the body of another status is shown, and may name the cause
        let keeps = expect.keeps_body() || expect.body.is_some() && self.head.status != expect.status;
        self.coded_bytes += data.len() as u64;
        let (body, body_bytes) = (&mut self.body, &mut self.body_bytes);
        let mut take = |piece: &[u8]| {
            *body_bytes += piece.len() as u64;
            if keeps {
                body.extend_from_slice(piece);
            }
        };
        let is_whole = match &mut self.stage {
            Stage::Counted(left) if data.len() as u64 > *left => return Feed::Broken(Fault::Extra),
            Stage::Counted(left) => {
                take(data);
                *left -= data.len() as u64;
                *left == 0
            }
            Stage::Chunked(chunks) => match chunks.feed(data, take) {
                Progress::More => false,
                Progress::End(size) if size == data.len() => true,
                Progress::End(_) => return Feed::Broken(Fault::Extra),
                Progress::Bad => return Feed::Broken(Fault::Garbled),
            },
            Stage::UntilClosed | Stage::Head => {
                take(data);
                false
            }
        };
        if self.body_bytes > expect.most_bytes() || self.coded_bytes - self.body_bytes > MAX_FRAMING_BYTES {
            Feed::Broken(Fault::Garbled)
        } else if is_whole {
            Feed::Done(self.answer(expect))
        } else {
            Feed::More
        }
    }

    fn answer(&mut self, expect: &HttpExpect) -> Answer {
        let keep = self.head.keep && self.head.status != 101 && !matches!(self.stage, Stage::UntilClosed);
        Answer {
            verdict: self.verdict(expect),
            keep,
            body_bytes: self.body_bytes,
        }
    }

    /// The first bytes of an answer that is not HTTP, with escapes.
    pub fn stray(&self) -> Option<String> {
        let is_stray = matches!(self.stage, Stage::Head) && !self.held.is_empty() && !self.held.starts_with(b"HTTP/1.");
        is_stray.then(|| self.held.escape_ascii().to_string().replace("\\'", "'").replace("\\\"", "\""))
    }

    /// The head and the body of a whole answer; the body if it was kept.
    pub fn answered(&self) -> (&[u8], &[u8]) {
        (&self.known, &self.body)
    }

    /// What came and what was expected, in words, of a user's service. show: a body as it may be shown.
    pub fn difference(&self, expect: &HttpExpect, show: impl Fn(&[u8]) -> Vec<u8>) -> Option<(String, String)> {
        let body = expect.body.as_ref()?;
        if self.head.status != expect.status {
            let mut got = format!("status {}", self.head.status);
            if !self.body.is_empty() {
                got = format!("{got}: {}", beginning(&self.known, &self.body, show));
            }
            return Some((got, expect.status.to_string()));
        }
        if expect.is_grpc && self.grpc_status() != "0" {
            return Some((format!("grpc-status {}", self.grpc_status()), "grpc-status 0".to_owned()));
        }
        Some(body.difference(&self.known, &self.body, show))
    }

    /// The status of a call by gRPC; with HTTP/2, trailers stand in the head, too.
    fn grpc_status(&self) -> String {
        let values = super::head::headers(&self.known, "grpc-status");
        values.first().map_or_else(|| "missing".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
    }

    fn verdict(&self, expect: &HttpExpect) -> Verdict {
        if self.head.status != expect.status {
            return Verdict::Status(i64::from(self.head.status));
        }
        if let Some(body) = &expect.body {
            let is_served = !expect.is_grpc || self.grpc_status() == "0";
            let is_right = is_served && body.is_right(&self.known, &self.body);
            return if is_right { Verdict::RIGHT } else { Verdict::Wrong };
        }
        if let Some(target) = &expect.target {
            return check_calc(&self.body, target);
        }
        let length = *expect.length.get_or_init(|| self.body_bytes);
        if self.body_bytes == length {
            Verdict::RIGHT
        } else {
            Verdict::Wrong
        }
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
