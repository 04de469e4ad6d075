//! The allowlist: which details of an action are shown, by action type.

use std::panic::{AssertUnwindSafe, catch_unwind};

use permit_domain::{Action, ActionType, OfferedOption, OptionId, OptionKind};

use crate::bound::bound;
use crate::destination;
use crate::escape::{Lines, escape};
use crate::mcp_title;
use crate::redact::{Reading, Redactor};
use crate::{Marked, RawDetails, RawOption};

/// The most bytes of one text that are shown.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The most bytes of one option's name that are shown.
pub const MAX_NAME_BYTES: usize = 1024;
/// The most bytes of one text that are looked at; a larger one is left out.
pub const MAX_RAW_BYTES: usize = 1024 * 1024;

/// What `withheld` says when a mask in a command covers more than plain characters: what it hides
/// could run, should the command hand it to a shell, and cannot be judged.
const MASKED_SYNTAX: &str = "masked text that holds shell syntax";

/// A prompt's presentation, safe for output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected {
    /// The title; empty when it could not be projected.
    pub title: String,
    /// What is to be done.
    pub action: Action,
    /// The choices, in the provider's order, ids untouched. One whose id holds a credential is
    /// left out, and `action.withheld` says so.
    pub options: Vec<OfferedOption>,
}

/// Turns raw details into what a person may see, and wipes them.
///
/// Never fails as a whole: a text that cannot be projected is left out alone, and
/// `action.withheld` names it.
#[must_use]
pub fn project(mut raw: RawDetails) -> Projected {
    let mut projection = Projection::new(&raw);
    let fields = Shown::of(&mut raw);
    let title = projection.field(
        "title",
        fields.title.as_deref(),
        Reading::Prose,
        Lines::Many,
    );
    let description = match &fields.description {
        Some(text) => projection.field("description", Some(text), Reading::Prose, Lines::Many),
        None => None,
    };
    let command = projection.field(
        "command",
        fields.command.as_deref(),
        Reading::Command,
        Lines::Many,
    );
    let plain = |projection: &mut Projection, name, text: &Option<String>| {
        projection.field(name, text.as_deref(), Reading::Plain, Lines::One)
    };
    let cwd = plain(&mut projection, "cwd", &fields.cwd);
    let path = plain(&mut projection, "path", &fields.path);
    let server = plain(&mut projection, "server", &fields.server);
    let tool = plain(&mut projection, "tool", &fields.tool);
    let destination = fields
        .url
        .as_deref()
        .and_then(|url| projection.destination(url));
    let options = projection.options(&raw.options);

    let mut withheld: Vec<String> = Vec::new();
    let kinds = raw
        .withheld
        .iter()
        .chain(&fields.hidden)
        .map(|&kind| kind.to_owned());
    for kind in kinds.chain(projection.withheld) {
        if !withheld.contains(&kind) {
            withheld.push(kind);
        }
    }
    let ours = sentence(raw.action_type).to_owned();
    Projected {
        title: title.unwrap_or_default(),
        action: Action {
            description: description.or(Some(ours)),
            command,
            cwd,
            path,
            destination,
            server,
            tool,
            redacted: projection.redacted,
            escaped: projection.escaped,
            truncated: projection.truncated,
            withheld,
            ..Action::new(raw.action_type)
        },
        options,
    }
}

fn sentence(action_type: ActionType) -> &'static str {
    match action_type {
        ActionType::Command => "Run a command",
        ActionType::FileWrite => "Write a file",
        ActionType::FileRead => "Read a file",
        ActionType::Network => "Make a network request",
        ActionType::McpTool => "Call an MCP tool",
        ActionType::Other => "Other action",
    }
}

/// The raw texts that this type of action shows; the names of those that it hides.
struct Shown {
    title: Option<String>,
    description: Option<String>,
    command: Option<String>,
    cwd: Option<String>,
    path: Option<String>,
    url: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    hidden: Vec<&'static str>,
}

impl Shown {
    fn of(raw: &mut RawDetails) -> Self {
        use ActionType as T;
        let title = match raw.action_type {
            T::McpTool => mcp_title::safe(raw),
            T::Command | T::FileWrite | T::FileRead | T::Network | T::Other => raw.title.take(),
        };
        let action_type = raw.action_type;
        let mut hidden = Vec::new();
        let mut allow = |name, text: &mut Option<String>, types: &[ActionType]| {
            if types.contains(&action_type) {
                return text.take();
            }
            if text.as_ref().is_some_and(|text| !text.is_empty()) {
                hidden.push(name);
            }
            None
        };
        let files = [T::FileWrite, T::FileRead];
        let described = [T::Command, T::FileWrite, T::FileRead, T::Network, T::Other];
        let placed = [T::Command, T::FileWrite, T::FileRead];
        Self {
            title,
            description: allow("description", &mut raw.description, &described)
                .filter(|text| !text.trim().is_empty()),
            command: allow("command", &mut raw.command, &[T::Command]),
            cwd: allow("cwd", &mut raw.cwd, &placed),
            path: allow("path", &mut raw.path, &files),
            url: allow("url", &mut raw.url, &[T::Network]),
            server: allow("server", &mut raw.server, &[T::McpTool]),
            tool: allow("tool", &mut raw.tool, &[T::McpTool]),
            hidden: {
                allow("arguments", &mut raw.arguments, &[]);
                hidden
            },
        }
    }
}

