//! Requests as a good guest makes them: again after what passes, at the pace that the server asks for, and content
//! with servers that know less than HTTP has.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, IF_MATCH, IF_NONE_MATCH, RANGE, RETRY_AFTER,
};
use http::{Method, StatusCode};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};
use tokio::time::{Instant, sleep};

use crate::error::words;
use crate::range::{end, resolved};

/// Google's condition of a write.
const IF_GENERATION_MATCH: &str = "x-goog-if-generation-match";

/// How often, and after which pauses, a request is made again.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    pub times: u32,
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// No pause begins whose end would lie later than this after the first request.
    pub patience: Duration,
}

/// What callers should hear of once.
#[derive(Debug, Default)]
pub struct Notices {
    /// The server gives whole values for parts of them.
    whole_values: AtomicBool,
    told: AtomicBool,
}

impl Notices {
    /// Whether values come whole that were asked for in parts, the first time that somebody asks.
    pub fn take_whole_values(&self) -> bool {
        self.whole_values.load(Ordering::Relaxed) && !self.told.swap(true, Ordering::Relaxed)
    }
}

tokio::task_local! {
    /// The most bytes that all of the object may have that is asked for; object_store hands nothing else through.
    pub static MOST: u64;
}

/// The same, where somebody said.
pub fn most() -> u64 {
    MOST.try_with(|most| *most).unwrap_or(u64::MAX)
}

/// An answer that no retrying helps, or did not help.
#[derive(Debug)]
pub struct Refused {
    status: Option<StatusCode>,
    what: String,
    pub attempts: u32,
    /// What the answer was longer than.
    pub too_long: Option<u64>,
}

impl Refused {
    /// Whether the part that was asked for lies behind the object's end.
    pub fn is_beyond(&self) -> bool {
        self.status == Some(StatusCode::RANGE_NOT_SATISFIABLE)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "the server answered {status} ")?;
        }
        write!(f, "{} (attempts: {})", self.what, self.attempts)
    }
}

impl std::error::Error for Refused {}

/// Makes clients whose requests are [`Polite`].
#[derive(Debug)]
pub struct Connector {
    pub retry: Retry,
    pub notices: Arc<Notices>,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // Without effect where the process has chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(HttpClient::new(Polite {
            inner: ReqwestConnector::default().connect(options)?,
            retry: self.retry,
            notices: Arc::clone(&self.notices),
        }))
    }
}

#[derive(Debug)]
struct Polite {
    inner: HttpClient,
    retry: Retry,
    notices: Arc<Notices>,
}

#[async_trait]
impl HttpService for Polite {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let begun = Instant::now();
        let mut attempts = 1;
        loop {
            let outcome = self.inner.execute(request.clone()).await;
            let pause = match may_pass(&request, &outcome) {
                true => self.pause(&outcome, attempts, begun),
                false => None,
            };
            let Some(pause) = pause else {
                return self.settle(&request, outcome, attempts).await;
            };
            sleep(pause).await;
            attempts += 1;
        }
    }
}

impl Polite {
    /// How long to wait before the next attempt; `None` where there is none.
    fn pause(
        &self,
        outcome: &Result<HttpResponse, HttpError>,
        attempts: u32,
        begun: Instant,
    ) -> Option<Duration> {
        if attempts > self.retry.times {
            return None;
        }
        let doubled = 2_u32.saturating_pow(attempts - 1);
        let grown = self.retry.first_pause.saturating_mul(doubled);
        let grown = grown.min(self.retry.longest_pause).mul_f64(jitter());
        let pause = grown.max(
            outcome
                .as_ref()
                .ok()
                .and_then(asked_pause)
                .unwrap_or_default(),
        );
        (begun.elapsed().checked_add(pause)? <= self.retry.patience).then_some(pause)
    }

    /// The last outcome, as object_store understands it.
    async fn settle(
        &self,
        request: &HttpRequest,
        outcome: Result<HttpResponse, HttpError>,
        attempts: u32,
    ) -> Result<HttpResponse, HttpError> {
        let response = match outcome {
            Ok(response) => response,
            Err(error) => {
                let (kind, what) = (error.kind(), deepest(&error));
                let what = format!("no answer: {what}");
                return Err(HttpError::new(
                    kind,
                    Refused {
                        status: None,
                        what,
                        attempts,
                        too_long: None,
                    },
                ));
            }
        };
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let status = response.status();
        // 405 would pass for a missing object, and a chunk must not become fill values for that.
        let wrong = matches!(
            status,
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::RANGE_NOT_SATISFIABLE
        );
        if passes(status) || (reads && wrong) {
            return Err(refuse(response, attempts).await);
        }
        if *request.method() == Method::GET && status == StatusCode::OK {
            return self.completed(request, response, attempts).await;
        }
        Ok(response)
    }

