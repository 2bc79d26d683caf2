//! The request plan of a user's service: what is sent, how often, and which answers are right.
//!
//! The reference is core/request_plan.py and clients/http.py.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::engine::job::Kind;
use crate::limits::MAX_ROUTES;
use crate::net::http2;
use crate::net::tls::{Tls, TlsSettings};
use crate::request::session::{Sessions, Source, Template};
use crate::response::body::Body;
use crate::response::reader::{Expect, HttpExpect};

/// How many requests are drawn by weight before the order begins anew.
const ORDER_LENGTH: u64 = 4096;
/// Of a request that is sent in chunks.
const CHUNK_BYTES: usize = 8192;

/// The key `own` of a client's first line.
#[derive(Deserialize)]
pub struct OwnService {
    protocol: String,
    #[serde(default)]
    prefix: String,
    requests: RequestPlan,
    answer_deadline_s: Option<f64>,
    tls: Option<TlsSettings>,
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
    #[serde(default)]
    first: bool,
    #[serde(default)]
    save: BTreeMap<String, BTreeMap<String, String>>,
}

impl PlannedRequest {
    /// What a report calls it.
    fn name(&self) -> String {
        if !self.title.is_empty() {
            return self.title.clone();
        }
        format!("{} {}", self.method, if self.path.is_empty() { "/" } else { &self.path })
    }
}

impl OwnService {
    /// What a client's first line says. Fails with what cannot be sent.
    pub fn parse(told: &Value) -> Result<Self, String> {
        let service = Self::deserialize(told).map_err(|error| format!("own cannot be read: {error}"))?;
        match service.protocol.as_str() {
            "http" | "http2" => Ok(service),
            other => Err(format!("protocol is {other:?}; the native client speaks http to a user's service")),
        }
    }

    pub fn speaks_http2(&self) -> bool {
        self.protocol == "http2"
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
        let names = self.names();
        self.requests
            .requests
            .iter()
            .map(|request| self.kind(request, address, names[&request.name()]))
            .collect()
    }

    /// The place of each name of requests, in the order of the plan.
    fn names(&self) -> BTreeMap<String, usize> {
        let mut places = BTreeMap::new();
        for request in &self.requests.requests {
            let place = places.len();
            places.entry(request.name()).or_insert(place);
        }
        places
    }

    /// How many routes are counted; 0 if there is only one, or too many. Source: core/request_plan.py.
    pub fn routes(&self) -> usize {
        let names = self.names();
        let measured = self.requests.requests.iter().filter(|request| !request.first);
        let are_several = measured.map(PlannedRequest::name).collect::<BTreeSet<_>>().len() > 1;
        if are_several && names.len() <= MAX_ROUTES { names.len() } else { 0 }
    }

    /// How connections to a service at `address` are secured, if they are.
    pub fn tls(&self, address: &str) -> Result<Option<Tls>, String> {
        let protocol = if self.speaks_http2() { "h2" } else { "http/1.1" };
        self.tls.as_ref().map(|settings| Tls::new(settings, &host_of(address), protocol)).transpose()
    }

    /// What users remember for these kinds; none if they need not.
    pub fn sessions(&self, kinds: &[Kind], address: &str) -> Option<Sessions> {
        let requests = &self.requests.requests;
        let is_needed = kinds.iter().any(|kind| kind.template.is_some() || !kind.save.is_empty());
        if !is_needed && !requests.iter().any(|request| request.first) {
            return None;
        }
        let mut saves = BTreeMap::new();
        for (number, request) in requests.iter().enumerate() {
            for name in request.save.keys() {
                saves.entry(name.clone()).or_insert(number);
            }
        }
        Some(Sessions {
            first: (0..requests.len()).filter(|number| requests[*number].first).collect(),
            saves,
            host: host_of(address),
            is_secure: self.tls.is_some(),
        })
    }

