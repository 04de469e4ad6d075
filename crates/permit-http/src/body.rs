//! Reading a body within bounds.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::StatusCode;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// What a surface is ready to read.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The longest body, in bytes.
    pub bytes: usize,
    /// How long a body may take to arrive.
    pub patience: Duration,
}

impl Default for BodyLimits {
    /// 1 MiB within 30 seconds.
    fn default() -> Self {
        Self {
            bytes: 1024 * 1024,
            patience: Duration::from_secs(30),
        }
    }
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableBody {
    /// It is longer than the bound.
    #[error("The request body is too large.")]
    TooLarge,
    /// It did not arrive in time.
    #[error("The request body did not arrive in time.")]
    TooSlow,
    /// It broke off.
    #[error("The request body broke off.")]
    Broken,
}

impl UnreadableBody {
    /// The status to answer with.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
        }
    }
}

/// Reads a whole body, whether its length is declared or not.
///
/// # Errors
/// [`UnreadableBody`] when it exceeds the limits or breaks off. A declared length beyond the
/// bound is refused before a byte is read.
pub async fn read_body(body: Body, limits: BodyLimits) -> Result<Bytes, UnreadableBody> {
    if body.size_hint().lower() > limits.bytes as u64 {
        return Err(UnreadableBody::TooLarge);
    }
    let whole = Limited::new(body, limits.bytes).collect();
    match tokio::time::timeout(limits.patience, whole).await {
        Err(_) => Err(UnreadableBody::TooSlow),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(cause)) if cause.is::<LengthLimitError>() => Err(UnreadableBody::TooLarge),
        Ok(Err(_)) => Err(UnreadableBody::Broken),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    const LIMITS: BodyLimits = BodyLimits {
        bytes: 8,
        patience: Duration::from_secs(5),
    };

    fn chunks(chunks: &[&'static str]) -> Body {
        let chunks: Vec<_> = chunks.iter().map(|c| Ok::<_, Infallible>(*c)).collect();
        Body::from_stream(stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_body_up_to_the_bound_is_read() {
        let read = read_body(chunks(&["1234", "5678"]), LIMITS).await;
        assert_eq!(read.as_deref(), Ok(&b"12345678"[..]));
    }

    #[tokio::test]
    async fn a_longer_body_is_too_large_with_and_without_a_declared_length() {
        let too_large = Err(UnreadableBody::TooLarge);
        assert_eq!(read_body(Body::from("123456789"), LIMITS).await, too_large);
        assert_eq!(
            read_body(chunks(&["12345", "6789"]), LIMITS).await,
            too_large
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_is_too_slow() {
        let body = Body::from_stream(stream::pending::<Result<&'static str, Infallible>>());
        assert_eq!(read_body(body, LIMITS).await, Err(UnreadableBody::TooSlow));
    }
}
