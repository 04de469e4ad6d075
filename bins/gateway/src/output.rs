//! What the commands print: a few lines for people, or one JSON object for scripts.

#![expect(clippy::print_stderr, reason = "this is the command line's output")]

use std::io::{ErrorKind, Write as _};

use serde::Serialize;

use crate::error::Error;

/// Prints a value as JSON, or as the lines that are made for people.
pub(crate) fn print<T: Serialize>(
    json: bool,
    value: &T,
    lines: impl FnOnce(&T) -> String,
) -> Result<(), Error> {
    let text = if json {
        serde_json::to_string_pretty(value)
            .map_err(|cause| Error::new("the result cannot be shown", cause))?
    } else {
        lines(value)
    };
    match writeln!(std::io::stdout().lock(), "{}", text.trim_end()) {
        // Whoever reads it has seen enough.
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|cause| Error::new("the result cannot be printed", cause)),
    }
}

/// Tells the operator something beside the result.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// Tells why the command failed.
pub(crate) fn error(error: &Error) {
    eprintln!("error: {error}");
}