    /// The order in which requests are sent: places in kinds(), in rounds that have each as often as its weight says.
    ///
    /// If one round is too long, they are drawn by weight. Source: core/request_plan.py.
    pub fn order(&self, seed: u64) -> Vec<u32> {
        let weights: Vec<u64> = self.requests.requests.iter().map(|request| if request.first { 0 } else { request.weight }).collect();
        let (length, total) = (if weights.len() > 1 { ORDER_LENGTH } else { 1 }, weights.iter().sum::<u64>().max(1));
        let least = weights.iter().fold(0, |one, other| gcd(one, *other)).max(1);
        let mut random = contract::Random::new(seed);
        if total / least > length {
            let mut draw = || {
                let mut left = random.below(total);
                weights
                    .iter()
                    .position(|weight| left < *weight || { left -= weight; false })
                    .unwrap_or(0) as u32
            };
            return (0..length).map(|_| draw()).collect();
        }
        let share = |(number, weight): (usize, &u64)| vec![number as u32; (weight / least) as usize];
        let mut round: Vec<u32> = weights.iter().enumerate().flat_map(share).collect();
        let mut order = Vec::new();
        while !round.is_empty() && (order.len() as u64) < length {
            for last in (1..round.len()).rev() {
                round.swap(last, random.below(last as u64 + 1) as usize);
            }
            order.extend(&round);
        }
        order
    }

    fn kind(&self, request: &PlannedRequest, address: &str, route: usize) -> Result<Kind, String> {
        let body = if request.body_file.as_os_str().is_empty() {
            request.body.clone().into_bytes()
        } else {
            std::fs::read(&request.body_file)
                .map_err(|error| format!("body_file {} cannot be read: {error}", request.body_file.display()))?
        };
        let message = self.http(request, address, &body);
        let given: Vec<String> = request.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let saved: Vec<String> = self.requests.requests.iter().flat_map(|one| one.save.keys().cloned()).collect();
        let keeps_cookies = self.requests.requests.iter().any(|one| one.first);
        let template = Template::of(&message, &given, &saved, keeps_cookies);
        if self.speaks_http2() && template.is_none() {
            http2::translate(&message, "http").map_err(|error| format!("HTTP/2 cannot send {}: {error}", request.title))?;
        }
        let source = |(name, from): (&String, &BTreeMap<String, String>)| {
            let (kind, place) = from.iter().next().ok_or_else(|| format!("save of {name} names no place"))?;
            Ok::<_, String>((name.clone(), Source::parse(kind, place)?))
        };
        let save = request.save.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        Ok(Kind {
            template,
            message,
            expect: Expect::Http(HttpExpect {
                status: request.expect_status,
                length: OnceLock::new(),
                target: None,
                body: Some(Self::expected(request)?),
                server: OnceLock::new(),
                bodyless: request.method == "HEAD",
                keeps: save.iter().any(|(_, source)| source.reads_body()),
                is_grpc: self.speaks_http2() && Self::is_grpc(request),
            }),
            title: request.title.clone(),
            route,
            save,
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
        let body = if has("transfer-encoding") { chunked(body) } else { body.to_vec() };
        for (name, value) in &request.headers {
            head += &format!("{name}: {}\r\n", value.as_str().unwrap_or_default());
        }
        [head.as_bytes(), b"\r\n", &body].concat()
    }

    fn is_grpc(request: &PlannedRequest) -> bool {
        let types = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        types.into_iter().any(|(_, value)| value.as_str().is_some_and(|text| text.starts_with("application/grpc")))
    }
}

/// The body of a request in chunks.
fn chunked(body: &[u8]) -> Vec<u8> {
    let chunk = |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
    let mut coded: Vec<u8> = body.chunks(CHUNK_BYTES).flat_map(chunk).collect();
    coded.extend_from_slice(b"0\r\n\r\n");
    coded
}

fn host_of(address: &str) -> String {
    if address.starts_with('/') {
        return "localhost".to_owned();
    }
    address.rsplit_once(':').map_or("", |pair| pair.0).to_ascii_lowercase()
}

/// The greatest common divisor.
fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}
