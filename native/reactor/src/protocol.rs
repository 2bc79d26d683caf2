//! What a server does with bytes.

/// What becomes of a connection once its answers are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Stay,
    /// At once, whatever the peer may have sent besides.
    Close,
    /// The peer may have sent more: that is read and dropped for a while, so that the answer reaches it.
    Linger,
}

/// What some bytes have led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    pub answered: u64,
    pub then: Then,
}

/// Turns what a peer sends into answers.
pub trait Protocol: Send + Sync + 'static {
    /// What a connection keeps between reads.
    type State: Default + Send;

    /// Take in `data`; append the answers to the requests that it completes to `out`.
    fn feed(&self, state: &mut Self::State, data: &[u8], out: &mut Vec<u8>) -> Fed;

    /// The answer to a connection that is one too many.
    fn refusal(&self, connections: usize) -> Vec<u8>;
}
