//! The chunked coding of HTTP/1.1 bodies. Source: RFC 9112, section 7.1.

use crate::limits::MAX_CHUNK_LINE_BYTES;

/// Where in a chunked body the next byte is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    /// In the line with the size; extension: after its first `;`.
    Size {
        size: u64,
        digits: u8,
        extension: bool,
    },
    Data(u64),
    /// In the line end after the data.
    DataEnd,
    /// In the lines after the last chunk, with so many bytes in the current line.
    Trailer(u64),
}

const NEW_LINE: At = At::Size {
    size: 0,
    digits: 0,
    extension: false,
};
const MAX_DIGITS: u8 = 15;

/// What some bytes have led to.
#[derive(Debug, PartialEq)]
pub enum Progress {
    More,
    /// The body is complete; so many bytes belonged to it.
    End(usize),
    Bad,
}

/// Reads a chunked body.
pub struct Chunks {
    at: At,
    /// Bytes that are no content since the last content.
    line_bytes: u32,
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            at: NEW_LINE,
            line_bytes: 0,
        }
    }
}

impl Chunks {
    /// Take in bytes; `take` is given each piece of the body's content.
    pub fn feed(&mut self, data: &[u8], mut take: impl FnMut(&[u8])) -> Progress {
        let mut position = 0;
        while position < data.len() {
            if let At::Data(left) = self.at {
                let piece = &data[position..data.len().min(position.saturating_add(left as usize))];
                take(piece);
                self.line_bytes = 0;
                position += piece.len();
                let left = left - piece.len() as u64;
                self.at = if left > 0 { At::Data(left) } else { At::DataEnd };
                continue;
            }
            let byte = data[position];
            position += 1;
            self.line_bytes += 1;
            if self.line_bytes > MAX_CHUNK_LINE_BYTES {
                return Progress::Bad;
            }
            match self.step(byte) {
                Step::On(at) => self.at = at,
                Step::Over => return Progress::End(position),
                Step::Bad => return Progress::Bad,
            }
        }
        Progress::More
    }

    fn step(&self, byte: u8) -> Step {
        match (self.at, byte) {
            (At::Size { digits: 0, .. }, b'\n') => Step::Bad,
            (At::Size { size: 0, .. }, b'\n') => Step::On(At::Trailer(0)),
            (At::Size { size, .. }, b'\n') => Step::On(At::Data(size)),
            (At::Size { .. }, b'\r') => Step::On(self.at),
            (At::Size { extension: true, .. }, _) => Step::On(self.at),
            (At::Size { size, digits, .. }, b';' | b' ') => Step::On(At::Size {
                size,
                digits,
                extension: true,
            }),
            (At::Size { size, digits, .. }, _) => with_digit(size, digits, byte),
            (At::DataEnd, b'\r') => Step::On(At::DataEnd),
            (At::DataEnd, b'\n') => Step::On(NEW_LINE),
            (At::Trailer(0), b'\n') => Step::Over,
            (At::Trailer(_), b'\n') => Step::On(At::Trailer(0)),
            (At::Trailer(_), b'\r') => Step::On(self.at),
            (At::Trailer(length), _) => Step::On(At::Trailer(length + 1)),
            (At::DataEnd | At::Data(_), _) => Step::Bad,
        }
    }
}

enum Step {
    On(At),
    Over,
    Bad,
}

fn with_digit(size: u64, digits: u8, byte: u8) -> Step {
    match (byte as char).to_digit(16) {
        Some(digit) if digits < MAX_DIGITS => Step::On(At::Size {
            size: size * 16 + u64::from(digit),
            digits: digits + 1,
            extension: false,
        }),
        _ => Step::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunks, Progress};

    #[test]
    fn lines_and_trailers_without_end_are_bad() {
        let endless: [(&[u8], &[u8]); 4] = [
            (b"0\r\n", b"A: b\r\n"),
            (b"1;", b"x"),
            (b"", b"\r"),
            (b"1\r\na", b"\r"),
        ];
        for (start, filler) in endless {
            let bytes = [start, &filler.repeat(40_000)].concat();
            assert_eq!(Chunks::default().feed(&bytes, |_| ()), Progress::Bad, "{start:?}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_bad() {
        for wrong in [&b"\r\n"[..], b"g\r\n", b"1\r\nab\r\n", b"1000000000000000\r\n"] {
            assert_eq!(Chunks::default().feed(wrong, |_| ()), Progress::Bad, "{wrong:?}");
        }
    }
}
