//! Requests whose answers are dealt with as they arrive.

use std::sync::{Arc, Mutex, PoisonError};

use blazarr_core::error::{Error, Result};
use blazarr_core::io::Request;
use blazarr_core::io::arrivals::{Answer, Arrivals, Asker};
use blazarr_core::io::key::Key;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::runtime::runtime;
use crate::store::tell;

/// Requests of one read, given up when this goes.
pub struct Questions {
    name: Arc<str>,
    client: Arc<Client>,
    arrivals: Arc<Arrivals>,
    tasks: Mutex<JoinSet<()>>,
}

impl Questions {
    pub fn new(name: &Arc<str>, client: Arc<Client>, arrivals: &Arc<Arrivals>) -> Self {
        Questions {
            name: Arc::clone(name),
            client,
            arrivals: Arc::clone(arrivals),
            tasks: Mutex::default(),
        }
    }
}

impl Asker for Questions {
    fn ask(&self, questions: Vec<(usize, Request)>) -> Result<()> {
        for (_, request) in &questions {
            Key::parse(&request.key)?;
        }
        let runtime = runtime()?.handle();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        for (number, request) in questions {
            let (client, name) = (Arc::clone(&self.client), Arc::clone(&self.name));
            let promise = Promise {
                number,
                arrivals: Some(Arc::clone(&self.arrivals)),
            };
            let most = self.arrivals.most();
            let work = async move {
                let found = client.get(&request.key, request.range, most).await;
                let found = found.map_err(|e| e.at(&name, &request.key));
                promise.keep(found.map(|value| value.map(|value| client.stamped(value))));
            };
            tasks.spawn_on(work, runtime);
        }
        Ok(())
    }

    fn give_up(&self) {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .abort_all();
    }

    fn end(&self) -> Result<()> {
        tell(&self.name, &self.client)
    }
}

/// An answer that will be given, come what may.
struct Promise {
    number: usize,
    arrivals: Option<Arc<Arrivals>>,
}

impl Promise {
    fn keep(mut self, answer: Answer) {
        if let Some(arrivals) = self.arrivals.take() {
            arrivals.deliver(self.number, answer);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(arrivals) = self.arrivals.take() {
            let lost = Error::Internal("a request ended without an answer".into());
            arrivals.deliver(self.number, Err(lost));
        }
    }
}
