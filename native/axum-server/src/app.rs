//! What is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::delay::wait;

/// The answer to GET /.
const HELLO: &str = "Hello, World!";

/// What all requests share.
pub struct App {
    pub delay: Duration,
    pub requests: AtomicU64,
}

/// GET / is answered after the delay; anything else is not found.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(hello))
        .fallback(not_found)
        .with_state(app)
}

async fn hello(State(app): State<Arc<App>>) -> Result<&'static str, (StatusCode, String)> {
    app.requests.fetch_add(1, Relaxed);
    wait(app.delay).await.map_err(|error| {
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("a delay of {:?} cannot be had: {error}\n", app.delay),
        )
    })?;
    Ok(HELLO)
}

async fn not_found(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    app.requests.fetch_add(1, Relaxed);
    (StatusCode::NOT_FOUND, "no such url; there is /\n")
}
