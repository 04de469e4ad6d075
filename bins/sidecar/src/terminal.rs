//! What the person at the terminal sees. The agent's own lines begin with a bar, so that it
//! cannot pass off its words as the sidecar's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use permit_acp::AgentEvent;
use permit_domain::{
    Action, ActionType, DeliverReply, ExpiryReason, OptionId, OptionKind, PromptSnapshot, RequestId,
};
use permit_projection::{TextKind, redact_text, visible, visible_line};
use permit_registry::RegistryEvent;
use time::{Duration, OffsetDateTime};

/// What every line of the agent begins with.
const BAR: &str = "| ";

/// How much of a line of the agent's is held back until the line is whole, in bytes.
const LONGEST_LINE: usize = 16 * 1024;

/// Turns events into lines.
#[derive(Default)]
pub(crate) struct Terminal {
    out: String,
    /// What the agent has said of a line that it has not ended. It is shown by whole lines, since
    /// half of a credential looks like none.
    saying: String,
    waiting: BTreeMap<RequestId, Waiting>,
}

struct Waiting {
    what: String,
    options: Vec<(OptionId, String)>,
    since: OffsetDateTime,
}

impl Terminal {
    /// What has come together since the last call.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// A line of the sidecar's own.
    pub(crate) fn line(&mut self, text: &str) {
        self.finish();
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The agent says no more for now: what it has said of a line is shown.
    pub(crate) fn finish(&mut self) {
        let said = std::mem::take(&mut self.saying);
        if !said.is_empty() {
            self.said(&said);
        }
    }

    pub(crate) fn agent(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Started { name } => {
                let name = name.unwrap_or_else(|| "an agent that does not say what it is".into());
                self.line(&format!("-- {}", visible_line(&name)));
            }
            AgentEvent::Mode { current, available } => self.mode(&current, &available),
            AgentEvent::NoModes => {
                self.line("-- the agent has no modes: what it asks about is its own choice");
            }
            AgentEvent::ModeNotSet { wanted } => self.line(&format!(
                "-- the agent did not take mode {}: it may act without asking",
                visible_line(&wanted)
            )),
            AgentEvent::Text(text) => self.text(&text),
            AgentEvent::Thought(_) => {}
            AgentEvent::ToolCall(shown) => {
                let what = summary(&shown.title, &shown.action);
                self.line(&format!("* {what}"));
            }
            AgentEvent::ToolCallEnded { title, failed } => {
                let how = if failed { "not done" } else { "done" };
                self.line(&format!("* {how}: {}", visible_line(&title)));
            }
            AgentEvent::Stderr(line) => {
                let line = without_credentials(&line);
                self.line(&format!("! {}", visible_line(&line)));
            }
            AgentEvent::Stray { bytes } => {
                self.line(&format!(
                    "-- the agent wrote {bytes} bytes that are no message"
                ));
            }
            AgentEvent::Declined { method } => {
                self.line(&format!(
                    "-- declined to the agent: {}",
                    visible_line(&method)
                ));
            }
            AgentEvent::PromptRefused(why) => {
                self.line(&format!("-- a permission request was cancelled: {why}"));
            }
            AgentEvent::Missed(count) => self.line(&format!("-- {count} lines are not shown")),
        }
    }

    fn mode(&mut self, current: &str, available: &[String]) {
        let mut line = format!("-- mode {}", visible_line(current));
        if !available.is_empty() {
            let all: Vec<_> = available.iter().map(|mode| visible_line(mode)).collect();
            let _ = write!(line, " (of {})", all.join(", "));
        }
        self.line(&line);
        if !matches!(current, "default" | "read-only" | "ask") {
            self.line("-- in this mode the agent may act without asking");
        }
    }