/// One prompt's redactor, and what its texts have come to so far.
struct Projection {
    redactor: Option<Redactor>,
    redacted: bool,
    escaped: bool,
    truncated: u64,
    withheld: Vec<String>,
}

impl Projection {
    fn new(raw: &RawDetails) -> Self {
        let texts = [
            (&raw.title, Reading::Prose),
            (&raw.description, Reading::Prose),
            (&raw.command, Reading::Command),
            (&raw.cwd, Reading::Plain),
            (&raw.path, Reading::Plain),
            (&raw.url, Reading::Plain),
            (&raw.server, Reading::Plain),
            (&raw.tool, Reading::Plain),
            (&raw.arguments, Reading::Plain),
        ];
        let own = texts
            .into_iter()
            .filter_map(|(text, reading)| Some((text.as_deref()?, reading)));
        let names = raw
            .options
            .iter()
            .map(|option| (option.name.as_str(), Reading::Prose));
        let all = own
            .chain(names)
            .filter(|(text, _)| text.len() <= MAX_RAW_BYTES);
        let secrets = raw.secrets.iter().map(String::as_str);
        Self {
            redactor: guarded(|| Some(Redactor::learn(secrets, all))),
            redacted: false,
            escaped: false,
            truncated: 0,
            withheld: Vec::new(),
        }
    }

    fn field(
        &mut self,
        name: &str,
        text: Option<&str>,
        reading: Reading,
        lines: Lines,
    ) -> Option<String> {
        let text = text?;
        if text.len() > MAX_RAW_BYTES {
            self.leave_out(format!("{name} (too large)"));
            return None;
        }
        let redactor = self.redactor.as_ref();
        let mut over_syntax = false;
        let shown = guarded(|| {
            let done = redactor?.redact(text, reading)?;
            over_syntax = done.over_syntax && reading == Reading::Command;
            finish(done.marked, done.redacted, lines, MAX_TEXT_BYTES)
        });
        if shown.is_none() {
            self.leave_out(format!("{name} (unreadable)"));
        } else if over_syntax {
            self.withheld.push(MASKED_SYNTAX.to_owned());
        }
        self.count(shown)
    }

    fn destination(&mut self, url: &str) -> Option<String> {
        if url.len() > MAX_RAW_BYTES {
            self.leave_out("destination (too large)".to_owned());
            return None;
        }
        let redactor = self.redactor.as_ref();
        let shown = guarded(|| {
            let parts = destination::parts(url)?;
            let marked = redactor?.redact(&parts.join(), Reading::Plain)?.marked;
            let redacted = redactor?.finds_in(url, Reading::Plain);
            finish(marked, redacted, Lines::One, MAX_TEXT_BYTES)
        });
        if shown.is_none() {
            self.leave_out("destination (unreadable)".to_owned());
        }
        self.count(shown)
    }

    fn options(&mut self, raw: &[RawOption]) -> Vec<OfferedOption> {
        let mut offered = Vec::with_capacity(raw.len());
        let mut left_out = 0;
        for option in raw {
            match self.option(option) {
                Some(option) => offered.push(option),
                None => left_out += 1,
            }
        }
        match left_out {
            0 => {}
            1 => self.leave_out("option".to_owned()),
            _ => self.leave_out(format!("{left_out} options")),
        }
        offered
    }

    /// An id is identity: it is offered as it is, or the option is not.
    fn option(&mut self, raw: &RawOption) -> Option<OfferedOption> {
        let redactor = self.redactor.as_ref()?;
        let id = raw.option_id.as_str();
        let clean = id.len() <= MAX_RAW_BYTES
            && guarded(|| Some(!redactor.finds_in(id, Reading::Prose))) == Some(true);
        if !clean {
            return None;
        }
        let kind_clean = raw.kind.len() <= MAX_NAME_BYTES
            && guarded(|| Some(!redactor.finds_in(&raw.kind, Reading::Prose))) == Some(true);
        let kind = if kind_clean {
            raw.kind.as_str()
        } else {
            "other"
        };
        let name = (raw.name.len() <= MAX_RAW_BYTES)
            .then(|| {
                guarded(|| {
                    let done = redactor.redact(&raw.name, Reading::Prose)?;
                    finish(done.marked, done.redacted, Lines::One, MAX_NAME_BYTES)
                })
            })
            .flatten();
        if name.is_none() {
            self.leave_out("option name".to_owned());
        }
        Some(OfferedOption {
            option_id: OptionId::offered(id),
            name: self.count(name).unwrap_or_default(),
            kind: OptionKind::new(kind),
        })
    }

    /// What was left out may have held a credential.
    fn leave_out(&mut self, what: String) {
        self.redacted = true;
        self.withheld.push(what);
    }

    fn count(&mut self, shown: Option<Finished>) -> Option<String> {
        let shown = shown?;
        self.redacted |= shown.redacted;
        self.escaped |= shown.escaped;
        self.truncated = self.truncated.saturating_add(shown.left_out);
        Some(shown.text)
    }
}

struct Finished {
    text: String,
    redacted: bool,
    escaped: bool,
    left_out: u64,
}

/// Escapes and bounds what is already redacted, in this order.
fn finish(marked: Marked, redacted: bool, lines: Lines, limit: usize) -> Option<Finished> {
    let (marked, escaped) = escape(marked, lines);
    let (text, left_out) = bound(marked, limit)?;
    Some(Finished {
        text,
        redacted,
        escaped,
        left_out,
    })
}

/// A defect in here costs the text it happened on, never the prompt and never a raw text.
fn guarded<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}
