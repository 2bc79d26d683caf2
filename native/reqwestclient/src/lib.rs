//! HTTP by reqwest for Python: a blocking client, which releases the GIL through its I/O, and one for asyncio.

mod cause;

use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    reqwestclient,
    Failed,
    PyException,
    "No usable answer came. args: code (connect, closed, reset, timeout or garbled), and a text."
);

fn failed(error: &reqwest::Error) -> PyErr {
    Failed::new_err((cause::code_of(error), cause::text_of(error)))
}

fn duration(timeout_s: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(timeout_s).map_err(|_| {
        PyValueError::new_err(format!(
            "timeout_s is {timeout_s}; it must be a number of seconds"
        ))
    })
}

/// One keep-alive connection, opened by the first request. No answer takes longer than `timeout_s`.
#[pyclass(frozen)]
struct BlockingClient {
    client: reqwest::blocking::Client,
}

#[pymethods]
impl BlockingClient {
    #[new]
    fn new(timeout_s: f64) -> PyResult<Self> {
        let client = reqwest::blocking::Client::builder()
            .no_proxy()
            .tcp_nodelay(true)
            .pool_max_idle_per_host(1)
            .timeout(duration(timeout_s)?)
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self { client })
    }

    /// GET url, the whole body read: status and length of the body in bytes. Raises Failed.
    fn get(&self, py: Python<'_>, url: &str) -> PyResult<(u16, usize)> {
        py.detach(|| {
            let response = self.client.get(url).send()?;
            let status = response.status().as_u16();
            Ok((status, response.bytes()?.len()))
        })
        .map_err(|error: reqwest::Error| failed(&error))
    }
}

/// The same for asyncio; the I/O is done by the threads of one Tokio runtime.
#[pyclass(frozen)]
struct AsyncClient {
    client: reqwest::Client,
}

#[pymethods]
impl AsyncClient {
    #[new]
    fn new(timeout_s: f64) -> PyResult<Self> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .tcp_nodelay(true)
            .pool_max_idle_per_host(1)
            .timeout(duration(timeout_s)?)
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self { client })
    }

    /// An awaitable: GET url, the whole body read: status and length of the body in bytes. Raises Failed.
    fn get<'py>(&self, py: Python<'py>, url: String) -> PyResult<Bound<'py, PyAny>> {
        let client = self.client.clone();
        pyo3_async_runtimes::tokio::future_into_py(py, async move {
            exchange(&client, &url).await.map_err(|error| failed(&error))
        })
    }
}

async fn exchange(client: &reqwest::Client, url: &str) -> reqwest::Result<(u16, usize)> {
    let response = client.get(url).send().await?;
    let status = response.status().as_u16();
    Ok((status, response.bytes().await?.len()))
}

#[pymodule(gil_used = false)]
fn reqwestclient(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Failed", module.py().get_type::<Failed>())?;
    module.add_class::<BlockingClient>()?;
    module.add_class::<AsyncClient>()
}
