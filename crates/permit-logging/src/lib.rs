//! How the programs log: our own events carry ids, codes, kinds, sources and results, and go to
//! standard error.
//!
//! Whatever the filter says, other crates are heard at `warn` and above only: some of them write
//! whole frames to their debug logs (invariant I10).

use std::io::IsTerminal as _;
use std::str::FromStr;

use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The shape of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            _ => Err(UnknownFormat),
        }
    }
}

/// Not a log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log format is `human` or `json`")]
pub struct UnknownFormat;

/// Why logging could not start.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter cannot be read.
    #[error("the log filter is not valid: use a level such as `info`, or `target=level` pairs")]
    Filter,
    /// Another logger is installed.
    #[error("logging has already started")]
    Started,
}

/// Starts logging with a filter such as `info` or `permit_hub=debug`.
///
/// # Errors
/// [`LogError`] when the filter cannot be read or logging has started before.
pub fn start(format: Format, filter: &str) -> Result<(), LogError> {
    let wanted = Targets::from_str(filter).map_err(|_| LogError::Filter)?;
    let filter = wanted.and(filter_fn(is_heard));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        Format::Human => lines.with_filter(filter).boxed(),
        Format::Json => lines.json().with_filter(filter).boxed(),
    };
    let started = tracing_subscriber::registry().with(lines).try_init();
    started.map_err(|_| LogError::Started)
}

/// Our own crates are heard at any level, others from `warn` on.
fn is_heard(event: &Metadata<'_>) -> bool {
    event.target().starts_with("permit_") || *event.level() <= Level::WARN
}
