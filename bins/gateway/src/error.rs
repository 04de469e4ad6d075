//! What the command line tells of a failure: what failed, why, and what to do.

use std::fmt;

/// A failure to show to the operator.
#[derive(Debug)]
pub(crate) struct Error {
    what: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(
        what: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            what: what.into(),
            cause: Some(cause.into()),
        }
    }

    pub(crate) fn plain(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            cause: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut cause = self.cause.as_deref().map(|c| c as &dyn std::error::Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
