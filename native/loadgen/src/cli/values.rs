//! Parsers for the values of flags; an error says what is accepted.

use std::time::Duration;

/// How much is sent before anything is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warmup {
    Requests(u64),
    Time(Duration),
}

/// Filler in a request: with all else a frame holds it is below 16 MiB, the limit of docs/child-contract.md.
pub const MAX_PAYLOAD_BYTES: u64 = (16 << 20) - 1024;
/// An echo message.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 30;
pub const MAX_CONNECTIONS: u64 = 100_000;
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

pub fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (1e-3..=1e8).contains(number));
    number.ok_or_else(|| "it must be a number of requests per second from 0.001 to 100000000".to_owned())
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_s) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit_s);
    seconds
        .filter(|seconds| (1e-3..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "it must be a time from 1ms to 86400s, such as 30, 30s or 500ms".to_owned())
}

pub fn warmup(text: &str) -> Result<Warmup, String> {
    match text.parse::<u64>() {
        Ok(0) | Err(_) => duration(text).map(Warmup::Time).map_err(|_| {
            "it must be a number of requests such as 1000, or a time such as 2s or 500ms".to_owned()
        }),
        Ok(requests) => Ok(Warmup::Requests(requests)),
    }
}

pub fn method(text: &str) -> Result<String, String> {
    if METHODS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("it must be one of {}", METHODS.join(", ")))
}

pub fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') && is_printable(text) {
        return Ok(text.to_owned());
    }
    Err("it must begin with / and must not contain blanks or control characters".to_owned())
}

/// Whether it can stand in the first line of an HTTP request.
pub fn is_printable(text: &str) -> bool {
    !text.contains(|character: char| character.is_whitespace() || character.is_control())
}

pub fn header(text: &str) -> Result<String, String> {
    let (name, value) = text.split_once(':').ok_or("it must be `Name: value`")?;
    let is_plain = |character: char| character == '\t' || !character.is_control();
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || !is_printable(name) || !value.chars().all(is_plain) {
        return Err("it must be `Name: value` in one line, without control characters".to_owned());
    }
    Ok(format!("{name}: {value}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Warmup, duration, header, method, path, warmup};

    #[test]
    fn times_and_numbers_are_told_apart() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert!(duration("0").is_err() && duration("2m").is_err() && duration("NaN").is_err());
        assert_eq!(warmup("1000"), Ok(Warmup::Requests(1000)));
        assert_eq!(warmup("1.5s"), Ok(Warmup::Time(Duration::from_millis(1500))));
        assert!(warmup("0").is_err());
    }

    #[test]
    fn a_header_is_one_line_with_a_name() {
        assert_eq!(header("A:b:c"), Ok("A: b:c".to_owned()));
        for wrong in ["A", ": b", "A: b\r\nC: d", "A b: c", "A: \u{7}"] {
            assert!(header(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_method_is_a_known_one() {
        assert_eq!(method("HEAD"), Ok("HEAD".to_owned()));
        for wrong in ["get", "", "GET /\r\nX:", "CONNECT", "POST\n"] {
            assert!(
                method(wrong).unwrap_err().contains("GET, HEAD, POST"),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_path_has_no_blanks() {
        assert!(path("/a?b=c").is_ok());
        assert!(path("a").is_err() && path("/a b").is_err() && path("/a\r\n").is_err());
    }
}
