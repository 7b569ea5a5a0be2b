//! Object stores and web servers, as Python sees them.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use blazarr_cloud::config::Config;
use blazarr_cloud::{CloudStore as Cloud, Credentials, Found};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::native::{KeyStore, initializer};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CloudStore>()
}

#[pyclass(frozen, extends = KeyStore, module = "blazarr._core")]
struct CloudStore;

#[pymethods]
impl CloudStore {
    /// `settings` has the fields of the core's configuration by name; `credentials` is called for a dictionary.
    #[new]
    #[pyo3(signature = (url, prefix, settings, credentials=None))]
    fn new(
        url: String,
        prefix: String,
        settings: &Bound<'_, PyDict>,
        credentials: Option<Py<PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let config = Config {
            url,
            prefix,
            options: setting(settings, "options")?,
            client: setting(settings, "client")?,
            headers: setting(settings, "headers")?,
            credentials: credentials.map(|finder| Arc::new(Finder(finder)) as Arc<dyn Credentials>),
            requests: setting(settings, "requests")?,
            deadline: seconds(settings, "deadline")?,
            retries: setting(settings, "retries")?,
            first_pause: seconds(settings, "first_pause")?,
            longest_pause: seconds(settings, "longest_pause")?,
            patience: seconds(settings, "patience")?,
            conditional: setting(settings, "conditional")?,
        };
        let store = Cloud::new(config).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(initializer(CloudStore, store))
    }
}

fn setting<'py, T: FromPyObjectOwned<'py>>(
    settings: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    match settings.get_item(name)? {
        Some(value) => value.extract().map_err(Into::into),
        None => Err(PyValueError::new_err(format!("{name} is missing"))),
    }
}

fn seconds(settings: &Bound<'_, PyDict>, name: &str) -> PyResult<Duration> {
    let seconds: f64 = setting(settings, name)?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|e| PyValueError::new_err(format!("{name}={seconds}: {e}")))
}

/// A function of Python's that finds credentials.
struct Finder(Py<PyAny>);

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finder")
    }
}

impl Credentials for Finder {
    fn find(&self) -> Result<Found, Box<dyn StdError + Send + Sync>> {
        let found = Python::try_attach(|py| {
            let (fields, until): (HashMap<String, String>, Option<f64>) =
                self.0.call0(py)?.extract(py)?;
            let until = until.and_then(|until| Duration::try_from_secs_f64(until).ok());
            Ok::<_, PyErr>(Found {
                fields,
                until: until.map(|until| SystemTime::UNIX_EPOCH + until),
            })
        });
        match found {
            Some(found) => Ok(found?),
            None => Err("the interpreter is shutting down".into()),
        }
    }
}
