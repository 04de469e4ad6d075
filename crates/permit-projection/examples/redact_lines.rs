//! Redacts JSON lines: `{"field", "text"}` in, `{"text", "redacted"}` out, in order. `text` is
//! left out when the field is.

use std::io::{BufRead, Write};

use permit_projection::{TextKind, redact_text};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let kind = match input["field"].as_str() {
            Some("command") => TextKind::Command,
            Some("path" | "cwd" | "url" | "destination" | "server" | "tool") => TextKind::Plain,
            _ => TextKind::Prose,
        };
        let output = match redact_text(input["text"].as_str().unwrap_or_default(), kind) {
            Some((text, redacted)) => json!({ "text": text, "redacted": redacted }),
            None => json!({ "redacted": true }),
        };
        writeln!(out, "{output}")?;
        out.flush()?;
    }
    Ok(())
}
