//! One frame: a 4-byte big-endian signed length, then that many bytes of UTF-8 JSON. Source: docs/child-contract.md.

pub const MAX_FRAME_BYTES: usize = 16 << 20;
const HEADER_BYTES: usize = 4;
/// A buffer that grew beyond this for one large frame is given back after it.
const KEPT_BYTES: usize = 64 << 10;

/// Append a frame whose body `write` appends.
pub fn frame(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    write(out);
    let size = (out.len() - start - HEADER_BYTES) as i32;
    out[start..start + HEADER_BYTES].copy_from_slice(&size.to_be_bytes());
}

/// What the beginning of a stream holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    Frame {
        body: &'a [u8],
        rest: &'a [u8],
    },
    /// Nothing, or the beginning of a frame.
    Partial,
    /// The announced length is negative or over the limit.
    Refused(i32),
}

/// Cut the first frame off a stream.
pub fn cut(stream: &[u8]) -> Cut<'_> {
    let Some((header, rest)) = stream.split_first_chunk::<HEADER_BYTES>() else {
        return Cut::Partial;
    };
    let announced = i32::from_be_bytes(*header);
    match usize::try_from(announced) {
        Ok(size) if size <= MAX_FRAME_BYTES => match rest.split_at_checked(size) {
            Some((body, rest)) => Cut::Frame { body, rest },
            None => Cut::Partial,
        },
        _ => Cut::Refused(announced),
    }
}

/// Hold what is unused of a stream until more of it comes.
pub fn hold(mut stream: Vec<u8>, unused: usize) -> Vec<u8> {
    if unused == 0 && stream.capacity() > KEPT_BYTES {
        return Vec::new();
    }
    stream.drain(..stream.len() - unused);
    stream
}

#[cfg(test)]
mod tests {
    use super::{Cut, MAX_FRAME_BYTES, cut, frame, hold};

    #[test]
    fn a_frame_is_its_length_and_its_body() {
        let mut out = Vec::new();
        frame(&mut out, |out| out.extend_from_slice(b"{}"));
        assert_eq!(out, [0, 0, 0, 2, b'{', b'}']);
        assert_eq!(
            cut(b"\0\0\0\x02{}x"),
            Cut::Frame {
                body: b"{}",
                rest: b"x"
            }
        );
    }

    #[test]
    fn a_length_that_is_negative_or_over_the_limit_is_refused() {
        assert_eq!(cut(&[0xff; 4]), Cut::Refused(-1));
        let over = MAX_FRAME_BYTES as i32 + 1;
        assert_eq!(cut(&over.to_be_bytes()), Cut::Refused(over));
    }

    #[test]
    fn half_a_frame_is_held() {
        assert_eq!(cut(b"\0\0"), Cut::Partial);
        assert_eq!(cut(b"\0\0\0\x02{"), Cut::Partial);
        assert_eq!(hold(b"used{".to_vec(), 1), b"{");
    }
}
