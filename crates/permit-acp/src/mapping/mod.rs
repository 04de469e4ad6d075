//! What an agent calls an action, in the six types that are shown.
//!
//! Agents differ in what they put where; this reads every shape that is known and falls back to
//! showing less. What a model wrote about a command never takes the command's place.

mod command;
mod files;
mod mcp;
mod network;
mod withheld;

use permit_domain::ActionType;
use permit_projection::RawDetails;
use serde_json::{Map, Value};

use crate::permission::{PermissionRequest, into_object};
use crate::tool_calls::ToolCalls;

/// The raw details of one permission request, from the parameters of `session/request_permission`
/// and the updates on the same tool call that came before it.
#[must_use]
pub fn map_request(earlier: Vec<Value>, params: Value) -> RawDetails {
    let mut known = ToolCalls::default();
    for update in earlier {
        known.update("", "", into_object(update), 0);
    }
    let request = PermissionRequest::of(params);
    let options = request.options();
    let tool_call = known.merged("", Some(""), request.tool_call);
    let mut details = map_tool_call(&tool_call, &request.meta);
    details.options = options;
    details
}

/// The raw details of a tool call; `meta` is the request's own.
pub(crate) fn map_tool_call(
    tool_call: &Map<String, Value>,
    meta: &Map<String, Value>,
) -> RawDetails {
    let call = Call::of(tool_call, meta);
    let mut details = details(&call);
    details.withheld = withheld::kinds(&call, &details);
    details
}

fn details(call: &Call<'_>) -> RawDetails {
    let mcp = mcp::call(call);
    let action_type = match &mcp {
        Some(_) => ActionType::McpTool,
        None => action_type(call),
    };
    let mut details = RawDetails::new(action_type);
    details.title = call.title.map(str::to_owned);
    details.description = call.input_text("description").map(str::to_owned);
    match action_type {
        ActionType::Command => command::fill(call, &mut details),
        ActionType::FileWrite | ActionType::FileRead => files::fill(call, &mut details),
        ActionType::Network => details.url = network::url(call),
        ActionType::McpTool => {
            if let Some(mcp) = mcp {
                mcp.fill(call, &mut details);
            }
        }
        ActionType::Other => {}
    }
    details
}

/// By the kind that the agent gives; where it gives none, by the tool's name and by the shape.
fn action_type(call: &Call<'_>) -> ActionType {
    let runs_command = command::is_given(call);
    match call.kind {
        Some("execute") => ActionType::Command,
        Some("edit" | "delete" | "move") => ActionType::FileWrite,
        Some("fetch") => ActionType::Network,
        Some("read" | "search") if runs_command && !files::is_given(call) => ActionType::Command,
        Some("read" | "search") => ActionType::FileRead,
        _ => by_name(call.name).unwrap_or_else(|| by_shape(call, runs_command)),
    }
}

fn by_name(name: Option<&str>) -> Option<ActionType> {
    match name?.to_ascii_lowercase().as_str() {
        "bash" | "shell" | "run_shell_command" | "exec_command" | "execute" => {
            Some(ActionType::Command)
        }
        "write" | "edit" | "multiedit" | "notebookedit" | "write_file" | "replace"
        | "apply_patch" => Some(ActionType::FileWrite),
        "read" | "glob" | "grep" | "ls" | "read_file" => Some(ActionType::FileRead),
        "webfetch" | "websearch" | "web_fetch" | "web_search" | "fetch" => {
            Some(ActionType::Network)
        }
        _ => None,
    }
}

fn by_shape(call: &Call<'_>, runs_command: bool) -> ActionType {
    if runs_command && !files::is_change(call) {
        ActionType::Command
    } else if files::is_change(call) {
        ActionType::FileWrite
    } else if call.input_text("url").is_some() {
        ActionType::Network
    } else {
        ActionType::Other
    }
}

/// The parts of a tool call that matter here.
struct Call<'a> {
    id: Option<&'a str>,
    title: Option<&'a str>,
    kind: Option<&'a str>,
    name: Option<&'a str>,
    input: Option<&'a Map<String, Value>>,
    raw_input: Option<&'a Value>,
    content: &'a [Value],
    locations: &'a [Value],
    meta: Option<&'a Map<String, Value>>,
    request_meta: &'a Map<String, Value>,
}

impl<'a> Call<'a> {
    fn of(tool_call: &'a Map<String, Value>, request_meta: &'a Map<String, Value>) -> Self {
        let text = |key: &str| {
            let text = tool_call.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let items = |key: &str| tool_call.get(key).and_then(Value::as_array);
        let meta = tool_call.get("_meta").and_then(Value::as_object);
        let claude_name = || meta?.get("claudeCode")?.get("toolName")?.as_str();
        let raw_input = tool_call.get("rawInput").filter(|input| !input.is_null());
        Self {
            id: text("toolCallId"),
            title: text("title"),
            kind: text("kind"),
            name: text("name").or_else(claude_name),
            input: raw_input.and_then(Value::as_object),
            raw_input,
            content: items("content").map_or(&[], Vec::as_slice),
            locations: items("locations").map_or(&[], Vec::as_slice),
            meta,
            request_meta,
        }
    }

    fn input(&self, key: &str) -> Option<&'a Value> {
        self.input?.get(key)
    }

    fn input_text(&self, key: &str) -> Option<&'a str> {
        let text = self.input(key)?.as_str()?;
        (!text.is_empty()).then_some(text)
    }

    /// Whether the agent says what kind of tool it is, beyond "other".
    fn has_kind(&self) -> bool {
        self.kind.is_some_and(|kind| kind != "other")
    }

    /// The texts among the content.
    fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.content
            .iter()
            .filter_map(|item| item.get("content")?.get("text")?.as_str())
    }

    /// The file changes among the content.
    fn diffs(&self) -> impl Iterator<Item = &'a Value> {
        let diffs = self.content.iter();
        diffs.filter(|item| item.get("type").and_then(Value::as_str) == Some("diff"))
    }
}
