//! The framed protocol as the reactor wants it.

use reactor::{Fed, Protocol, Then};

use crate::frames::{Cut, MAX_FRAME_BYTES, cut, frame, hold};
use crate::work::{answer, error_answer};

/// Frames in, frames out.
pub struct Framed {
    /// Whether a connection is closed after its first answer: system 1.
    pub fresh: bool,
}

impl Framed {
    /// Answer the whole frames of a stream; also how many bytes at its end are unused.
    fn answer_all(&self, stream: &[u8], out: &mut Vec<u8>) -> (Fed, usize) {
        let (mut rest, mut answered) = (stream, 0);
        let then = loop {
            match cut(rest) {
                Cut::Partial => break Then::Stay,
                Cut::Refused(announced) => {
                    refuse(413, &too_long(announced), out);
                    break Then::Linger;
                }
                Cut::Frame { body, rest: after } => {
                    frame(out, |out| answer(body, out));
                    answered += 1;
                    rest = after;
                    if self.fresh {
                        break Then::Close;
                    }
                }
            }
        };
        (Fed { answered, then }, rest.len())
    }
}

impl Protocol for Framed {
    /// What has come of a frame that is not whole yet.
    type State = Vec<u8>;

    fn feed(&self, held: &mut Vec<u8>, data: &[u8], out: &mut Vec<u8>) -> Fed {
        if held.is_empty() {
            let (fed, unused) = self.answer_all(data, out);
            held.extend_from_slice(&data[data.len() - unused..]);
            return fed;
        }
        let mut stream = std::mem::take(held);
        stream.extend_from_slice(data);
        let (fed, unused) = self.answer_all(&stream, out);
        *held = hold(stream, unused);
        fed
    }

    fn refusal(&self, connections: usize) -> Vec<u8> {
        let mut out = Vec::new();
        refuse(
            503,
            &format!("the connection cache is full: {connections} connections"),
            &mut out,
        );
        out
    }
}

fn too_long(announced: i32) -> String {
    format!("a frame of {announced} bytes is not accepted; it may have 0 to {MAX_FRAME_BYTES}")
}

fn refuse(code: u16, err: &str, out: &mut Vec<u8>) {
    frame(out, |out| error_answer(code, err, out));
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const CALC: &[u8] =
        b"\0\0\0\x3b{\"method\": \"POST\", \"url\": \"/calc\", \"params\": {\"target\": 7}}";

    fn fed(fresh: bool, chunks: &[&[u8]]) -> (u64, Then, Vec<u8>) {
        let (mut held, mut out, mut answered) = (Vec::new(), Vec::new(), 0);
        let mut then = Then::Stay;
        for chunk in chunks {
            let fed = Framed { fresh }.feed(&mut held, chunk, &mut out);
            (answered, then) = (answered + fed.answered, fed.then);
        }
        (answered, then, out)
    }

    #[test]
    fn frames_are_answered_however_they_arrive() {
        let three = CALC.repeat(3);
        for size in 1..three.len() {
            let chunks: Vec<&[u8]> = three.chunks(size).collect();
            let (answered, then, _) = fed(false, &chunks);
            assert_eq!((answered, then), (3, Then::Stay), "in chunks of {size}");
        }
    }

    #[test]
    fn a_fresh_connection_is_closed_after_its_first_answer() {
        assert_eq!(fed(true, &[CALC]).1, Then::Close);
        let (answered, then, _) = fed(true, &[&CALC.repeat(2)]);
        assert_eq!((answered, then), (1, Then::Close));
    }

    #[test]
    fn a_bad_length_is_answered_413_after_the_good_frame_before_it() {
        let (answered, then, out) = fed(false, &[CALC, b"\xff\xff\xff\xffmore"]);
        assert_eq!((answered, then), (1, Then::Linger));
        assert!(String::from_utf8_lossy(&out).contains("\"code\": 413"));
    }
}

#[cfg(test)]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::tests::CALC;
    use super::*;

    /// Frames with a request or with anything else, then bytes that need be none.
    fn stream() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<u8>)> {
        let body = prop_oneof![
            Just(CALC[4..].to_vec()),
            vec(any::<u8>(), 0..40),
            (any::<String>(), any::<i64>()).prop_map(|(url, target)| {
                let url = serde_json::Value::from(url);
                format!(r#"{{"method": "POST", "url": {url}, "params": {{"target": {target}}}}}"#)
                    .into_bytes()
            }),
        ];
        (vec(body, 0..5), vec(any::<u8>(), 0..8))
    }

    proptest! {
        #[test]
        fn each_frame_has_one_answer_however_it_arrives((bodies, rest) in stream(), size in 1usize..60) {
            let mut sent = Vec::new();
            bodies.iter().for_each(|body| frame(&mut sent, |out| out.extend_from_slice(body)));
            let (mut held, mut out, mut answered) = (Vec::new(), Vec::new(), 0);
            for piece in sent.chunks(size) {
                let fed = Framed { fresh: false }.feed(&mut held, piece, &mut out);
                prop_assert!(fed.then == Then::Stay && held.len() < piece.len() + 4 + 200);
                answered += fed.answered;
            }
            prop_assert_eq!((answered as usize, held.len()), (bodies.len(), 0));
            let mut answers = &out[..];
            for body in &bodies {
                let Cut::Frame { body: answer, rest } = cut(answers) else { panic!("{answers:?}") };
                answers = rest;
                let answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
                let right = if *body == CALC[4..] { answer["msg"] == "7" } else { answer["code"] != 200 };
                prop_assert!(right, "{}", answer);
            }
            prop_assert!(answers.is_empty());
            let announced = rest.first_chunk().map_or(0, |header| i32::from_be_bytes(*header));
            let fed = Framed { fresh: false }.feed(&mut held, &rest, &mut out);
            let is_refused = !(0..=MAX_FRAME_BYTES as i32).contains(&announced);
            prop_assert_eq!(fed.then == Then::Linger, is_refused);
        }
    }
}
