//! The outcome of a request: an answer, right or not, or no usable one.

use std::borrow::Cow;

use serde::Deserialize;

/// No usable answer came; the codes of docs/child-contract.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    Connect,
    Closed,
    Reset,
    Garbled,
    Timeout,
    Extra,
    /// The handshake of TLS failed.
    Tls,
    /// The login of a session had another answer than the expected one.
    Login,
}

impl Fault {
    /// The code that errors are counted by.
    pub fn code(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Closed => "closed",
            Self::Reset => "reset",
            Self::Garbled => "garbled",
            Self::Timeout => "timeout",
            Self::Extra => "extra",
            Self::Tls => "tls",
            Self::Login => "login",
        }
    }
}

/// How a complete answer was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// As expected. begun_ns only if the request asked for it.
    Right { calc_ns: u64, begun_ns: Option<u64> },
    /// The right status, but another count, length or content.
    Wrong,
    /// Another status than the one expected.
    Status(i64),
    /// It cannot be read.
    Garbled,
}

impl Verdict {
    pub const RIGHT: Self = Self::Right {
        calc_ns: 0,
        begun_ns: None,
    };
}

/// A complete answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub verdict: Verdict,
    /// Whether the connection can be used again.
    pub keep: bool,
    pub body_bytes: u64,
}

/// What some bytes have led to.
#[derive(Debug, PartialEq)]
pub enum Feed {
    /// The answer is not complete yet.
    More,
    Done(Answer),
    /// The connection is of no more use.
    Broken(Fault),
}

#[derive(Deserialize)]
struct CalcAnswer<'a> {
    code: i64,
    #[serde(borrow)]
    msg: Cow<'a, str>,
    calc_ns: Option<u64>,
    begun_ns: Option<u64>,
}

/// Whether a JSON answer holds the count, `target` as text.
pub fn check_calc(body: &[u8], target: &str) -> Verdict {
    match serde_json::from_slice::<CalcAnswer<'_>>(body) {
        Err(_) => Verdict::Garbled,
        Ok(answer) if answer.code != 200 => Verdict::Status(answer.code),
        Ok(answer) if answer.msg != target => Verdict::Wrong,
        Ok(CalcAnswer { calc_ns: None, .. }) => Verdict::Garbled,
        Ok(CalcAnswer {
            calc_ns: Some(calc_ns),
            begun_ns,
            ..
        }) => Verdict::Right { calc_ns, begun_ns },
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, check_calc};

    #[test]
    fn answers_are_worth_what_the_contract_says() {
        let table: [(&str, Verdict); 6] = [
            (
                r#"{"code": 200, "msg": "7", "err": "", "calc_ns": 5}"#,
                Verdict::Right {
                    calc_ns: 5,
                    begun_ns: None,
                },
            ),
            (
                r#"{"code": 200, "msg": "\u0037", "err": "", "calc_ns": 5, "begun_ns": 9}"#,
                Verdict::Right {
                    calc_ns: 5,
                    begun_ns: Some(9),
                },
            ),
            (
                r#"{"code": 200, "msg": "8", "err": "", "calc_ns": 5}"#,
                Verdict::Wrong,
            ),
            (
                r#"{"code": 503, "msg": "", "err": "full", "calc_ns": 0}"#,
                Verdict::Status(503),
            ),
            (r#"{"code": 200, "msg": "7", "err": ""}"#, Verdict::Garbled),
            ("\u{ff}]", Verdict::Garbled),
        ];
        for (body, expected) in table {
            assert_eq!(check_calc(body.as_bytes(), "7"), expected, "{body}");
        }
    }
}
