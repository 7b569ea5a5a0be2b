//! Codecs written in Python, as steps of a native chain.

use blazarr_core::codec::{BytesCodec, CodecError, CodecErrorKind, Size};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::Borrowed;
use crate::leaving;

/// An object with `decode`, `encode` and `max_encoded`, called with the GIL for one chunk at a time.
#[derive(Debug)]
pub struct External {
    object: Py<PyAny>,
    name: String,
}

impl External {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<External> {
        let name = match object.getattr("name") {
            Ok(name) => name.str()?.to_string(),
            Err(_) => object.get_type().name()?.to_string(),
        };
        Ok(External {
            object: object.clone().unbind(),
            name,
        })
    }

    /// Calls `method` with `src` and gives its result's bytes to `take`.
    fn call<T>(
        &self,
        method: &str,
        src: &[u8],
        kind: CodecErrorKind,
        take: impl FnOnce(&[u8]) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        leaving::attached(|py| {
            let failed = |e: PyErr| self.failed(kind, e);
            let data = PyBytes::new(py, src);
            let result = self
                .object
                .bind(py)
                .call_method1(method, (data,))
                .map_err(failed)?;
            let buffer = Borrowed::new(&result).map_err(failed)?;
            take(buffer.as_ref())
        })
    }

    /// What the codec raised, as the reason of an error of the engine's.
    fn failed(&self, kind: CodecErrorKind, raised: PyErr) -> CodecError {
        CodecError::new(&self.name, kind, raised.to_string()).caused_by(raised)
    }

    fn wrong_size(&self, got: usize, want: usize) -> CodecError {
        let what = format!("decoded to {got} bytes where {want} are due");
        CodecError::new(&self.name, CodecErrorKind::WrongSize, what)
    }
}

impl BytesCodec for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        let n = decoded.max();
        Python::attach(|py| {
            let failed = |e: PyErr| self.failed(CodecErrorKind::Config, e);
            let bound = self
                .object
                .bind(py)
                .call_method1("max_encoded", (n,))
                .map_err(failed)?;
            let bound: Option<usize> = bound.extract().map_err(failed)?;
            // Nothing is known of the format: twice the data and some more is what other steps may decode to.
            Ok(Size::AtMost(bound.unwrap_or_else(|| {
                n.saturating_mul(2).saturating_add(1 << 20)
            })))
        })
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        self.call("decode", src, CodecErrorKind::Corrupt, |bytes| {
            if bytes.len() != dst.len() {
                return Err(self.wrong_size(bytes.len(), dst.len()));
            }
            dst.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.call("decode", src, CodecErrorKind::Corrupt, |bytes| {
            if bytes.len() > max {
                return Err(self.wrong_size(bytes.len(), max));
            }
            out.clear();
            out.extend_from_slice(bytes);
            Ok(())
        })
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.call("encode", src, CodecErrorKind::Encode, |bytes| {
            out.clear();
            out.extend_from_slice(bytes);
            Ok(())
        })
    }
}
