//! Lines that a program reads, of a bounded length.

use std::io::{self, BufRead, ErrorKind};

/// A line of more bytes is none: MAX_LINE_BYTES of core/wire.py.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// The next line with its end; empty at end of file. Fails if it is not UTF-8 or too long, and reads no further then.
pub fn read_line(input: impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    let size = input.take(MAX_LINE_BYTES + 1).read_line(&mut line)?;
    if size as u64 > MAX_LINE_BYTES {
        let too_long = format!("a line has more than {} MiB", MAX_LINE_BYTES >> 20);
        return Err(io::Error::new(ErrorKind::InvalidData, too_long));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read, repeat};

    use super::{MAX_LINE_BYTES, read_line};

    #[test]
    fn a_line_without_end_is_read_no_further_than_its_limit() {
        let mut endless = BufReader::new(repeat(b'x')).take(MAX_LINE_BYTES * 2);
        assert!(read_line(endless.by_ref()).is_err());
        assert_eq!(endless.limit(), MAX_LINE_BYTES - 1);
        let longest = [vec![b'x'; MAX_LINE_BYTES as usize - 1], b"\ngo\n".to_vec()].concat();
        let mut input = &longest[..];
        assert_eq!(read_line(&mut input).unwrap().len() as u64, MAX_LINE_BYTES);
        assert_eq!(read_line(&mut input).unwrap(), "go\n");
    }
}

#[cfg(test)]
mod properties {
    use std::io::BufReader;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::read_line;

    proptest! {
        #[test]
        fn lines_are_those_of_the_input_however_it_arrives(
            words in vec("[ -~\u{e9}\u{1f600}]{0,20}", 0..6), rest in vec(any::<u8>(), 0..9), size in 1usize..30,
        ) {
            let input = [words.join("\n").into_bytes(), b"\n".to_vec(), rest.clone()].concat();
            let mut reader = BufReader::with_capacity(size, &input[..]);
            for word in words.iter().map(String::as_str).chain(words.is_empty().then_some("")) {
                prop_assert_eq!(read_line(&mut reader).unwrap(), format!("{word}\n"));
            }
            let first = rest.split_inclusive(|byte| *byte == b'\n').next().unwrap_or(b"");
            prop_assert_eq!(read_line(&mut reader).ok(), std::str::from_utf8(first).ok().map(str::to_owned));
        }
    }
}
