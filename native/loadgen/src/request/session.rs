//! The session of a virtual user: its cookies, the values that it saved, and the fields that requests take from it.
//!
//! Only this client has sessions: docs/own-service.md says what they do, and tests/native/test_loadgen_sessions.py
//! plays them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::SystemTime;

use contract::Random;
use regex::Regex;
use serde_json::Value;

use super::cookies::Cookies;
use crate::response::coding::decoded;
use crate::response::head::headers;

static PLACE: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
    regex::bytes::Regex::new(
        r"(?-u)\{\{ *(?:random\.int +(-?[0-9]{1,9}) +(-?[0-9]{1,9})|(random\.uuid|[A-Za-z_][A-Za-z0-9_]*)) *\}\}",
    )
    .expect("the pattern is a constant")
});
const MAX_VALUE_CHARS: usize = 4096;
const MAX_SECRETS: usize = 64;
const SHORTEST_SECRET: usize = 4;
pub const HIDDEN: &str = "...";

/// A piece of a request.
enum Part {
    Text(Vec<u8>),
    Int(i64, i64),
    Uuid,
    Counter,
    User,
    Saved(String),
}

/// The bytes of a request that each virtual user completes: places, the length of the body, and cookies.
pub struct Template {
    line: Vec<Part>,
    head: Vec<Part>,
    body: Vec<Part>,
    takes_cookies: bool,
    takes_number: bool,
    tells_length: bool,
    /// The saved values that it needs, in the order in which it has them.
    pub names: Vec<String>,
}

impl Template {
    /// None if all users send the same bytes. given: names of the request's own headers, in lower case.
    pub fn of(message: &[u8], given: &[String], saved: &[String], keeps_cookies: bool) -> Option<Self> {
        let (head, body) = cut(message, b"\r\n\r\n");
        let (line, _) = cut(head, b"\r\n");
        let mut lines = head[line.len()..].to_vec();
        let body = parts(body.strip_prefix(b"\r\n\r\n").unwrap_or_default(), saved);
        let has = |name: &str| given.iter().any(|one| one == name);
        let tells_length = body.len() > 1 && !has("content-length");
        if tells_length && let Some(at) = find(&lines, b"\r\nContent-Length: ") {
            let end = find(&lines[at + 2..], b"\r\n").map_or(lines.len(), |end| at + 2 + end);
            lines.drain(at..end);
        }
        let (line, head) = (parts(line, saved), parts(&lines, saved));
        let takes_cookies = keeps_cookies && !has("cookie");
        let mut names = Vec::new();
        let mut takes_number = false;
        for part in line.iter().chain(&head).chain(&body) {
            takes_number |= matches!(part, Part::Counter);
            if let Part::Saved(name) = part
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
        (line.len() + head.len() + body.len() > 3 || takes_cookies).then_some(Self {
            line,
            head,
            body,
            takes_cookies,
            takes_number,
            tells_length,
            names,
        })
    }

    /// The bytes of the session's next request.
    pub fn fill(&self, session: &mut Session, filled: &mut Vec<u8>) {
        filled.clear();
        session.counter += u64::from(self.takes_number);
        for part in &self.line {
            match part {
                Part::Saved(_) => {
                    let mut value = Vec::new();
                    session.put(part, &mut value);
                    visible(&value, filled);
                }
                _ => session.put(part, filled),
            }
        }
        let path = filled.split(|byte| matches!(byte, b' ' | b'?')).nth(1);
        session.path = path.unwrap_or_default().to_vec();
        self.head.iter().for_each(|part| session.put(part, filled));
        let mut body = std::mem::take(&mut session.body);
        body.clear();
        self.body.iter().for_each(|part| session.put(part, &mut body));
        if self.tells_length {
            filled.extend_from_slice(format!("\r\nContent-Length: {}", body.len()).as_bytes());
        }
        if self.takes_cookies {
            session.cookies.put_header(&session.path, filled);
        }
        filled.extend_from_slice(b"\r\n\r\n");
        filled.extend_from_slice(&body);
        session.body = body;
    }
}

fn find(data: &[u8], mark: &[u8]) -> Option<usize> {
    data.windows(mark.len()).position(|window| window == mark)
}

/// What is before a mark, and the rest, which begins with it.
fn cut<'a>(data: &'a [u8], mark: &[u8]) -> (&'a [u8], &'a [u8]) {
    data.split_at(find(data, mark).unwrap_or(data.len()))
}

