//! Answers: put together from the pieces in which they arrive, and checked.

pub mod answer;
pub mod body;
mod chunks;
pub mod coding;
mod echo;
mod framed;
pub mod head;
mod http;
#[cfg(test)]
mod properties;
pub mod reader;