    fn text(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.saying.push_str(piece);
            if piece.ends_with('\n') || self.saying.len() > LONGEST_LINE {
                self.finish();
            }
        }
    }

    fn said(&mut self, line: &str) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        self.out.push_str(BAR);
        self.out.push_str(&visible(&without_credentials(line)));
        self.out.push('\n');
    }

    pub(crate) fn registry(&mut self, event: RegistryEvent, now: OffsetDateTime) {
        match event {
            RegistryEvent::Opened(prompt) => self.opened(&prompt),
            RegistryEvent::Closed { request_id, reason } => self.closed(&request_id, reason, now),
            RegistryEvent::Answered {
                request_id,
                option_id,
                option_kind,
                reply,
            } => self.answered(&request_id, &option_id, &option_kind, reply, now),
        }
    }

    fn opened(&mut self, prompt: &PromptSnapshot) {
        let what = summary(&prompt.title, &prompt.action);
        self.line(&format!("? the agent waits for permission: {what}"));
        for (name, text) in fields(prompt) {
            for (at, line) in text.lines().enumerate() {
                let name = if at == 0 { name } else { "" };
                self.line(&format!("    {name:<12}{}", visible_line(line)));
            }
        }
        if !prompt.action.withheld.is_empty() {
            let kinds = visible_line(&prompt.action.withheld.join(", "));
            self.line(&format!("    {:<12}{kinds}", "not shown"));
        }
        for option in &prompt.options {
            let kind = visible_line(option.kind.as_str());
            self.line(&format!("    - {} [{kind}]", visible_line(&option.name)));
        }
        if prompt.options.is_empty() {
            self.line("    it offers no options, so it can only end by itself");
        }
        let names = prompt.options.iter();
        let waiting = Waiting {
            what,
            options: names
                .map(|option| (option.option_id.clone(), visible_line(&option.name)))
                .collect(),
            since: prompt.created_at,
        };
        self.waiting.insert(prompt.request_id.clone(), waiting);
    }

    fn closed(&mut self, request_id: &RequestId, reason: ExpiryReason, now: OffsetDateTime) {
        let Some(waited) = self.waiting.remove(request_id) else {
            return;
        };
        let why = match reason {
            ExpiryReason::Withdrawn => "the agent took it back",
            ExpiryReason::Superseded => "it goes on under a fresh request",
            ExpiryReason::TurnEnded => "the turn ended",
            ExpiryReason::ExecutionEnded => "the execution ended",
            ExpiryReason::DeliveryFailed => "the answer could not be handed over",
        };
        let age = age(now - waited.since);
        self.line(&format!(
            "? no longer waiting after {age}, {why}: {}",
            waited.what
        ));
    }

    fn answered(
        &mut self,
        request_id: &RequestId,
        option_id: &OptionId,
        kind: &OptionKind,
        reply: DeliverReply,
        now: OffsetDateTime,
    ) {
        let Some(waited) = self.waiting.remove(request_id) else {
            return;
        };
        let mut options = waited.options.iter();
        let name = options.find(|(id, _)| id == option_id);
        let name = name.map_or("an option", |(_, name)| name);
        let how = match reply {
            DeliverReply::Delivered => "",
            DeliverReply::NotWritten => ", but the agent could not be told",
            DeliverReply::Broken => ", and it is not known whether the agent was told",
            DeliverReply::Gone(_) | DeliverReply::Refused => ", too late",
        };
        let (age, kind) = (age(now - waited.since), visible_line(kind.as_str()));
        let what = &waited.what;
        self.line(&format!(
            "? answered through the gateway after {age}: {name} [{kind}]{how}: {what}"
        ));
    }

    /// Reminds of what waits.
    pub(crate) fn remind(&mut self, now: OffsetDateTime) {
        let lines: Vec<_> = self
            .waiting
            .values()
            .map(|waited| format!("? waiting for {}: {}", age(now - waited.since), waited.what))
            .collect();
        for line in lines {
            self.line(&line);
        }
    }
}

/// What an agent says may hold what its prompts do.
fn without_credentials(text: &str) -> String {
    match redact_text(text, TextKind::Prose) {
        Some((text, _)) => text,
        None => "(a line that cannot be shown)".to_owned(),
    }
}

/// One line for an action.
fn summary(title: &str, action: &Action) -> String {
    let tool = || match (&action.server, &action.tool) {
        (Some(server), Some(tool)) => Some(format!("{tool} of {server}")),
        (server, tool) => tool.clone().or_else(|| server.clone()),
    };
    let (kind, detail) = match action.action_type {
        ActionType::Command => ("command", action.command.clone()),
        ActionType::FileWrite => ("write", action.path.clone()),
        ActionType::FileRead => ("read", action.path.clone()),
        ActionType::Network => ("network", action.destination.clone()),
        ActionType::McpTool => ("MCP tool", tool()),
        ActionType::Other => ("other", None),
    };
    let mut lines = detail.as_deref().unwrap_or(title).lines();
    let first = visible_line(lines.next().unwrap_or_default());
    let more = if lines.next().is_some() { " ..." } else { "" };
    match detail {
        Some(_) => format!("{kind}: {first}{more}"),
        // A title is what the agent calls it, not what is done.
        None => format!("{first}{more} [{kind}]"),
    }
}

