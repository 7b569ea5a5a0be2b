//! A store that refuses every change before anything is prepared for it.

use std::sync::Arc;

use super::arrivals::{Arrivals, Asker, Found};
use super::{Edit, Fetched, Object, Request, Store, StoreError};
use crate::error::Result;

#[derive(Debug)]
pub struct ReadOnly<S: ?Sized>(pub Arc<S>);

impl<S: Store + ?Sized> Store for ReadOnly<S> {
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        self.0.get(key, hint, buf)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        self.0.open(key)
    }

    fn update(
        &self,
        key: &str,
        _wants_current: bool,
        _edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        Err(StoreError::ReadOnly {
            key: key.to_owned(),
        }
        .into())
    }

    fn deletes_conditionally(&self) -> bool {
        self.0.deletes_conditionally()
    }

    fn batch(&self) -> Option<usize> {
        self.0.batch()
    }

    fn asker(&self, arrivals: &Arc<Arrivals>) -> Result<Option<Box<dyn Asker>>> {
        self.0.asker(arrivals)
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<Found>> {
        self.0.get_many(requests)
    }
}
