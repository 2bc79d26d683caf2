//! Flags that would be given in vain: not every way to run reads each of them.

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::flags::{Flags, Protocol, Report};

/// Flags that go together: who reads them, in words and in truth.
struct Together {
    names: &'static [&'static str],
    readers: &'static str,
    are_read: fn(&Flags) -> bool,
}

const LIMITED: [Together; 7] = [
    Together {
        names: &["target", "connections", "requests", "duration", "rate", "warmup"],
        readers: "every report but child, which is told by its cell",
        are_read: |flags| !is_child(flags),
    },
    Together {
        names: &["calc_target"],
        readers: "--protocol framed and http, by every report but child, which is told by its cell",
        are_read: |flags| !is_child(flags) && flags.protocol != Protocol::Echo,
    },
    Together {
        names: &["headers", "keep_alive", "expect_status"],
        readers: "--protocol http",
        are_read: is_http,
    },
    Together {
        names: &["method", "body", "body_file", "expect_length"],
        readers: "--protocol http, where it does not ask for /calc",
        are_read: |flags| is_http(flags) && !is_calc(flags),
    },
    Together {
        names: &["path"],
        readers: "--protocol http with --report child; give any other report a target with a path",
        are_read: |flags| is_http(flags) && is_child(flags),
    },
    Together {
        names: &["payload_bytes"],
        readers: "requests for /calc: --protocol framed, or http with --calc-target",
        are_read: is_calc,
    },
    Together {
        names: &["message_bytes"],
        readers: "--protocol echo",
        are_read: |flags| flags.protocol == Protocol::Echo,
    },
];

/// Fails with the first flag that was given and is not read.
pub fn refuse(flags: &Flags, given: &ArgMatches) -> Result<(), String> {
    for group in LIMITED.iter().filter(|group| !(group.are_read)(flags)) {
        for name in group.names {
            if given.value_source(name) == Some(ValueSource::CommandLine) {
                return Err(format!(
                    "{} is given and would not be read; it is read by {}",
                    shown(name),
                    group.readers
                ));
            }
        }
    }
    Ok(())
}

fn shown(name: &str) -> String {
    match name {
        "target" => "a target".to_owned(),
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

/// Whether /calc is asked for.
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

    use super::refuse;
    use crate::flags::Flags;

    fn said(line: &str) -> Result<(), String> {
        let given = Flags::command().get_matches_from(line.split(' '));
        refuse(&Flags::from_arg_matches(&given).unwrap(), &given)
    }

    #[test]
    fn what_is_read_may_be_given() {
        for line in [
            "loadgen -n 1 -H A:b -m PUT --body x --expect-length 3 http://h/",
            "loadgen -n 1 --calc-target 5 --payload-bytes 9 --keep-alive false http://h/",
            "loadgen -n 1 --protocol echo --message-bytes 5 --fresh h:1",
            "loadgen -d 1s --rate 5 --protocol framed --calc-target 5 h:1",
            "loadgen --report child --protocol http --path /x -m HEAD -t 2",
            "loadgen --report child --protocol echo --message-bytes 5 --nodelay false",
        ] {
            assert_eq!(said(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn what_is_not_read_is_refused_with_what_reads_it() {
        for (line, flag) in [
            ("loadgen --report child -c 5", "--connections"),
            ("loadgen --report child http://h/", "a target"),
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
            let wrong = said(line).unwrap_err();
            assert!(wrong.starts_with(&format!("{flag} is given")), "{line}: {wrong}");
        }
    }
}
