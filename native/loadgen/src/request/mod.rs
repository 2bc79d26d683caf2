//! Where requests go, what they are made from, and their bytes.

pub mod message;
pub mod plan;
pub mod spec;
pub mod target;
