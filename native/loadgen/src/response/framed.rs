//! Frames: a 4-byte big-endian signed length, then that many bytes of JSON. Source: docs/child-contract.md.

use super::answer::{Answer, Fault, Feed, Verdict, check_calc};
use crate::limits::MAX_ANSWER_BYTES;

const HEADER_BYTES: usize = 4;

/// What has come of a frame that did not arrive whole.
#[derive(Default)]
pub struct Framed {
    held: Vec<u8>,
}

impl Framed {
    pub fn reset(&mut self) {
        self.held.clear();
    }

    pub fn feed(&mut self, target: &str, data: &[u8]) -> Feed {
        if self.held.is_empty() {
            return match cut(data, target) {
                Feed::More => self.hold(data),
                whole => whole,
            };
        }
        self.held.extend_from_slice(data);
        cut(&self.held, target)
    }

    fn hold(&mut self, data: &[u8]) -> Feed {
        self.held.extend_from_slice(data);
        Feed::More
    }
}

fn cut(data: &[u8], target: &str) -> Feed {
    let Some((header, body)) = data.split_first_chunk::<HEADER_BYTES>() else {
        return Feed::More;
    };
    let length = i32::from_be_bytes(*header);
    if !(0..=MAX_ANSWER_BYTES as i32).contains(&length) {
        return Feed::Broken(Fault::Garbled);
    }
    match body.len().cmp(&(length as usize)) {
        std::cmp::Ordering::Less => Feed::More,
        std::cmp::Ordering::Greater => Feed::Broken(Fault::Extra),
        std::cmp::Ordering::Equal => {
            let verdict = check_calc(body, target);
            let keep = matches!(verdict, Verdict::Right { .. });
            Feed::Done(Answer {
                verdict,
                keep,
                body_bytes: body.len() as u64,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Framed;
    use crate::response::answer::{Fault, Feed};

    #[test]
    fn more_than_one_frame_is_extra() {
        let frames = b"\0\0\0\x02{}".repeat(2);
        assert_eq!(Framed::default().feed("7", &frames), Feed::Broken(Fault::Extra));
    }
}
