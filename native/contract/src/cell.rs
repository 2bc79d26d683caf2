//! The cell: the first line of stdin. Source: docs/child-contract.md.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::input::read_line;

/// A cell that cannot be read: what is wrong, the value seen, what is accepted.
#[derive(Debug)]
pub struct CellError(String);

impl CellError {
    /// An error that says this.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for CellError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CellError {}

/// The parameters of a cell; one that is absent or null has the default that the caller gives.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Params(pub Map<String, Value>);

impl Params {
    /// A whole number of at least 0.
    pub fn whole(&self, name: &str, default: u64) -> Result<u64, CellError> {
        Ok(self.optional_whole(name)?.unwrap_or(default))
    }

    /// A whole number within bounds.
    pub fn within(&self, name: &str, bounds: RangeInclusive<u64>, default: u64) -> Result<u64, CellError> {
        let accepted = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let read = |value: &Value| value.as_u64().filter(|number| bounds.contains(number));
        Ok(self.get(name, &accepted, read)?.unwrap_or(default))
    }

    /// A whole number of at least 0, or none: NUM_MAX_CONNS.
    pub fn optional_whole(&self, name: &str) -> Result<Option<u64>, CellError> {
        self.get(name, "a whole number of at least 0", Value::as_u64)
    }

    /// A number, whole or not: RATE.
    pub fn number(&self, name: &str, default: f64) -> Result<f64, CellError> {
        let given = self.get(name, "a number", Value::as_f64)?;
        Ok(given.unwrap_or(default))
    }

    /// true or false.
    pub fn truth(&self, name: &str, default: bool) -> Result<bool, CellError> {
        let given = self.get(name, "true or false", Value::as_bool)?;
        Ok(given.unwrap_or(default))
    }

    /// A word, such as TRANSPORT.
    pub fn text(&self, name: &str, default: &str) -> Result<String, CellError> {
        let given = self.get(name, "a text", |value| value.as_str().map(str::to_owned))?;
        Ok(given.unwrap_or_else(|| default.to_owned()))
    }

    fn get<T>(
        &self,
        name: &str,
        accepted: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, CellError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value)
                .map(Some)
                .ok_or_else(|| CellError(format!("{name} is {value}; it must be {accepted}"))),
        }
    }
}

/// How much to ask before `go`: a share of the requests, or so many seconds. Both 0 for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Warmup {
    pub share: f64,
    pub seconds: f64,
}

/// How a client is to ask.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Method {
    pub warmup: Warmup,
    /// 0 where the number of requests says how much.
    pub duration_s: f64,
    /// `poisson` for random gaps between requests at a rate.
    pub arrivals: String,
}

/// The cell, and the child's place in it. A client has a client_id and addresses, a service a service_id and a folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Cell {
    pub cell_id: String,
    pub system: String,
    pub params: Params,
    pub service_id: Option<u64>,
    pub client_id: Option<u64>,
    /// Number of the block, from 1: requests come in another order in each.
    pub block: u64,
    /// For each service, by service_id, the address of each of its sockets.
    pub addresses: Vec<Vec<String>>,
    /// Where Unix sockets go.
    pub folder: PathBuf,
    /// CPUs that the child may use; empty where the kernel chooses.
    pub cpus: Vec<usize>,
    /// Where a service listens over TCP; none for loopback.
    pub address: Option<String>,
    /// Whom it serves there; empty for all that get there.
    pub peers: Vec<IpAddr>,
    pub method: Method,
    /// The user's service that a client calls, as core/user_service.py has it.
    pub own: Option<Value>,
}

/// Read the first line of stdin. Fails if it is not a JSON object, or a key has another type.
pub fn read_cell() -> Result<Cell, CellError> {
    let line = read_line(io::stdin().lock())
        .map_err(|error| CellError(format!("standard input cannot be read: {error}")))?;
    parse_cell(&line)
}

/// The cell in a line.
pub fn parse_cell(line: &str) -> Result<Cell, CellError> {
    let keys = serde_json::from_str::<Map<String, Value>>(line);
    keys.and_then(|keys| serde_json::from_value(Value::Object(keys)))
        .map_err(|error| {
            let line = line.trim();
            CellError(format!(
                "the first line of standard input is {line}; it must be a cell, a JSON object: {error}"
            ))
        })
}

/// The part of `requests` that number `rank` of `of` sends: all divide them evenly, and the first ones take the rest.
pub fn share(requests: u64, of: u64, rank: u64) -> u64 {
    requests / of + u64::from(rank < requests % of)
}

#[cfg(test)]
mod tests {
    use super::{Method, Warmup, parse_cell, share};

