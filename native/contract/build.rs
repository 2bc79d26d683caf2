//! Which compiler builds: a program cannot ask for it once it runs.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.map_or_else(
        |_| "rustc".to_owned(),
        |done| String::from_utf8_lossy(&done.stdout).trim().to_owned(),
    );
    println!("cargo::rustc-env=GILSCOPE_COMPILER={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