/// A text split at its places: text, place, text, ..., text.
fn parts(text: &[u8], saved: &[String]) -> Vec<Part> {
    let (mut parts, mut end) = (Vec::new(), 0);
    for found in PLACE.captures_iter(text) {
        let word = |group| {
            found
                .get(group)
                .map(|one| String::from_utf8_lossy(one.as_bytes()))
        };
        let number = |group| word(group).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let place = match word(3).as_deref() {
            None => Part::Int(number(1), number(2)),
            Some("random.uuid") => Part::Uuid,
            Some("counter") => Part::Counter,
            Some("user") => Part::User,
            Some(name) if saved.iter().any(|one| one == name) => Part::Saved(name.to_owned()),
            Some(_) => continue,
        };
        let whole = found.get(0).expect("group 0 is the match");
        parts.push(Part::Text(text[end..whole.start()].to_vec()));
        parts.push(place);
        end = whole.end();
    }
    parts.push(Part::Text(text[end..].to_vec()));
    parts
}

/// A value as it can stand in a request line.
fn visible(value: &[u8], line: &mut Vec<u8>) {
    for byte in value {
        match byte {
            0x21..=0x7e => line.push(*byte),
            _ => line.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}

/// Where an answer has a value that is saved.
pub enum Source {
    Json(String),
    Header(String),
    Regex(Regex),
}

impl Source {
    /// From `{"json": pointer}`, `{"header": name}` or `{"regex": pattern}`.
    pub fn parse(kind: &str, place: &str) -> Result<Self, String> {
        match kind {
            "json" => Ok(Self::Json(place.to_owned())),
            "header" => Ok(Self::Header(place.to_owned())),
            "regex" => Regex::new(place)
                .map(Self::Regex)
                .map_err(|error| format!("save has the regular expression {place}: {error}")),
            _ => Err(format!("save is from {kind:?}; it must be json, header or regex")),
        }
    }

    /// Whether the body is needed.
    pub fn reads_body(&self) -> bool {
        !matches!(self, Self::Header(_))
    }

    fn text(&self) -> String {
        match self {
            Self::Json(pointer) => format!("json {pointer}"),
            Self::Header(name) => format!("header {name}"),
            Self::Regex(pattern) => format!("regex {pattern}"),
        }
    }

    /// The value; none if there is none that can be sent again.
    fn find(&self, head: &[u8], body: &[u8]) -> Option<String> {
        let body = &decoded(head, body).unwrap_or(Cow::Borrowed(body));
        let value = match self {
            Self::Json(pointer) => match serde_json::from_slice::<Value>(body).ok()?.pointer(pointer)? {
                Value::String(text) => text.clone(),
                value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
                _ => return None,
            },
            Self::Header(name) => {
                let value = headers(head, name).into_iter().next()?;
                value.iter().map(|byte| char::from(*byte)).collect()
            }
            Self::Regex(pattern) => {
                let text = String::from_utf8_lossy(body);
                pattern.captures(&text)?.get(1)?.as_str().to_owned()
            }
        };
        let is_plain = |letter: char| letter >= ' ' && letter != '\x7f';
        let fits =
            !value.is_empty() && value.chars().count() <= MAX_VALUE_CHARS && value.chars().all(is_plain);
        fits.then_some(value)
    }
}

/// What the sessions of a plan have in common.
pub struct Sessions {
    /// Places in Job::kinds of the requests that are sent before the others.
    pub first: Vec<usize>,
    /// Which kind saves a value.
    pub saves: BTreeMap<String, usize>,
    pub host: String,
    pub is_secure: bool,
}

/// One virtual user.
pub struct Session {
    user: u64,
    counter: u64,
    /// Of the request that was filled last.
    path: Vec<u8>,
    body: Vec<u8>,
    saved: BTreeMap<String, Vec<u8>>,
    cookies: Cookies,
    random: Random,
    secrets: Vec<String>,
    /// How many of Sessions::first it has sent; all of them: it is logged in.
    pub step: usize,
    /// The kind of the request that it is to send.
    pub wanted: usize,
    /// Whether it has logged in for this request.
    pub is_renewed: bool,
    /// What the last answer lacks.
    pub missing: Option<String>,
}

impl Session {
    /// user: its number in the cell, which is the seed of its random numbers as well.
    pub fn new(user: u64, sessions: &Sessions) -> Self {
        Self {
            user,
            counter: 0,
            path: Vec::new(),
            body: Vec::new(),
            saved: BTreeMap::new(),
            cookies: Cookies::new(&sessions.host, sessions.is_secure),
            random: Random::new(user),
            secrets: Vec::new(),
            step: 0,
            wanted: 0,
            is_renewed: false,
            missing: None,
        }
    }

    /// Whether it has saved a value of this name.
    pub fn has(&self, name: &str) -> bool {
        self.saved.contains_key(name)
    }

    /// Keep the cookies of an answer, and what is saved of one with the right status; note what is missing.
    pub fn take(&mut self, save: &[(String, Source)], head: &[u8], body: &[u8], is_right_status: bool) {
        self.missing = None;
        let mut values = Vec::new();
        for line in headers(head, "set-cookie") {
            if let Some(value) = self.cookies.take(line, &self.path, SystemTime::now()) {
                values.push(String::from_utf8_lossy(&value).into_owned());
            }
        }
        for (name, source) in save.iter().filter(|_| is_right_status) {
            let Some(value) = source.find(head, body) else {
                self.missing = Some(format!("no value for {name} at {}", source.text()));
                break;
            };
            self.saved.insert(name.clone(), value.clone().into_bytes());
            values.push(value);
        }
        for value in values {
            if value.len() >= SHORTEST_SECRET && !self.secrets.contains(&value) {
                self.secrets.push(value);
            }
        }
        let more = self.secrets.len().saturating_sub(MAX_SECRETS);
        self.secrets.drain(..more);
    }

    /// A body without the values that the service gave to this user.
    pub fn redacted(&self, body: &[u8]) -> Vec<u8> {
        let mut text = String::from_utf8_lossy(body).into_owned();
        let mut secrets = self.secrets.clone();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets {
            let mut quoted = Vec::new();
            visible(secret.as_bytes(), &mut quoted);
            let json = Value::String(secret.clone()).to_string();
            for form in [
                secret.as_str(),
                &json[1..json.len() - 1],
                &String::from_utf8_lossy(&quoted),
            ] {
                text = text.replace(form, HIDDEN);
            }
        }
        text.into_bytes()
    }

    fn put(&mut self, part: &Part, filled: &mut Vec<u8>) {
        match part {
            Part::Text(text) => filled.extend_from_slice(text),
            Part::Int(low, high) => {
                let number = low + self.random.below((high - low + 1) as u64) as i64;
                filled.extend_from_slice(number.to_string().as_bytes());
            }
            Part::Uuid => filled.extend_from_slice(self.uuid().as_bytes()),
            Part::Counter => filled.extend_from_slice(self.counter.to_string().as_bytes()),
            Part::User => filled.extend_from_slice(self.user.to_string().as_bytes()),
            Part::Saved(name) => filled.extend_from_slice(self.saved.get(name).map_or(&[], Vec::as_slice)),
        }
    }

    /// Version 4. Source: RFC 9562, section 5.4.
    fn uuid(&mut self) -> String {
        let number = (0..4).fold(0_u128, |number, _| {
            number << 32 | u128::from(self.random.below(1 << 32))
        });
        let number = number & !(0xf000 << 64 | 0xc000 << 48) | 0x4000 << 64 | 0x8000 << 48;
        let digits = format!("{number:032x}");
        let groups = [
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        ];
        groups.join("-")
    }
}
