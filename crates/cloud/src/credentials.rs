//! Credentials that somebody else finds, and finds again when they run out.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use object_store::azure::{AzureAccessKey, AzureCredential, split_sas};
use object_store::gcp::GcpCredential;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// They are asked for again this long before they run out.
const EARLY: Duration = Duration::from_secs(60);

/// What a finder found: its fields by name, and when they run out.
#[derive(Debug)]
pub struct Found {
    pub fields: HashMap<String, String>,
    pub until: Option<SystemTime>,
}

/// Finds credentials; may block.
pub trait Credentials: fmt::Debug + Send + Sync {
    fn find(&self) -> Result<Found, Box<dyn std::error::Error + Send + Sync>>;
}

/// A kind of credentials, made of fields.
pub trait FromFields: Sized + fmt::Debug + Send + Sync + 'static {
    fn from_fields(fields: &HashMap<String, String>) -> Result<Self, String>;
}

/// `Credentials` as object_store wants them, kept until they run out.
#[derive(Debug)]
pub struct Provider<C> {
    source: Arc<dyn Credentials>,
    kept: Mutex<Option<(Arc<C>, Option<SystemTime>)>>,
}

impl<C> Provider<C> {
    pub fn new(source: Arc<dyn Credentials>) -> Self {
        Provider {
            source,
            kept: Mutex::new(None),
        }
    }
}

#[async_trait]
impl<C: FromFields> CredentialProvider for Provider<C> {
    type Credential = C;

    async fn get_credential(&self) -> object_store::Result<Arc<C>> {
        let mut kept = self.kept.lock().await;
        if let Some((credential, until)) = kept.as_ref()
            && until.is_none_or(|until| SystemTime::now() + EARLY < until)
        {
            return Ok(Arc::clone(credential));
        }
        let source = Arc::clone(&self.source);
        let found = spawn_blocking(move || source.find()).await;
        let found = found.map_err(|e| failed(e.into()))?.map_err(failed)?;
        let credential = Arc::new(C::from_fields(&found.fields).map_err(|e| failed(e.into()))?);
        *kept = Some((Arc::clone(&credential), found.until));
        Ok(credential)
    }
}

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> object_store::Error {
    object_store::Error::Generic {
        store: "credential provider",
        source,
    }
}

fn field(fields: &HashMap<String, String>, name: &str) -> Result<String, String> {
    let missing = || format!("the credentials have no field {name:?}");
    fields.get(name).cloned().ok_or_else(missing)
}

impl FromFields for AwsCredential {
    fn from_fields(fields: &HashMap<String, String>) -> Result<Self, String> {
        Ok(AwsCredential {
            key_id: field(fields, "access_key_id")?,
            secret_key: field(fields, "secret_access_key")?,
            token: fields.get("token").cloned(),
        })
    }
}

impl FromFields for GcpCredential {
    fn from_fields(fields: &HashMap<String, String>) -> Result<Self, String> {
        let bearer = field(fields, "token")?;
        Ok(GcpCredential { bearer })
    }
}

impl FromFields for AzureCredential {
    fn from_fields(fields: &HashMap<String, String>) -> Result<Self, String> {
        if let Some(key) = fields.get("access_key") {
            let key = AzureAccessKey::try_new(key).map_err(|e| e.to_string())?;
            return Ok(AzureCredential::AccessKey(key));
        }
        if let Some(token) = fields.get("sas_token") {
            let pairs = split_sas(token).map_err(|e| e.to_string())?;
            return Ok(AzureCredential::SASToken(pairs));
        }
        field(fields, "token").map(AzureCredential::BearerToken)
    }
}
