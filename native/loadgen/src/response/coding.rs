//! The Content-Encoding of a body. The reference is core/request_plan.py.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::{GzDecoder, ZlibDecoder};

use super::head::headers;
use crate::limits::MAX_BODY_BYTES;

/// The body without the coding that its head names. Fails in words with a coding that is not read, or that is broken.
pub fn decoded<'a>(head: &[u8], body: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
    let coding = headers(head, "content-encoding").first().map_or_else(
        || "identity".to_owned(),
        |value| String::from_utf8_lossy(value).to_ascii_lowercase(),
    );
    match coding.as_str() {
        "identity" => return Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" | "deflate" => {}
        _ => {
            return Err(format!(
                "a body with Content-Encoding {coding}, which is not read (gzip and deflate are)"
            ));
        }
    }
    let (mut rest, mut plain) = (body, Vec::new());
    let most = MAX_BODY_BYTES + 1;
    let read = if body.starts_with(b"\x1f\x8b") {
        GzDecoder::new(&mut rest).take(most).read_to_end(&mut plain)
    } else {
        ZlibDecoder::new(&mut rest).take(most).read_to_end(&mut plain)
    };
    match read {
        Ok(_) if rest.is_empty() && plain.len() as u64 <= MAX_BODY_BYTES => Ok(Cow::Owned(plain)),
        _ => Err(format!("a body that is not valid {coding}, or too large")),
    }
}
