//! The command line.

mod conflicts;
pub mod flags;
pub mod values;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::cli::flags::Flags;

/// The flags of this process. Ends it with status 2 if they are wrong.
pub fn read() -> Flags {
    let matches = Flags::command().get_matches();
    let mut flags = Flags::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Err(error) = conflicts::check(&flags, &matches).and_then(|()| flags.complete()) {
        Flags::command().error(ErrorKind::ValueValidation, error).exit();
    }
    flags
}
