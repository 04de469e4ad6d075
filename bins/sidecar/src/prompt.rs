//! What to ask of the agent.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The longest prompt that is passed on, in bytes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptError {
    #[error("cannot read the prompt from {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("the prompt is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("the prompt is empty")]
    Empty,
}

/// The prompt from the command line, a file or, as `-`, standard input.
pub(crate) fn read(text: Option<String>, file: Option<&Path>) -> Result<String, PromptError> {
    let text = match (text, file) {
        (Some(text), _) => text,
        (None, Some(file)) if file == Path::new("-") => read_from(std::io::stdin(), file)?,
        (None, Some(file)) => {
            let opened = std::fs::File::open(file);
            let unreadable = |cause| PromptError::Unreadable(file.to_owned(), cause);
            read_from(opened.map_err(unreadable)?, file)?
        }
        (None, None) => String::new(),
    };
    if text.trim().is_empty() {
        return Err(PromptError::Empty);
    }
    Ok(text)
}

fn read_from(from: impl Read, file: &Path) -> Result<String, PromptError> {
    let mut text = String::new();
    let mut bounded = from.take(MAX_BYTES + 1);
    bounded
        .read_to_string(&mut text)
        .map_err(|cause| PromptError::Unreadable(file.to_owned(), cause))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(PromptError::TooLong);
    }
    Ok(text)
}
