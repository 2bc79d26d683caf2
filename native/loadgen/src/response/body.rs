//! What the body of a right answer is, for a user's service. The reference is core/request_plan.py.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::coding::decoded;

const SHOWN_BYTES: usize = 200;
/// One in so many characters of a body that is shown may be no text, and two more.
const MOST_UNREADABLE: usize = 10;

/// What is expected of a body.
pub enum Body {
    Any,
    /// A JSON value; of an object these keys, it may have more.
    Json(Value),
    /// The SHA-256 digest, in hexadecimal digits.
    Sha256(String),
}

impl Body {
    /// Whether a body has to be kept until it is whole.
    pub fn is_read(&self) -> bool {
        !matches!(self, Self::Any)
    }

    /// head: the one before the body, which may name its coding.
    pub fn is_right(&self, head: &[u8], body: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Json(expected) => decoded(head, body).is_ok_and(|body| {
                serde_json::from_slice::<Value>(&body).is_ok_and(|actual| contains(&actual, expected))
            }),
            Self::Sha256(digest) => hexadecimal(body) == *digest,
        }
    }

    /// What came and what was expected, in words. show: a body as it may be shown.
    pub fn difference(&self, head: &[u8], body: &[u8], show: impl Fn(&[u8]) -> Vec<u8>) -> (String, String) {
        match self {
            Self::Any => (String::new(), String::new()),
            Self::Json(expected) => match decoded(head, body) {
                Ok(body) => (format!("body {}", shown(&show(&body))), cut(&expected.to_string())),
                Err(text) => (text, "JSON".to_owned()),
            },
            Self::Sha256(digest) => {
                let got = format!(
                    "a body of {} bytes with sha256 {}: {}",
                    body.len(),
                    hexadecimal(body),
                    shown(&show(body))
                );
                (got, digest.clone())
            }
        }
    }
}

/// Whether `actual` is `expected`, but for keys that are not expected.
fn contains(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| actual.get(key).is_some_and(|one| contains(one, value))),
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(one, other)| contains(one, other))
        }
        (Value::Number(actual), Value::Number(expected)) => {
            actual == expected || actual.as_f64() == expected.as_f64()
        }
        _ => actual == expected,
    }
}

fn hexadecimal(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first characters of a body, or why it cannot be shown. show: a body as it may be shown.
pub fn beginning(head: &[u8], body: &[u8], show: impl Fn(&[u8]) -> Vec<u8>) -> String {
    decoded(head, body).map_or_else(|text| text, |body| shown(&show(&body)))
}

fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES * 4)]);
    let is_unreadable = |letter: &char| *letter == '\u{fffd}' || *letter < ' ' && !letter.is_whitespace();
    if text.chars().filter(is_unreadable).count() > 2 + text.chars().count() / MOST_UNREADABLE {
        return format!("({} bytes that are not text)", body.len());
    }
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.is_empty() { "(empty)".to_owned() } else { cut(&text) }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN_BYTES {
        return text.to_owned();
    }
    text.chars().take(SHOWN_BYTES).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::Body;
    use serde_json::json;

    #[test]
    fn an_object_may_have_more_keys_than_are_expected() {
        let body = Body::Json(json!({"a": {"b": [1, {"c": 2}]}}));
        assert!(body.is_right(b"", br#"{"a": {"b": [1.0, {"c": 2, "d": 3}], "e": null}, "f": 1}"#));
        for wrong in [
            &br#"{"a": {"b": [1, {"c": true}]}}"#[..],
            br#"{"a": {"b": [1]}}"#,
            br#"{"a": null}"#,
            b"no JSON",
        ] {
            assert!(!body.is_right(b"", wrong), "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn a_digest_is_of_the_whole_body() {
        // printf abc | sha256sum
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let body = Body::Sha256(digest.to_owned());
        assert!(body.is_right(b"", b"abc") && !body.is_right(b"", b"abcd"));
        assert_eq!(body.difference(b"", b"a\x00", <[u8]>::to_vec).1, digest);
    }
}
