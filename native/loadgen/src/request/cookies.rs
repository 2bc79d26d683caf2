//! The cookies that one host gave to one user. Source: RFC 6265, without public suffixes.

use std::time::SystemTime;

const MAX_COOKIES: usize = 64;
const MAX_LINE_BYTES: usize = 4096;
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
}

/// Those that are kept: the longest paths first.
pub struct Cookies {
    host: String,
    takes_secure: bool,
    kept: Vec<Cookie>,
}

impl Cookies {
    /// None yet.
    pub fn new(host: &str, is_secure: bool) -> Self {
        Self {
            host: host.to_owned(),
            takes_secure: is_secure || LOOPBACK.contains(&host),
            kept: Vec::new(),
        }
    }

    /// Keep or delete the cookie of a Set-Cookie line that answers a request of `path`. Its value, if it may be set here.
    pub fn take(&mut self, line: &[u8], path: &[u8], now: SystemTime) -> Option<Vec<u8>> {
        if line.len() > MAX_LINE_BYTES {
            return None;
        }
        let mut pairs = line.split(|byte| *byte == b';').map(pair);
        let (name, value) = pairs.next()?;
        let value = value.filter(|_| !name.is_empty())?.to_vec();
        let (mut own, mut domain, mut age, mut expires, mut is_secure) =
            (&b""[..], String::new(), None, None, false);
        for (key, text) in pairs {
            let text = text.unwrap_or_default();
            match key.to_ascii_lowercase().as_slice() {
                b"path" => own = text,
                b"domain" => domain = String::from_utf8_lossy(text).to_lowercase(),
                b"max-age" => age = age_s(text),
                b"expires" => expires = date(text),
                b"secure" => is_secure = true,
                _ => {}
            }
        }
        let domain = domain.trim_start_matches('.');
        let is_foreign = !domain.is_empty() && !format!(".{}", self.host).ends_with(&format!(".{domain}"));
        if is_foreign || is_secure && !self.takes_secure {
            return None;
        }
        let path = if own.starts_with(b"/") { own } else { folder(path) };
        let has_expired = age.map_or_else(
            || expires.is_some_and(|moment| moment <= now),
            |seconds| seconds <= 0,
        );
        self.keep(name, &value, path, has_expired);
        Some(value)
    }

    /// Add the header line for a request of `path`, if there is a cookie for it.
    pub fn put_header(&self, path: &[u8], filled: &mut Vec<u8>) {
        let mut before = &b"\r\nCookie: "[..];
        for cookie in self.kept.iter().filter(|cookie| covers(&cookie.path, path)) {
            for piece in [before, &cookie.name, b"=", &cookie.value] {
                filled.extend_from_slice(piece);
            }
            before = b"; ";
        }
    }

    fn keep(&mut self, name: &[u8], value: &[u8], path: &[u8], has_expired: bool) {
        let same = self
            .kept
            .iter()
            .position(|one| one.name == name && one.path == path);
        match same {
            Some(place) if has_expired => drop(self.kept.remove(place)),
            Some(place) => self.kept[place].value = value.to_vec(),
            None if has_expired || self.kept.len() >= MAX_COOKIES => {}
            None => {
                self.kept.push(Cookie {
                    name: name.to_vec(),
                    value: value.to_vec(),
                    path: path.to_vec(),
                });
                self.kept.sort_by_key(|one| std::cmp::Reverse(one.path.len()));
            }
        }
    }
}

/// Name and value; no value without `=`.
fn pair(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (text[..at].trim_ascii(), Some(text[at + 1..].trim_ascii())),
        None => (text.trim_ascii(), None),
    }
}

/// The path of a cookie that does not say it.
fn folder(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(at) => &path[..at],
    }
}

fn covers(cookie: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(cookie)
        .is_some_and(|rest| rest.is_empty() || cookie.ends_with(b"/") || rest.starts_with(b"/"))
}

/// Seconds of at most 18 digits.
fn age_s(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_number = (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok()?.parse().ok().filter(|_| is_number)
}

/// A date as RFC 9110 has it, or with `-` between day, month and a year of four digits.
fn date(text: &[u8]) -> Option<SystemTime> {
    let text = std::str::from_utf8(text).ok()?;
    httpdate::parse_http_date(text)
        .or_else(|_| httpdate::parse_http_date(&text.replace('-', " ")))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::Cookies;
    use std::time::SystemTime;

    #[test]
    fn cookies_are_sent_where_they_belong() {
        // Source of the expected values: RFC 6265, 5.1.4, 5.2 and 5.4
        let table: [(&[&[u8]], &[u8], &[u8]); 11] = [
            (&[b"a=1", b"b=2; Path=/x", b"a=3"], b"/x/y", b"b=2; a=3"),
            (&[b"a=1; Path=/x"], b"/xy", b""),
            (&[b"a=1; Path=relative"], b"/other", b"a=1"),
            (&[b"a=1; Domain=.EXAMPLE.org"], b"/", b"a=1"),
            (&[b"a=1; Domain=shop.example.org"], b"/", b"a=1"),
            (&[b"a=1; Domain=hop.example.org"], b"/", b""),
            (&[b"a=1; Secure"], b"/", b""),
            (&[b"a=1", b"a=; Max-Age=-1"], b"/", b""),
            (&[b"a=1", b"a=; Expires=Thu, 01-Jan-1970 00:00:00 GMT"], b"/", b""),
            (
                &[b"a=1; Max-Age=5; Expires=Wed, 21 Oct 2015 07:28:00 GMT"],
                b"/",
                b"a=1",
            ),
            (&[b"a=b=c d ; HttpOnly", b"=x", b"y"], b"/", b"a=b=c d"),
        ];
        for (lines, path, sent) in table {
            let (mut cookies, mut header) = (Cookies::new("shop.example.org", false), Vec::new());
            for line in lines {
                cookies.take(line, b"/login", SystemTime::now());
            }
            cookies.put_header(path, &mut header);
            let expected = if sent.is_empty() {
                Vec::new()
            } else {
                [b"\r\nCookie: ", sent].concat()
            };
            assert_eq!(header, expected, "{}", String::from_utf8_lossy(lines[0]));
        }
    }
}
