//! The lines that a child prints, and the words that it reads. Source: docs/child-contract.md.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::input::read_line;
use crate::program::Program;

/// First line of stdout: where this child listens (a client: nowhere), and what it is.
pub fn say_ready(addresses: &[String], program: &Program) {
    let (pid, runtime) = (std::process::id(), program.facts());
    say(&json!({"ready": true, "pid": pid, "addresses": addresses, "runtime": runtime}));
}

/// The answer to a word that asks for one, `warm` or `reset`: it is done.
pub fn say_done(word: &str) {
    say(&json!({ word: true }));
}

/// Last line of stdout. A native program has no GIL: the keys about it are added here.
pub fn say_result(mut result: Map<String, Value>) {
    for state in ["gil_enabled_ready", "gil_enabled_end"] {
        result.insert(state.to_owned(), Value::Bool(false));
    }
    say(&json!({ "result": result }));
}

/// The next line of stdin: `warm`, `reset` or a `go`; none at end of file, when there is nothing more to do.
pub fn next_word() -> Option<String> {
    let line = read_line(io::stdin().lock()).ok()?;
    (!line.is_empty()).then(|| line.trim().to_owned())
}

/// The orchestrator may be gone: nobody is left to tell of an error here.
fn say(message: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}
