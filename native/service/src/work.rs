//! What a request asks for and what it is answered: core/work.py, in Rust.

use std::hint::black_box;
use std::io::Write;

use contract::now_ns;
use serde::Deserialize;
use serde_json::value::RawValue;

const CALC_TARGET_LIMIT: i64 = 1_000_000_000;

/// Why a request is answered with an error code.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    code: u16,
    err: String,
}

impl Refused {
    fn bad(err: impl Into<String>) -> Self {
        Self {
            code: 400,
            err: err.into(),
        }
    }
}

/// Values are kept as they were written: only what a route needs is read.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    url: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    target: Option<&'a RawValue>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    begun: Option<&'a RawValue>,
}

/// Append the answer to one request, both without their frame.
pub fn answer(body: &[u8], out: &mut Vec<u8>) {
    if let Err(refused) = answer_or_refuse(body, out) {
        error_answer(refused.code, &refused.err, out);
    }
}

/// Append an answer that says what went wrong.
pub fn error_answer(code: u16, err: &str, out: &mut Vec<u8>) {
    let err = serde_json::Value::from(err);
    write_all(
        out,
        format_args!(r#"{{"code": {code}, "msg": "", "err": {err}, "calc_ns": 0}}"#),
    );
}

/// Count from 0 to `target`, one at a time: what the compiler cannot see through it cannot leave out.
fn calc(target: i64) -> i64 {
    let mut n = 0;
    for _ in 0..target {
        n = black_box(n + 1);
    }
    n
}

fn answer_or_refuse(body: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let request: Request = object(body, "the request is not a JSON object")?;
    let needs = || Refused::bad("the request needs method and url, both strings, and params, an object");
    let method = text(request.method).ok_or_else(needs)?;
    let url = text(request.url).ok_or_else(needs)?;
    let params = request.params.ok_or_else(needs)?.get();
    let params: Params = object(params.as_bytes(), "the params are not a JSON object")?;
    match (url, method) {
        ("/calc", "POST") => answer_calc(&params, out),
        ("/", "GET" | "POST") => answer_echo(&params, out),
        ("/calc", _) => Err(no_such_method("POST")),
        ("/", _) => Err(no_such_method("GET, POST")),
        _ => Err(Refused {
            code: 404,
            err: "no such url; there are /calc, /".to_owned(),
        }),
    }
}

fn no_such_method(accepted: &str) -> Refused {
    Refused {
        code: 405,
        err: format!("no such method here; accepted: {accepted}"),
    }
}

fn answer_calc(params: &Params, out: &mut Vec<u8>) -> Result<(), Refused> {
    let target = params.target.and_then(|raw| raw.get().parse().ok());
    let Some(target @ 0..=CALC_TARGET_LIMIT) = target else {
        let err = format!("params.target must be a whole number from 0 to {CALC_TARGET_LIMIT}");
        return Err(Refused::bad(err));
    };
    let begun_ns = now_ns();
    let count = calc(target);
    let calc_ns = now_ns() - begun_ns;
    write_all(
        out,
        format_args!(r#"{{"code": 200, "msg": "{count}", "err": "", "calc_ns": {calc_ns}"#),
    );
    if params.begun.is_some() {
        write_all(out, format_args!(r#", "begun_ns": {begun_ns}"#));
    }
    out.push(b'}');
    Ok(())
}

/// The string goes back as it was written, escapes and all.
fn answer_echo(params: &Params, out: &mut Vec<u8>) -> Result<(), Refused> {
    let msg = params.msg.map(RawValue::get).filter(|raw| raw.starts_with('"'));
    let msg = msg.ok_or_else(|| Refused::bad("params.msg must be a string"))?;
    write_all(
        out,
        format_args!(r#"{{"code": 200, "msg": {msg}, "err": "", "calc_ns": 0}}"#),
    );
    Ok(())
}

/// A JSON object in UTF-8; serde would read the fields of a struct from an array too.
fn object<'a, T: Deserialize<'a>>(body: &'a [u8], otherwise: &str) -> Result<T, Refused> {
    let text = std::str::from_utf8(body).map_err(not_json)?;
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => serde_json::from_str(text).map_err(not_json),
        _ => Err(Refused::bad(otherwise)),
    }
}

fn not_json(error: impl std::fmt::Display) -> Refused {
    Refused::bad(format!("the body is not UTF-8 JSON: {error}"))
}

/// What a string says. One with escapes is never a method or a url of ours once read, but for needless escapes.
fn text(raw: Option<&RawValue>) -> Option<&str> {
    let inside = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(inside);
    }
    let read: String = serde_json::from_str(raw?.get()).unwrap_or_default();
    ["/calc", "/", "POST", "GET"]
        .into_iter()
        .find(|known| *known == read)
        .or(Some("?"))
}

fn write_all(out: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("a Vec takes all that is written");
}

#[cfg(test)]
mod tests {
    use super::answer;

    fn answered(body: &[u8]) -> serde_json::Value {
        let mut out = Vec::new();
        answer(body, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn the_count_is_the_target() {
        let calc = br#"{"method": "POST", "url": "\u002fcalc", "params": {"target": 1000, "filler": "x"}}"#;
        let answer = answered(calc);
        assert_eq!(
            (answer["code"].as_u64(), answer["msg"].as_str()),
            (Some(200), Some("1000"))
        );
        assert!(answer.get("begun_ns").is_none());
        let asks = br#"{"method": "POST", "url": "/calc", "params": {"target": 0, "begun": true}}"#;
        assert!(answered(asks)["begun_ns"].as_u64() > Some(0));
    }

    #[test]
    fn a_count_takes_time_for_each_step() {
        let million = br#"{"method": "POST", "url": "/calc", "params": {"target": 1000000}}"#;
        assert!(answered(million)["calc_ns"].as_u64() > Some(100_000));
    }

    #[test]
    fn what_is_wrong_has_its_code() {
        for (body, code) in [
            (&br#"["POST", "/calc", {"target": 7}]"#[..], 400),
            (
                br#"{"method": "POST", "url": "/calc", "params": {"target": true}}"#,
                400,
            ),
            (
                br#"{"method": "POST", "url": "/calc", "params": {"target": 1e3}}"#,
                400,
            ),
            (
                br#"{"method": "POST", "url": "/calc", "params": {"target": 1000000001}}"#,
                400,
            ),
            (br#"{"method": "POST", "url": "/nope", "params": {}}"#, 404),
            (br#"{"method": "PUT", "url": "/calc", "params": {}}"#, 405),
            (b"\xff", 400),
        ] {
            assert_eq!(answered(body)["code"], code, "{}", String::from_utf8_lossy(body));
        }
    }
}