/// What is worth showing of a prompt beyond its summary.
fn fields(prompt: &PromptSnapshot) -> Vec<(&'static str, &str)> {
    let action = &prompt.action;
    let named = [
        ("command", action.command.as_deref()),
        ("in", action.cwd.as_deref()),
        ("file", action.path.as_deref()),
        ("to", action.destination.as_deref()),
        ("server", action.server.as_deref()),
        ("tool", action.tool.as_deref()),
        ("title", Some(prompt.title.as_str())),
    ];
    let named = named.into_iter();
    let known = action.command.as_deref();
    named
        .filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?)))
        .filter(|(name, text)| *name != "title" || Some(*text) != known)
        .collect()
}

fn age(age: Duration) -> String {
    match age.whole_seconds().max(0) {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use permit_domain::OfferedOption;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-01-01 12:00 UTC);

    fn prompt() -> PromptSnapshot {
        let mut action = Action::new(ActionType::Command);
        action.command = Some("cd /w\nmake".to_owned());
        action.cwd = Some("/w".to_owned());
        PromptSnapshot {
            request_id: RequestId::parse("r").expect("an id"),
            pending_id: permit_domain::PendingId::parse("0").expect("an id"),
            tool_call_id: None,
            title: "Build".to_owned(),
            action,
            options: vec![OfferedOption {
                option_id: OptionId::offered("a"),
                name: "Allow".to_owned(),
                kind: OptionKind::new("allow_once"),
            }],
            created_at: NOW,
        }
    }

    #[test]
    fn a_prompt_is_shown_while_it_waits_and_when_it_is_answered() {
        let mut terminal = Terminal::default();
        terminal.registry(RegistryEvent::Opened(Box::new(prompt())), NOW);
        assert_eq!(
            terminal.take(),
            "? the agent waits for permission: command: cd /w ...\n    \
             command     cd /w\n                make\n    in          /w\n    \
             title       Build\n    - Allow [allow_once]\n"
        );
        terminal.remind(NOW + Duration::seconds(75));
        assert_eq!(terminal.take(), "? waiting for 75 s: command: cd /w ...\n");
        let answered = RegistryEvent::Answered {
            request_id: prompt().request_id,
            option_id: OptionId::offered("a"),
            option_kind: OptionKind::new("allow_once"),
            reply: DeliverReply::Delivered,
        };
        terminal.registry(answered, NOW + Duration::seconds(200));
        assert_eq!(
            terminal.take(),
            "? answered through the gateway after 3 min: Allow [allow_once]: command: cd /w ...\n"
        );
        terminal.remind(NOW);
        assert_eq!(terminal.take(), "");
    }

    #[test]
    fn the_agents_words_cannot_pass_for_ours_or_steer_the_terminal() {
        let mut terminal = Terminal::default();
        terminal.agent(AgentEvent::Text("one\n? answered\u{1b}[2K".to_owned()));
        terminal.agent(AgentEvent::Text(" more".to_owned()));
        terminal.line("-- ours");
        terminal.agent(AgentEvent::Stderr("oops\u{7}".to_owned()));
        assert_eq!(
            terminal.take(),
            "| one\n| ? answered\\u{1b}[2K more\n-- ours\n! oops\\u{7}\n"
        );
    }

    #[test]
    fn a_credential_in_the_agents_words_is_masked_however_it_comes() {
        let token = format!("{}{}", "gh", "p_0123456789abcdefghij0123456789abcdef");
        let mut terminal = Terminal::default();
        let (head, tail) = token.split_at(10);
        terminal.agent(AgentEvent::Text(format!("it is {head}")));
        terminal.agent(AgentEvent::Text(format!("{tail}\n")));
        terminal.agent(AgentEvent::Stderr(format!("Authorization: Bearer {token}")));
        let shown = terminal.take();
        assert!(shown.starts_with("| it is [redacted"), "{shown}");
        assert!(!shown.contains(tail), "{shown}");
    }
}
