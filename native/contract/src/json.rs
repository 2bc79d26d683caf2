//! JSON objects.

use serde_json::{Map, Value};

/// The keys of `json!({...})`.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(keys) => keys,
        _ => unreachable!("json! of braces is an object"),
    }
}
