//! Where requests go, what they are made from, and their bytes.

pub mod cookies;
pub mod message;
pub mod plan;
pub mod session;
pub mod spec;
pub mod target;
