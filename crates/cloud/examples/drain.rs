//! Fetches parts of an S3 bucket and throws them away: what the link allows a client of the same HTTP library.
//! `benchmarks/cloud/run.py` runs it; credentials and region come from the environment.
//!
//! ```text
//! drain ENDPOINT BUCKET REQUESTS < PARTS
//! ```
//!
//! `REQUESTS` are under way at a time. Each line names a key, a start and an end. After an empty line come parts that
//! are asked for once all those before have come.

use std::env;
use std::error::Error;
use std::io::{Read, stdin};
use std::ops::Range;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectStore};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Without effect where the process has chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(drain())
}

async fn drain() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let mut next = || arguments.next().ok_or("ENDPOINT BUCKET REQUESTS");
    let (endpoint, bucket, requests) = (next()?, next()?, next()?.parse()?);
    let store = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .build()?;
    let mut lines = String::new();
    stdin().read_to_string(&mut lines)?;
    let begun = Instant::now();
    let mut total = 0;
    for phase in lines.split("\n\n") {
        let parts = phase.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<u64> = stream::iter(parts)
            .map(|(path, range)| thrown_away(&store, path, range))
            .buffer_unordered(requests)
            .try_collect()
            .await?;
        total += sizes.iter().sum::<u64>();
    }
    println!("{} {total}", begun.elapsed().as_secs_f64());
    Ok(())
}

fn parse(line: &str) -> Result<(Path, Range<u64>), Failure> {
    let mut words = line.split(' ');
    let mut next = || words.next().ok_or("KEY START END");
    Ok((Path::parse(next()?)?, next()?.parse()?..next()?.parse()?))
}

async fn thrown_away(
    store: &dyn ObjectStore,
    path: Path,
    range: Range<u64>,
) -> Result<u64, Failure> {
    let options = GetOptions {
        range: Some(GetRange::Bounded(range)),
        ..GetOptions::default()
    };
    let GetResultPayload::Stream(mut body) = store.get_opts(&path, options).await?.payload;
    let mut size = 0;
    while let Some(piece) = body.next().await {
        size += piece?.len() as u64;
    }
    Ok(size)
}
