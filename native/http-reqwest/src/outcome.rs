//! The outcome of a request, in the words of docs/child-contract.md.

use std::error::Error;
use std::io;

/// One request's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Status 200 and a body of the length that was expected.
    Right,
    /// Status 200 and a body of another length.
    Wrong,
    /// Another status.
    Refused(u16),
    /// No answer: its code.
    Failed(&'static str),
}

impl Outcome {
    /// What a whole answer is.
    pub fn of_answer(status: u16, bytes: usize, expected_bytes: usize) -> Self {
        match status {
            200 if bytes == expected_bytes => Self::Right,
            200 => Self::Wrong,
            _ => Self::Refused(status),
        }
    }

    /// Whether an answer came, right or not.
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }

    /// Under which code it counts as an error, if it is one.
    pub fn code(&self) -> Option<String> {
        match self {
            Self::Right | Self::Wrong => None,
            Self::Refused(status) => Some(status.to_string()),
            Self::Failed(code) => Some((*code).to_owned()),
        }
    }
}

/// The code of an error before the head of the answer had come.
pub fn before_the_head(error: &reqwest::Error) -> &'static str {
    match cause(error) {
        Cause::Timeout => "timeout",
        Cause::Reset => "reset",
        _ if error.is_connect() => "connect",
        Cause::Closed => "closed",
        Cause::Other => "garbled",
    }
}

/// The code of an error in the body: its length is known, so a body that ends too early was closed.
pub fn in_the_body(error: &reqwest::Error) -> &'static str {
    match cause(error) {
        Cause::Timeout => "timeout",
        Cause::Reset => "reset",
        Cause::Closed => "closed",
        Cause::Other => "garbled",
    }
}

enum Cause {
    Timeout,
    Reset,
    Closed,
    Other,
}

fn cause(error: &reqwest::Error) -> Cause {
    if error.is_timeout() {
        return Cause::Timeout;
    }
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => return Cause::Reset,
            Some(io::ErrorKind::UnexpectedEof) => return Cause::Closed,
            _ => {}
        }
        if error
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_incomplete_message)
        {
            return Cause::Closed;
        }
        next = error.source();
    }
    Cause::Other
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn an_answer_is_right_only_with_200_and_its_length() {
        assert_eq!(Outcome::of_answer(200, 13, 13), Outcome::Right);
        assert_eq!(Outcome::of_answer(200, 12, 13), Outcome::Wrong);
        assert_eq!(Outcome::of_answer(500, 13, 13).code().as_deref(), Some("500"));
        assert!(Outcome::of_answer(500, 0, 13).is_answer());
        assert!(!Outcome::Failed("closed").is_answer());
    }
}
