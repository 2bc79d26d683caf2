//! Flag conflicts: flags that have no effect together with the others are refused.

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::cli::flags::{Flags, Protocol, Report};

/// Flags that only take effect together with others.
struct FlagGroup {
    names: &'static [&'static str],
    /// When they take effect: in words, and as a condition.
    condition: &'static str,
    takes_effect: fn(&Flags) -> bool,
}

const GROUPS: [FlagGroup; 7] = [
    FlagGroup {
        names: &["target", "connections", "requests", "duration", "rate", "warmup"],
        condition: "every --report except child, which takes it from the cell",
        takes_effect: |flags| !is_child(flags),
    },
    FlagGroup {
        names: &["calc_target"],
        condition: "--protocol framed and http, with every --report except child, which takes it from the cell",
        takes_effect: |flags| !is_child(flags) && flags.protocol != Protocol::Echo,
    },
    FlagGroup {
        names: &["headers", "keep_alive", "expect_status"],
        condition: "--protocol http",
        takes_effect: is_http,
    },
    FlagGroup {
        names: &["method", "body", "body_file", "expect_length"],
        condition: "--protocol http without --calc-target, and with --report child only if --path is given",
        takes_effect: |flags| is_http(flags) && !is_calc(flags),
    },
    FlagGroup {
        names: &["path"],
        condition: "--protocol http with --report child; otherwise put the path into the target",
        takes_effect: |flags| is_http(flags) && is_child(flags),
    },
    FlagGroup {
        names: &["payload_bytes"],
        condition: "--protocol framed, or http with --calc-target",
        takes_effect: is_calc,
    },
    FlagGroup {
        names: &["message_bytes"],
        condition: "--protocol echo",
        takes_effect: |flags| flags.protocol == Protocol::Echo,
    },
];

/// Fails with the first flag that was given and has no effect.
pub fn check(flags: &Flags, matches: &ArgMatches) -> Result<(), String> {
    for group in GROUPS.iter().filter(|group| !(group.takes_effect)(flags)) {
        for name in group.names {
            if matches.value_source(name) == Some(ValueSource::CommandLine) {
                return Err(format!(
                    "{} has no effect here; it is used by {}",
                    flag_name(name),
                    group.condition
                ));
            }
        }
    }
    Ok(())
}

fn flag_name(name: &str) -> String {
    match name {
        "target" => "The target".to_owned(),
        "headers" => "--header".to_owned(),
        _ => format!("--{}", name.replace('_', "-")),
    }
}

fn is_child(flags: &Flags) -> bool {
    flags.report == Report::Child
}

fn is_http(flags: &Flags) -> bool {
    flags.protocol == Protocol::Http
}

/// Whether the requests are for /calc.
fn is_calc(flags: &Flags) -> bool {
    match flags.protocol {
        Protocol::Echo => false,
        Protocol::Framed => true,
        Protocol::Http if is_child(flags) => flags.path.is_none(),
        Protocol::Http => flags.calc_target.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::check;
    use crate::cli::flags::Flags;

    fn checked(line: &str) -> Result<(), String> {
        let matches = Flags::command().get_matches_from(line.split(' '));
        check(&Flags::from_arg_matches(&matches).unwrap(), &matches)
    }

    #[test]
    fn flags_that_take_effect_are_accepted() {
        for line in [
            "loadgen -n 1 -H A:b -m PUT --body x --expect-length 3 http://h/",
            "loadgen -n 1 --calc-target 5 --payload-bytes 9 --keep-alive false http://h/",
            "loadgen -n 1 --protocol echo --message-bytes 5 --fresh h:1",
            "loadgen -d 1s --rate 5 --protocol framed --calc-target 5 h:1",
            "loadgen --report child --protocol http --path /x -m HEAD -t 2",
            "loadgen --report child --protocol echo --message-bytes 5 --nodelay false",
        ] {
            assert_eq!(checked(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn flags_without_effect_are_refused_with_what_uses_them() {
        for (line, flag) in [
            ("loadgen --report child -c 5", "--connections"),
            ("loadgen --report child http://h/", "The target"),
            ("loadgen --report child --calc-target 5", "--calc-target"),
            ("loadgen --report child --body x", "--body"),
            ("loadgen -n 1 --path /x http://h/", "--path"),
            ("loadgen -n 1 --calc-target 5 -m PUT http://h/", "--method"),
            ("loadgen -n 1 --payload-bytes 5 http://h/", "--payload-bytes"),
            ("loadgen -n 1 --protocol echo -H A:b h:1", "--header"),
            (
                "loadgen -n 1 --protocol echo --calc-target 5 h:1",
                "--calc-target",
            ),
            (
                "loadgen -n 1 --protocol framed --message-bytes 5 h:1",
                "--message-bytes",
            ),
        ] {
            let error = checked(line).unwrap_err();
            assert!(
                error.starts_with(&format!("{flag} has no effect here")),
                "{line}: {error}"
            );
        }
    }
}
