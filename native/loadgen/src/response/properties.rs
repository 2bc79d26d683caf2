//! Properties of the parsers of answers.

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;

use super::answer::{Answer, Fault, Feed, Verdict};
use super::chunks::{Chunks, Progress};
use super::framed::Framed;
use super::head::parse;
use super::http::{Http, HttpExpect};
use crate::limits::MAX_ANSWER_BYTES;

fn expect() -> HttpExpect {
    HttpExpect {
        status: 200,
        length: OnceLock::new(),
        target: None,
        body: None,
        server: OnceLock::new(),
        bodyless: false,
        keeps: false,
        is_grpc: false,
    }
}

/// Pieces of responses, right and wrong, in any order: what a hostile server may send.
fn response() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop_oneof![
            Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Just(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Just(b"HTTP/1.0 204 None\r\n".to_vec()),
            (0u16..1000).prop_map(|status| format!("HTTP/1.1 {status:03} X\r\n").into_bytes()),
        ],
        prop_oneof![
            any::<u64>().prop_map(|length| format!("Content-Length: {length}\r\n").into_bytes()),
            (0u64..20).prop_map(|length| format!("content-length:{length}\r\n").into_bytes()),
            Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
            Just(b"Connection: close\r\n".to_vec()),
        ],
        Just(b"\r\n".to_vec()),
        (0u64..40).prop_map(|size| format!("{size:x};a=b\r\n").into_bytes()),
        vec(any::<u8>(), 0..40),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What a response comes to when it arrives in pieces of `size` bytes, up to the first that says something.
fn fed(data: &[u8], size: usize) -> Feed {
    let (mut reader, expect) = (Http::default(), expect());
    for piece in data.chunks(size) {
        match reader.feed(&expect, piece) {
            Feed::More => {}
            said => return said,
        }
    }
    Feed::More
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(data in vec(any::<u8>(), 0..300)) {
        let _ = parse(&data);
        let _ = Chunks::default().feed(&data, |_| ());
        let _ = fed(&data, 7);
    }

    #[test]
    fn a_head_is_within_what_came_and_has_a_status(data in response()) {
        if let Ok(Some((head, size))) = parse(&data) {
            prop_assert!(size <= data.len());
            prop_assert!((100..=599).contains(&head.status));
        }
    }

    #[test]
    fn an_answer_is_the_same_byte_by_byte_as_in_pieces(data in response(), size in 1usize..50) {
        let (slow, fast) = (fed(&data, 1), fed(&data, size));
        // more than one answer shows only when its bytes come together
        if matches!(fast, Feed::Done(_)) {
            prop_assert_eq!(slow, fast);
        } else if fast == Feed::More {
            prop_assert_eq!(slow, Feed::More);
        }
    }

    #[test]
    fn a_chunked_body_comes_back_wherever_it_is_cut(
        pieces in vec(vec(any::<u8>(), 1..50), 0..20), extension in "[;][a-z=]{0,20}", size in 1usize..60,
    ) {
        let mut coded = Vec::new();
        for piece in &pieces {
            coded.extend(format!("{:X}{extension}\r\n", piece.len()).as_bytes());
            coded.extend(piece);
            coded.extend(b"\r\n");
        }
        coded.extend(b"0\r\nA: b\r\n\r\n");
        let (mut chunks, mut body, mut last) = (Chunks::default(), Vec::new(), Progress::More);
        for piece in coded.chunks(size) {
            prop_assert_eq!(last, Progress::More);
            last = chunks.feed(piece, |content| body.extend_from_slice(content));
        }
        prop_assert!(matches!(last, Progress::End(_)));
        prop_assert_eq!(body, pieces.concat());
    }

    #[test]
    fn a_frame_is_judged_wherever_it_is_cut(body in r#"[{]"code":(200|500),"msg":"[67]","calc_ns":[0-9]{1,25}[}]|\\PC*"#, size in 1usize..60) {
        let frame = [&(body.len() as i32).to_be_bytes(), body.as_bytes()].concat();
        let mut reader = Framed::default();
        let mut last = Feed::More;
        for piece in frame.chunks(size) {
            prop_assert_eq!(last, Feed::More);
            last = reader.feed("7", piece);
        }
        let said: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
        let calc_ns = said["calc_ns"].as_u64().filter(|_| said["code"] == 200 && said["msg"] == "7");
        let Feed::Done(Answer { verdict, body_bytes, .. }) = last else { panic!("{last:?}") };
        prop_assert_eq!(body_bytes, body.len() as u64);
        prop_assert_eq!(calc_ns, if let Verdict::Right { calc_ns, .. } = verdict { Some(calc_ns) } else { None });
    }

    #[test]
    fn a_length_out_of_bounds_is_garbled_before_its_bytes_come(length in any::<i32>(), size in 1usize..9) {
        let (mut reader, bytes) = (Framed::default(), length.to_be_bytes());
        let last = bytes.chunks(size).map(|piece| reader.feed("7", piece)).last();
        let is_accepted = (0..=MAX_ANSWER_BYTES as i32).contains(&length);
        prop_assert!((last == Some(Feed::Broken(Fault::Garbled))) != is_accepted);
    }
}