    /// An answer of the whole value, cut to the part that was asked for, with a length.
    async fn completed(
        &self,
        request: &HttpRequest,
        response: HttpResponse,
        attempts: u32,
    ) -> Result<HttpResponse, HttpError> {
        let part = request
            .headers()
            .get(RANGE)
            .and_then(|range| range.to_str().ok());
        if part.is_none() && response.headers().contains_key(CONTENT_LENGTH) {
            return Ok(response);
        }
        let (mut head, body) = response.into_parts();
        // What lies behind the part is not waited for.
        let end = part.and_then(end);
        let (mut body, is_all) = collect(body, end.unwrap_or(u64::MAX).min(most())).await?;
        if !is_all && end.is_none_or(|end| end > most()) {
            return Err(too_long(most(), attempts));
        }
        if let Some(part) = part {
            self.notices.whole_values.store(true, Ordering::Relaxed);
            let size = body.len() as u64;
            let Some((start, end)) = resolved(part, size) else {
                let what = format!("it has {size} bytes, not {part}");
                let status = Some(StatusCode::RANGE_NOT_SATISFIABLE);
                let refused = Refused {
                    status,
                    what,
                    attempts,
                    too_long: None,
                };
                return Err(HttpError::new(HttpErrorKind::Decode, refused));
            };
            body = body.slice(start as usize..end as usize);
            head.status = StatusCode::PARTIAL_CONTENT;
            let range = format!("bytes {start}-{}/{size}", end - 1);
            if let Ok(range) = HeaderValue::from_str(&range) {
                head.headers.insert(CONTENT_RANGE, range);
            }
        }
        head.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::from(body)))
    }
}

/// Whether it is worth asking, and does no harm to ask, again.
fn may_pass(request: &HttpRequest, outcome: &Result<HttpResponse, HttpError>) -> bool {
    // The first attempt may have had its effect, which a condition would then take for somebody else's.
    let is_conditional = request.method() == Method::PUT
        && (request.headers().contains_key(IF_MATCH)
            || request.headers().contains_key(IF_NONE_MATCH)
            || request.headers().contains_key(IF_GENERATION_MATCH));
    match outcome {
        Ok(response) if is_conditional => matches!(
            response.status(),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        ),
        Ok(response) => passes(response.status()),
        Err(error) if is_conditional => error.kind() == HttpErrorKind::Connect,
        Err(error) => !matches!(error.kind(), HttpErrorKind::Decode | HttpErrorKind::Unknown),
    }
}

/// Whether an answer may be another one later.
fn passes(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// What a server asks for by `Retry-After`, in seconds or as a date.
fn asked_pause(response: &HttpResponse) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = DateTime::parse_from_rfc2822(value)
        .ok()?
        .with_timezone(&Utc);
    (until - Utc::now()).to_std().ok()
}

/// Between a half and one, so that many clients do not come back at one time.
fn jitter() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    0.5 + (random >> 11) as f64 / (1_u64 << 54) as f64
}

async fn refuse(response: HttpResponse, attempts: u32) -> HttpError {
    let status = Some(response.status());
    let said = collect(response.into_body(), 1 << 16).await;
    let (said, _) = said.unwrap_or_default();
    let what = words(String::from_utf8_lossy(&said).trim());
    HttpError::new(
        HttpErrorKind::Decode,
        Refused {
            status,
            what,
            attempts,
            too_long: None,
        },
    )
}

fn too_long(allowed: u64, attempts: u32) -> HttpError {
    let refused = Refused {
        status: None,
        what: format!("the answer is longer than {allowed} bytes"),
        attempts,
        too_long: Some(allowed),
    };
    HttpError::new(HttpErrorKind::Decode, refused)
}

/// The first `most` bytes of a body, and whether that is all of it.
async fn collect(body: HttpResponseBody, most: u64) -> Result<(Bytes, bool), HttpError> {
    let mut stream = body.bytes_stream();
    let mut collected = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        let left = most.saturating_sub(collected.len() as u64);
        if piece.len() as u64 > left {
            collected.extend_from_slice(&piece[..left as usize]);
            return Ok((Bytes::from(collected), false));
        }
        collected
            .try_reserve(piece.len())
            .map_err(|e| HttpError::new(HttpErrorKind::Decode, e))?;
        collected.extend_from_slice(&piece);
    }
    Ok((Bytes::from(collected), true))
}

/// The cause that says most.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use object_store::client::HttpRequestBody;

    use super::*;

    fn is_tried_again(condition: Option<&'static str>, status: StatusCode) -> bool {
        let request = http::Request::builder()
            .method(Method::PUT)
            .uri("http://a/b");
        let request = match condition {
            Some(name) => request.header(name, "0"),
            None => request,
        };
        let response = http::Response::builder().status(status);
        may_pass(
            &request.body(HttpRequestBody::empty()).unwrap(),
            &Ok(response.body(HttpResponseBody::from(Bytes::new())).unwrap()),
        )
    }

    #[test]
    fn a_conditional_write_that_may_have_had_its_effect_is_not_tried_again() {
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        assert!(is_tried_again(None, failed));
        for condition in ["if-match", "if-none-match", "x-goog-if-generation-match"] {
            assert!(!is_tried_again(Some(condition), failed), "{condition}");
            assert!(is_tried_again(
                Some(condition),
                StatusCode::TOO_MANY_REQUESTS
            ));
        }
    }
}