    const CLIENT: &str = r#"{"cell_id": "2-3.14t-aa1f4aed", "system": "2", "runtime": "3.14t",
        "params": {"CALC_TARGET": 1000, "NUM_MAX_CONNS": null, "REUSE_CLIENT": true, "TRANSPORT": "unix"},
        "client_id": 0, "addresses": [["/tmp/x/0.0"]], "cpus": [1],
        "method": {"warmup": {"share": 0.1, "seconds": 0.0}, "duration_s": 0.0, "client_runtime": "same"}}"#;

    #[test]
    fn a_client_is_told_its_place_and_how_to_ask() {
        let cell = parse_cell(CLIENT).unwrap();
        assert_eq!((cell.client_id, cell.service_id), (Some(0), None));
        assert_eq!(cell.addresses, [["/tmp/x/0.0"]]);
        assert_eq!(cell.cpus, [1]);
        let warmup = Warmup {
            share: 0.1,
            seconds: 0.0,
        };
        assert_eq!(
            cell.method,
            Method {
                warmup,
                duration_s: 0.0,
                arrivals: String::new(),
            }
        );
    }

    #[test]
    fn a_parameter_that_is_absent_or_null_has_its_default() {
        let params = parse_cell(CLIENT).unwrap().params;
        assert_eq!(params.whole("CALC_TARGET", 5).unwrap(), 1000);
        assert_eq!(params.whole("NUM_MULTI_SOCKET", 1).unwrap(), 1);
        assert_eq!(params.optional_whole("NUM_MAX_CONNS").unwrap(), None);
        assert!(params.truth("REUSE_CLIENT", false).unwrap());
        assert_eq!(params.text("TRANSPORT", "tcp").unwrap(), "unix");
    }

    #[test]
    fn a_parameter_of_another_type_is_named_with_what_is_accepted() {
        let error = parse_cell(CLIENT)
            .unwrap()
            .params
            .whole("TRANSPORT", 1)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "TRANSPORT is \"unix\"; it must be a whole number of at least 0"
        );
    }

    #[test]
    fn a_number_out_of_its_bounds_is_named_with_them() {
        let params = parse_cell(CLIENT).unwrap().params;
        assert_eq!(params.within("CALC_TARGET", 0..=1000, 5).unwrap(), 1000);
        let error = params.within("CALC_TARGET", 1..=999, 5).unwrap_err();
        assert_eq!(
            error.to_string(),
            "CALC_TARGET is 1000; it must be a whole number from 1 to 999"
        );
    }

    #[test]
    fn requests_are_divided_and_the_first_ones_take_the_rest() {
        let shares: Vec<u64> = (0..3).map(|rank| share(20, 3, rank)).collect();
        assert_eq!(shares, [7, 7, 6]);
        assert_eq!(share(2, 3, 2), 0);
    }

    #[test]
    fn what_is_no_object_is_no_cell() {
        assert!(
            parse_cell("[1, 2]")
                .unwrap_err()
                .to_string()
                .contains("a JSON object")
        );
        assert!(parse_cell("this is no JSON").is_err());
    }
}

#[cfg(test)]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::parse_cell;

    /// A value of any type, as JSON.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|truth| truth.to_string()),
            any::<i64>().prop_map(|number| number.to_string()),
            (0u64..20).prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| number.to_string()),
            "\\PC{0,12}".prop_map(|text| Value::from(text).to_string()),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                inner.prop_map(|item| format!("{{\"RATE\":{item},\"warmup\":{item}}}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_line_makes_a_child_panic(line in any::<String>()) {
            let _ = parse_cell(&line);
        }

        #[test]
        fn a_cell_has_the_values_of_its_line_or_is_refused(
            id in value(), name in value(), rate in value(),
            key in "cpus|method|addresses|service_id|none", other in value(),
        ) {
            let line = format!(r#"{{"client_id":{id},"cell_id":{name},"params":{{"RATE":{rate}}},"{key}":{other}}}"#);
            let Ok(cell) = parse_cell(&line) else { return Ok(()) };
            let said: Value = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(cell.client_id, said["client_id"].as_u64());
            prop_assert_eq!(Some(cell.cell_id.as_str()), said["cell_id"].as_str());
            let (given, params) = (&said["params"]["RATE"], cell.params);
            let (whole, number) = (params.whole("RATE", 7), params.number("RATE", 7.0));
            prop_assert_eq!(whole.ok(), if given.is_null() { Some(7) } else { given.as_u64() });
            prop_assert_eq!(number.ok(), if given.is_null() { Some(7.0) } else { given.as_f64() });
            prop_assert!(params.within("RATE", 0..=9, 7).unwrap_or(0) <= 9);
        }
    }
}
