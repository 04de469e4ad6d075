//! The durable record of a task.

use std::collections::HashMap;
use std::fmt::Write as _;

use permit_domain::{Attempt, ClaimRecord, Message, TaskId};
use permit_sqlite::AuditCursor;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::records::id;
use super::{Desk, refused};
use crate::cli::AuditCommand;
use crate::error::Error;
use crate::output;

/// How many rows of each kind are read at a time.
const PAGE: usize = 500;

#[derive(Serialize)]
struct Audit {
    task_id: TaskId,
    messages: Vec<Message>,
    claims: Vec<ClaimRecord>,
    attempts: Vec<Attempt>,
}

pub(crate) async fn run(command: AuditCommand) -> Result<(), Error> {
    let AuditCommand::Show { common, task } = command;
    let desk = Desk::open(&common)?;
    let mut audit = Audit {
        task_id: id("task", task, TaskId::parse)?,
        messages: Vec::new(),
        claims: Vec::new(),
        attempts: Vec::new(),
    };
    let mut cursor = AuditCursor::default();
    loop {
        let page = desk
            .store
            .audit_of_task(&desk.grant, &audit.task_id, &cursor, PAGE)
            .await
            .map_err(refused("the audit cannot be shown"))?;
        audit.messages.extend(page.messages);
        audit.claims.extend(page.claims);
        audit.attempts.extend(page.attempts);
        match page.next {
            Some(next) => cursor = next,
            None => break,
        }
    }
    output::print(desk.json, &audit, lines)
}

fn lines(audit: &Audit) -> String {
    let mut attempts: HashMap<_, Vec<&Attempt>> = HashMap::new();
    for attempt in &audit.attempts {
        let request = (&attempt.session_id, &attempt.request_id);
        attempts.entry(request).or_default().push(attempt);
    }
    let mut text = String::new();
    for message in &audit.messages {
        let _ = writeln!(
            text,
            "{}  request {:?}  session {}  {}  {:?}",
            time(message.created_at),
            message.request_id.as_str(),
            message.session_id,
            status(message),
            what(message),
        );
        let request = (&message.session_id, &message.request_id);
        for attempt in attempts.get(&request).into_iter().flatten() {
            let _ = writeln!(text, "    {}", line(attempt));
        }
    }
    if text.is_empty() {
        "no permission requests".clone_into(&mut text);
    }
    text
}

fn status(message: &Message) -> String {
    let status = message.status.as_str();
    match message.expiry_reason {
        Some(reason) => format!("{status} ({})", reason.as_str()),
        None => status.to_owned(),
    }
}

/// What was asked for, in the one text that says most of it.
fn what(message: &Message) -> &str {
    let action = message.action.as_ref();
    let shown = action.and_then(|action| {
        let command = action.command.as_ref().or(action.path.as_ref());
        command
            .or(action.destination.as_ref())
            .or(action.tool.as_ref())
    });
    shown.unwrap_or(&message.title)
}

fn line(attempt: &Attempt) -> String {
    let mut line = format!("{}  {}", time(attempt.recorded_at), attempt.result.as_str());
    if let Some(code) = attempt.code {
        let _ = write!(line, "  refused: {code}");
    }
    if let Some(kind) = &attempt.option_kind {
        // What a provider calls its options may hold anything: shown escaped.
        let option = attempt.option_id.as_ref().map_or("", |id| id.as_str());
        let _ = write!(line, "  option {option:?} ({:?})", kind.as_str());
    }
    if let (Some(user), Some(kind), Some(source)) =
        (&attempt.actor_user_id, attempt.actor_kind, attempt.source)
    {
        let _ = write!(
            line,
            "  by {user} ({}) through {}",
            kind.as_str(),
            source.as_str()
        );
    }
    line
}

fn time(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
