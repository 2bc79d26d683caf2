//! The request plan of a user's service: what is sent, how often, and which answers are right.
//!
//! The reference is core/request_plan.py and clients/user_service/http.py.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::engine::job::Kind;
use crate::response::body::Body;
use crate::response::reader::{Expect, HttpExpect};

/// How many requests are drawn by weight before the order begins anew.
const ORDER_LENGTH: usize = 4096;

/// The key `own` of a client's first line.
#[derive(Deserialize)]
pub struct OwnService {
    protocol: String,
    #[serde(default)]
    prefix: String,
    requests: RequestPlan,
    answer_deadline_s: Option<f64>,
}

#[derive(Deserialize)]
struct RequestPlan {
    requests: Vec<PlannedRequest>,
    #[serde(default)]
    think_time_s: f64,
}

#[derive(Deserialize)]
struct PlannedRequest {
    method: String,
    path: String,
    weight: u64,
    headers: serde_json::Map<String, Value>,
    body: String,
    body_file: PathBuf,
    expect_status: u16,
    /// Absent if any body is right.
    expect_json: Option<Option<Value>>,
    expect_json_text: Option<String>,
    expect_sha256: String,
    title: String,
}

impl OwnService {
    /// What a client's first line says. Fails with what cannot be sent.
    pub fn parse(told: &Value) -> Result<Self, String> {
        let service = Self::deserialize(told).map_err(|error| format!("own cannot be read: {error}"))?;
        match service.protocol.as_str() {
            "http" => Ok(service),
            other => Err(format!("protocol is {other:?}; the native client speaks http to a user's service")),
        }
    }

    /// How long an answer may take, in ns; `default_ns` if that is not said.
    pub fn timeout_ns(&self, default_ns: u64) -> u64 {
        self.answer_deadline_s
            .map_or(default_ns, |seconds| (seconds * 1e9) as u64)
    }

    /// How long a connection waits between an answer and its next request, in ns.
    pub fn think_ns(&self) -> u64 {
        (self.requests.think_time_s * 1e9) as u64
    }

    /// Each request of the plan as bytes for a service at `address`, with what is expected of its answer.
    pub fn kinds(&self, address: &str) -> Result<Vec<Kind>, String> {
        self.requests
            .requests
            .iter()
            .map(|request| self.kind(request, address))
            .collect()
    }

    /// The order in which requests are sent: places in kinds(), drawn by weight.
    pub fn order(&self, seed: u64) -> Vec<u32> {
        let weights: Vec<u64> = self.requests.requests.iter().map(|request| request.weight).collect();
        let total: u64 = weights.iter().sum();
        let mut random = contract::Random::new(seed);
        let mut draw = || {
            let mut left = random.below(total.max(1));
            weights
                .iter()
                .position(|weight| left < *weight || { left -= weight; false })
                .unwrap_or(0) as u32
        };
        (0..if weights.len() > 1 { ORDER_LENGTH } else { 1 }).map(|_| draw()).collect()
    }

    fn kind(&self, request: &PlannedRequest, address: &str) -> Result<Kind, String> {
        let body = if request.body_file.as_os_str().is_empty() {
            request.body.clone().into_bytes()
        } else {
            std::fs::read(&request.body_file)
                .map_err(|error| format!("body_file {} cannot be read: {error}", request.body_file.display()))?
        };
        Ok(Kind {
            message: self.http(request, address, &body),
            expect: Expect::Http(HttpExpect {
                status: request.expect_status,
                length: OnceLock::new(),
                target: None,
                body: Some(Self::expected(request)?),
                server: OnceLock::new(),
                bodyless: request.method == "HEAD",
            }),
            title: request.title.clone(),
        })
    }

    fn expected(request: &PlannedRequest) -> Result<Body, String> {
        if !request.expect_sha256.is_empty() {
            return Ok(Body::Sha256(request.expect_sha256.clone()));
        }
        let json = match (&request.expect_json_text, &request.expect_json) {
            (Some(text), _) => serde_json::from_str(text).map_err(|error| format!("expect_json: {error}"))?,
            (None, Some(value)) => value.clone().unwrap_or(Value::Null),
            (None, None) => return Ok(Body::Any),
        };
        Ok(Body::Json(json))
    }

    fn http(&self, request: &PlannedRequest, address: &str, body: &[u8]) -> Vec<u8> {
        let has = |name: &str| request.headers.keys().any(|given| given.eq_ignore_ascii_case(name));
        let path = self.prefix.clone() + &request.path;
        let mut head = format!("{} {} HTTP/1.1\r\n", request.method, if path.is_empty() { "/" } else { &path });
        if !has("host") {
            let host = if address.starts_with('/') { "localhost" } else { address };
            head += &format!("Host: {host}\r\n");
        }
        let has_body = !body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
        if has_body && !has("content-length") && !has("transfer-encoding") {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        if !body.is_empty() && !has("content-type") {
            head += "Content-Type: application/json\r\n";
        }
        for (name, value) in &request.headers {
            head += &format!("{name}: {}\r\n", value.as_str().unwrap_or_default());
        }
        [head.as_bytes(), b"\r\n", body].concat()
    }
}
