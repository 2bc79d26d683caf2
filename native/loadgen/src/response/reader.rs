//! Puts the answer to a request together from the pieces in which it arrives, and checks it.

use super::answer::{Answer, Feed};
use super::{echo, framed, http};
pub use http::HttpExpect;

/// What a right answer is.
pub enum Expect {
    /// A frame with this count.
    Frame { target: String },
    /// These bytes again.
    Echo { message: Vec<u8> },
    /// An HTTP response.
    Http(HttpExpect),
}

/// The reader of one connection.
pub enum Reader {
    Framed(framed::Framed),
    Echo(echo::Echo),
    Http(Box<http::Http>),
}

impl Reader {
    /// One for the kind of answer that is expected.
    pub fn new(expect: &Expect) -> Self {
        match expect {
            Expect::Frame { .. } => Self::Framed(framed::Framed::default()),
            Expect::Echo { .. } => Self::Echo(echo::Echo::default()),
            Expect::Http(_) => Self::Http(Box::default()),
        }
    }

    /// Forget what has come; the next byte is the first of an answer.
    #[inline]
    pub fn reset(&mut self) {
        match self {
            Self::Framed(reader) => reader.reset(),
            Self::Echo(reader) => reader.reset(),
            Self::Http(reader) => reader.reset(),
        }
    }

    /// Take in bytes as they arrive.
    #[inline]
    pub fn feed(&mut self, expect: &Expect, data: &[u8]) -> Feed {
        match (self, expect) {
            (Self::Framed(reader), Expect::Frame { target }) => reader.feed(target, data),
            (Self::Echo(reader), Expect::Echo { message }) => reader.feed(message, data),
            (Self::Http(reader), Expect::Http(expect)) => reader.feed(expect, data),
            _ => unreachable!("a reader is made for what is expected"),
        }
    }

    /// The first bytes of an answer that is not HTTP, with escapes.
    pub fn stray(&self) -> Option<String> {
        match self {
            Self::Http(reader) => reader.stray(),
            _ => None,
        }
    }

    /// The head and the body of a whole answer by HTTP.
    pub fn answered(&self) -> (&[u8], &[u8]) {
        match self {
            Self::Http(reader) => reader.answered(),
            _ => (&[], &[]),
        }
    }

    /// What came and what was expected, in words, of a user's service.
    pub fn difference(&self, expect: &Expect, show: impl Fn(&[u8]) -> Vec<u8>) -> Option<(String, String)> {
        match (self, expect) {
            (Self::Http(reader), Expect::Http(expect)) => reader.difference(expect, show),
            _ => None,
        }
    }

    /// The answer that the end of the stream completes, if it does.
    pub fn end(&mut self, expect: &Expect) -> Option<Answer> {
        match (self, expect) {
            (Self::Http(reader), Expect::Http(expect)) => reader.end(expect),
            _ => None,
        }
    }
}
