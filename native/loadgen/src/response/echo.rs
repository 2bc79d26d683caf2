//! A raw echo: the same bytes come back, however they are cut.

use super::answer::{Answer, Fault, Feed, Verdict};

/// How much has come back, and whether all of it was right.
#[derive(Default)]
pub struct Echo {
    at: usize,
    wrong: bool,
}

impl Echo {
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn feed(&mut self, message: &[u8], data: &[u8]) -> Feed {
        let Some(expected) = message.get(self.at..self.at + data.len()) else {
            return Feed::Broken(Fault::Extra);
        };
        self.wrong |= expected != data;
        self.at += data.len();
        if self.at < message.len() {
            return Feed::More;
        }
        let verdict = if self.wrong {
            Verdict::Wrong
        } else {
            Verdict::RIGHT
        };
        Feed::Done(Answer {
            verdict,
            keep: !self.wrong,
            body_bytes: message.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Echo;
    use crate::response::answer::{Answer, Fault, Feed, Verdict};

    #[test]
    fn an_echo_is_compared_byte_by_byte() {
        let mut reader = Echo::default();
        assert_eq!(reader.feed(b"hello", b"he"), Feed::More);
        let right = Answer {
            verdict: Verdict::RIGHT,
            keep: true,
            body_bytes: 5,
        };
        assert_eq!(reader.feed(b"hello", b"llo"), Feed::Done(right));
        reader.reset();
        let wrong = Answer {
            verdict: Verdict::Wrong,
            keep: false,
            body_bytes: 5,
        };
        assert_eq!(reader.feed(b"hello", b"hullo"), Feed::Done(wrong));
        reader.reset();
        assert_eq!(reader.feed(b"hello", b"hello!"), Feed::Broken(Fault::Extra));
    }
}
