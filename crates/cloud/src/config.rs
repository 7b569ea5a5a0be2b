//! From an address and options to a client of object_store.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use crate::credentials::{Credentials, Provider};
use crate::error::CloudError;
use crate::http::{Connector, Notices, Retry};

/// What kind of server is behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    S3,
    Google,
    Azure,
    Web,
}

/// A cloud's store, built; the builders have the same methods, though no trait says so.
macro_rules! cloud {
    ($config:expr, $notices:expr, $builder:ty, $key:ty) => {{
        let mut builder = <$builder>::from_env().with_url(&$config.url);
        for (name, value) in &$config.options {
            builder = builder.with_config(parsed::<$key>(name)?, value);
        }
        if let Some(source) = &$config.credentials {
            builder = builder.with_credentials(Arc::new(Provider::new(Arc::clone(source))));
        }
        let builder = builder
            .with_client_options($config.client_options()?)
            .with_retry(never())
            .with_http_connector($config.connector($notices));
        builder.build().map(|store| Arc::new(store) as _)
    }};
}

/// Everything that a store is made of.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "options may be secrets")]
pub struct Config {
    /// The bucket or container, or the address of a folder of a web server.
    pub url: String,
    /// A folder in it.
    pub prefix: String,
    /// The options of the kind of store, by the names that object_store gives them; they come before what the
    /// environment says.
    pub options: Vec<(String, String)>,
    /// Options of the HTTP client, likewise.
    pub client: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub credentials: Option<Arc<dyn Credentials>>,
    /// How many requests are under way at a time.
    pub requests: usize,
    /// How long one value may take, with all repetitions.
    pub deadline: Duration,
    /// How often a request is made again, and after which pauses.
    pub retries: u32,
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// How long a request is made again at all.
    pub patience: Duration,
    /// Whether the server compares and writes in one step.
    pub conditional: bool,
}

impl Config {
    pub fn kind(&self) -> Result<Kind, CloudError> {
        let scheme = self.url.split("://").next().unwrap_or_default();
        match scheme {
            "s3" | "s3a" => Ok(Kind::S3),
            "gs" => Ok(Kind::Google),
            "az" | "azure" | "adl" | "abfs" | "abfss" => Ok(Kind::Azure),
            "http" | "https" => Ok(Kind::Web),
            other => Err(CloudError::Config(format!(
                "{other:?} is not the scheme of an object store or web server"
            ))),
        }
    }

    pub fn build(&self, notices: &Arc<Notices>) -> Result<Arc<dyn ObjectStore>, CloudError> {
        let made: object_store::Result<Arc<dyn ObjectStore>> = match self.kind()? {
            Kind::S3 => cloud!(self, notices, AmazonS3Builder, AmazonS3ConfigKey),
            Kind::Google => cloud!(self, notices, GoogleCloudStorageBuilder, GoogleConfigKey),
            Kind::Azure => cloud!(self, notices, MicrosoftAzureBuilder, AzureConfigKey),
            Kind::Web => self.web(notices)?.build().map(|store| Arc::new(store) as _),
        };
        made.map_err(config_error)
    }

    fn web(&self, notices: &Arc<Notices>) -> Result<HttpBuilder, CloudError> {
        if let Some((name, _)) = self.options.first() {
            let what = format!("{name:?} means nothing for a web server");
            return Err(CloudError::Config(what));
        }
        Ok(HttpBuilder::new()
            .with_url(&self.url)
            .with_client_options(self.client_options()?)
            .with_retry(never())
            .with_http_connector(self.connector(notices)))
    }

    fn client_options(&self) -> Result<ClientOptions, CloudError> {
        // A value has as long as `deadline` says, however many requests that takes.
        let mut options = ClientOptions::new().with_timeout_disabled();
        for (name, value) in &self.client {
            options = options.with_config(parsed::<ClientConfigKey>(name)?, value);
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.insert(parsed::<HeaderName>(name)?, secret(name, value)?);
        }
        match headers.is_empty() {
            true => Ok(options),
            false => Ok(options.with_default_headers(headers)),
        }
    }

    fn connector(&self, notices: &Arc<Notices>) -> Connector {
        Connector {
            retry: Retry {
                times: self.retries,
                first_pause: self.first_pause,
                longest_pause: self.longest_pause,
                patience: self.patience,
            },
            notices: Arc::clone(notices),
        }
    }
}

/// Requests are repeated by [`Connector`]'s clients, which look at `Retry-After`.
fn never() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, CloudError> {
    text.parse()
        .map_err(|e: T::Err| CloudError::Config(format!("{text:?}: {e}")))
}

/// The value of a header, which may be a secret that nobody repeats.
fn secret(name: &str, value: &str) -> Result<HeaderValue, CloudError> {
    let unfit = |_| {
        let what =
            format!("the value of the header {name:?} has characters that no header may have");
        CloudError::Config(what)
    };
    let mut value = HeaderValue::from_str(value).map_err(unfit)?;
    value.set_sensitive(true);
    Ok(value)
}

fn config_error(error: object_store::Error) -> CloudError {
    CloudError::Config(error.to_string())
}
