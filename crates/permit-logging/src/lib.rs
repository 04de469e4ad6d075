//! How the programs log: our own events carry ids, codes, kinds, sources and results, and go to
//! standard error.
//!
//! Whatever the filter says, other crates are heard at `warn` and above only: some of them write
//! whole frames to their debug logs (invariant I10).

use std::io::IsTerminal as _;
use std::str::FromStr;

use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
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

/// Writes what is left when dropped, unless nobody reads it.
#[must_use = "the lines end with it"]
pub struct Logging(#[expect(dead_code, reason = "its drop writes what is left")] WorkerGuard);

/// Starts logging with a filter such as `info` or `permit_hub=debug`.
///
/// A thread of its own writes the lines. When they are not read as fast as they come, those over
/// a bound are dropped: a log that nobody reads stops no work.
///
/// # Errors
/// [`LogError`] when the filter cannot be read or logging has started before.
pub fn start(format: Format, filter: &str) -> Result<Logging, LogError> {
    let wanted = Targets::from_str(filter).map_err(|_| LogError::Filter)?;
    let filter = wanted.and(filter_fn(is_heard));
    let (writer, guard) = NonBlockingBuilder::default().finish(std::io::stderr());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        Format::Human => lines.with_filter(filter).boxed(),
        Format::Json => lines.json().with_filter(filter).boxed(),
    };
    let started = tracing_subscriber::registry().with(lines).try_init();
    started.map_err(|_| LogError::Started)?;
    Ok(Logging(guard))
}

/// Our own crates are heard at any level, others from `warn` on.
fn is_heard(event: &Metadata<'_>) -> bool {
    event.target().starts_with("permit_") || *event.level() <= Level::WARN
}
