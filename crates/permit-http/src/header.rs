//! Headers that may occur once.

use axum::http::{HeaderMap, header::AsHeaderName};

/// The header occurs several times, or its value is not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header is not a single value of visible ASCII")]
pub struct NotSingle;

/// The only value of a header; `None` when it is absent. Two parties that pick different ones of
/// several values would see different requests, so that several are an error.
///
/// # Errors
/// [`NotSingle`] for several values, or one that is not visible ASCII.
pub fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&str>, NotSingle> {
    let mut values = headers.get_all(name).into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(NotSingle);
    }
    value.to_str().map(Some).map_err(|_| NotSingle)
}
