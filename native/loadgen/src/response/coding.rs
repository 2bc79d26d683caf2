//! The Content-Encoding of a body. The reference is core/request_plan.py.

use std::borrow::Cow;
use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::{GzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use super::head::headers;
use crate::limits::MAX_BODY_BYTES;

const BUFFER_BYTES: usize = 4096;

/// The body without the coding that its head names. Fails in words with a coding that is not read, or that is broken.
pub fn decoded<'a>(head: &[u8], body: &'a [u8]) -> Result<Cow<'a, [u8]>, String> {
    let coding = headers(head, "content-encoding").first().map_or_else(
        || "identity".to_owned(),
        |value| String::from_utf8_lossy(value).to_ascii_lowercase(),
    );
    let mut rest = body;
    let plain = match coding.as_str() {
        "identity" => return Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" | "deflate" if body.starts_with(b"\x1f\x8b") => limited(GzDecoder::new(&mut rest)),
        "gzip" | "x-gzip" | "deflate" => limited(ZlibDecoder::new(&mut rest)),
        "br" => limited(Decompressor::new(&mut rest, BUFFER_BYTES)),
        "zstd" => StreamingDecoder::new(&mut rest)
            .map_err(io::Error::other)
            .and_then(limited),
        _ => {
            return Err(format!(
                "a body with Content-Encoding {coding}, which this client cannot decode"
            ));
        }
    };
    match plain {
        Ok(plain) if rest.is_empty() && plain.len() as u64 <= MAX_BODY_BYTES => Ok(Cow::Owned(plain)),
        _ => Err(format!("a body that is not valid {coding}, or too large")),
    }
}

/// All that can be read, up to one byte more than a body may have.
fn limited(decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    decoder.take(MAX_BODY_BYTES + 1).read_to_end(&mut plain)?;
    Ok(plain)
}
