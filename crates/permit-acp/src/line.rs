//! Lines from the agent, one message each, bounded.

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// The longest message that is read, in bytes.
pub(crate) const MAX_LINE: usize = 32 * 1024 * 1024;

pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("a message is longer than {0} bytes")]
    TooLong(usize),
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            limit,
        }
    }

    /// The next line without its end; `None` when there are no more. Lines that hold nothing are
    /// passed over.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        loop {
            let mut line = Vec::new();
            let most = u64::try_from(self.limit).unwrap_or(u64::MAX);
            let mut bounded = (&mut self.reader).take(most.saturating_add(1));
            if bounded.read_until(b'\n', &mut line).await? == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() > self.limit {
                return Err(LineError::TooLong(self.limit));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_one_by_one_and_the_last_needs_no_end() {
        let mut lines = LineReader::new(&b"{}\r\n\n \n[1]\nlast"[..], 8);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("read") {
            seen.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!(seen, ["{}\r", "[1]", "last"]);
    }

    #[tokio::test]
    async fn a_line_past_the_bound_is_an_error() {
        let mut lines = LineReader::new(&b"12345678\n123456789\n"[..], 8);
        assert_eq!(
            lines.next().await.expect("read").as_deref(),
            Some(&b"12345678"[..])
        );
        assert!(matches!(lines.next().await, Err(LineError::TooLong(8))));
    }
}
