//! Responses in pieces, with every kind of length; and what is none.

use std::sync::OnceLock;

use super::{Body, Http, HttpExpect};
use crate::response::answer::{Answer, Fault, Feed, Verdict};

const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nServer: s/1\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";

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

fn done(verdict: Verdict, keep: bool, body_bytes: u64) -> Feed {
    Feed::Done(Answer {
        verdict,
        keep,
        body_bytes,
    })
}

#[test]
fn a_response_is_read_wherever_it_is_cut() {
    for whole in [PLAIN, CHUNKED] {
        for cut in 1..whole.len() {
            let (mut reader, expect) = (Http::default(), expect());
            assert_eq!(reader.feed(&expect, &whole[..cut]), Feed::More);
            assert_eq!(
                reader.feed(&expect, &whole[cut..]),
                done(Verdict::RIGHT, true, 5),
                "cut at {cut}"
            );
            reader.reset();
            assert_eq!(
                reader.feed(&expect, whole),
                done(Verdict::RIGHT, true, 5),
                "the same head again"
            );
        }
    }
}

#[test]
fn a_response_to_head_has_no_body_whatever_its_length() {
    let expect = HttpExpect {
        bodyless: true,
        keeps: false,
        ..expect()
    };
    let mut reader = Http::default();
    let head = &PLAIN[..PLAIN.len() - 5];
    assert_eq!(reader.feed(&expect, head), done(Verdict::RIGHT, true, 0));
    reader.reset();
    assert_eq!(reader.feed(&expect, PLAIN), Feed::Broken(Fault::Extra));
}

#[test]
fn a_body_of_another_length_than_the_first_is_wrong() {
    let (mut reader, expect) = (Http::default(), expect());
    assert_eq!(reader.feed(&expect, PLAIN), done(Verdict::RIGHT, true, 5));
    assert_eq!(expect.server.get().map(String::as_str), Some("s/1"));
    reader.reset();
    let longer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!";
    assert_eq!(reader.feed(&expect, longer), done(Verdict::Wrong, true, 6));
}

#[test]
fn what_is_no_response_is_garbled_and_what_is_too_much_is_extra() {
    assert_eq!(
        Http::default().feed(&expect(), b"\x00\x01\x02\x03\x04"),
        Feed::Broken(Fault::Garbled)
    );
    let bad = b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n";
    assert_eq!(Http::default().feed(&expect(), bad), Feed::Broken(Fault::Garbled));
    assert_eq!(
        Http::default().feed(&expect(), &PLAIN.repeat(2)),
        Feed::Broken(Fault::Extra)
    );
}

#[test]
fn what_says_two_things_at_once_or_has_no_status_is_garbled() {
    let heads: [&[u8]; 9] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n",
    ];
    for head in heads {
        let text = String::from_utf8_lossy(head);
        assert_eq!(
            Http::default().feed(&expect(), head),
            Feed::Broken(Fault::Garbled),
            "{text}"
        );
    }
    let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(
        Http::default().feed(&expect(), twice),
        done(Verdict::RIGHT, true, 5)
    );
}

#[test]
fn interim_responses_without_end_are_garbled() {
    for interim in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early\r\nLink: a\r\n\r\n",
    ] {
        let alternating = format!("{interim}HTTP/1.1 102 P\r\n\r\n").repeat(10_000);
        let mut reader = Http::default();
        assert_eq!(
            reader.feed(&expect(), alternating.as_bytes()),
            Feed::Broken(Fault::Garbled)
        );
        let mut reader = Http::default();
        let one_by_one: Vec<Feed> = (0..20)
            .map(|_| reader.feed(&expect(), interim.as_bytes()))
            .collect();
        assert!(one_by_one.contains(&Feed::Broken(Fault::Garbled)));
    }
}

#[test]
fn a_body_without_end_is_garbled() {
    let expect = expect();
    let mut reader = Http::default();
    let piece = vec![b'x'; 1 << 22];
    assert_eq!(reader.feed(&expect, b"HTTP/1.1 200 OK\r\n\r\n"), Feed::More);
    assert!((0..300).any(|_| reader.feed(&expect, &piece) == Feed::Broken(Fault::Garbled)));
    let keeps = HttpExpect {
        target: Some("7".to_owned()),
        ..expect
    };
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n";
    assert_eq!(Http::default().feed(&keeps, head), Feed::Broken(Fault::Garbled));
    let own = HttpExpect {
        target: None,
        body: Some(Body::Any),
        ..keeps
    };
    assert_eq!(Http::default().feed(&own, head), Feed::Broken(Fault::Garbled));
}

#[test]
fn a_body_of_a_users_service_may_be_as_long_as_for_the_python_client() {
    let length = 33_554_432; // 32 MiB, by docs/child-contract.md
    let expect = HttpExpect {
        body: Some(Body::Any),
        keeps: true,
        ..expect()
    };
    for (length, is_right) in [(length, true), (length + 1, false)] {
        let body = vec![b'x'; length];
        let counted = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let chunked = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n");
        for (head, end) in [(counted, &b""[..]), (chunked, b"\r\n0\r\n\r\n")] {
            let answer = [head.as_bytes(), &body, end].concat();
            let feed = Http::default().feed(&expect, &answer);
            assert_eq!(matches!(feed, Feed::Done(_)), is_right, "{head}");
        }
    }
}
