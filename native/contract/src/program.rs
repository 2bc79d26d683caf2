//! What a program is: its facts in the ready line. Source: docs/child-contract.md, "A service is ready".

use std::error::Error;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cell::CellError;
use crate::json::object;

/// Exit status for a cell that cannot be read; clap exits with it for a bad flag.
const BAD_INPUT: u8 = 2;

/// The manifest of the workspace, in which every library is pinned to the version that is built.
const MANIFEST: &str = include_str!("../../Cargo.toml");

/// Name and version of a program, and the libraries that make it what it is.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    pub name: &'static str,
    pub version: &'static str,
    /// Names as in the manifest of the workspace.
    pub packages: &'static [&'static str],
}

/// A program of the crate that says this: `program!("echo-tokio", "tokio")`.
#[macro_export]
macro_rules! program {
    ($name:literal $(, $package:literal)* $(,)?) => {
        $crate::Program {
            name: $name,
            version: env!("CARGO_PKG_VERSION"),
            packages: &[$($package),*],
        }
    };
}

impl Program {
    /// The `runtime` of a ready line. The compiler is the one that built this program.
    pub fn facts(&self) -> Map<String, Value> {
        let pinned = self.packages.iter().map(|name| (*name, pinned(MANIFEST, name)));
        let packages: Map<String, Value> = pinned
            .map(|(name, version)| (name.to_owned(), json!(version)))
            .collect();
        object(json!({
            "gil_enabled": false,
            "program": self.name,
            "version": self.version,
            "compiler": env!("GILSCOPE_COMPILER"),
            "packages": packages,
        }))
    }
}

/// How the program ends: an error is printed on stderr.
pub fn exit_status(program: &Program, outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{}: {error}", program.name);
    if error.is::<CellError>() {
        ExitCode::from(BAD_INPUT)
    } else {
        ExitCode::FAILURE
    }
}

/// The version behind `name = "=1.2.3"` or `name = { version = "=1.2.3", ...`; empty where there is none.
fn pinned<'a>(manifest: &'a str, name: &str) -> &'a str {
    let rest = |line: &'a str| line.strip_prefix(name)?.trim_start().strip_prefix('=');
    let version = |rest: &'a str| rest.split_once("\"=")?.1.split('"').next();
    manifest.lines().find_map(rest).and_then(version).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::{MANIFEST, pinned};

    #[test]
    fn a_version_is_the_one_that_is_pinned() {
        let manifest = "[x]\nmiomio = \"=9\"\nmio = { version = \"=1.2.4\", features = [] }\nlibc = \"=0.2\"\nown = { path = \"own\" }";
        assert_eq!(pinned(manifest, "mio"), "1.2.4");
        assert_eq!(pinned(manifest, "libc"), "0.2");
        assert_eq!(pinned(manifest, "own"), "");
        assert_eq!(pinned(manifest, "none"), "");
    }

    #[test]
    fn every_library_that_a_program_names_is_pinned() {
        for name in [
            "axum",
            "hdrhistogram",
            "httparse",
            "hyper",
            "mio",
            "reqwest",
            "tokio",
        ] {
            assert!(pinned(MANIFEST, name).contains('.'), "{name}");
        }
    }

    #[test]
    fn a_program_tells_what_built_it() {
        let facts = crate::program!("a", "mio").facts();
        assert_eq!(
            (&facts["program"], &facts["version"]),
            (&"a".into(), &env!("CARGO_PKG_VERSION").into())
        );
        assert!(facts["compiler"].as_str().unwrap().starts_with("rustc 1."));
        assert_eq!(facts["packages"]["mio"], pinned(MANIFEST, "mio"));
    }
}
