//! Calls of MCP tools: the server's and the tool's name, never the arguments.

use permit_projection::RawDetails;
use serde_json::Value;

use super::Call;

pub(super) struct McpCall {
    server: Option<String>,
    tool: Option<String>,
}

impl McpCall {
    fn of(server: Option<&str>, tool: Option<&str>) -> Self {
        Self {
            server: server.map(str::to_owned),
            tool: tool.map(str::to_owned),
        }
    }

    pub(super) fn fill(self, call: &Call<'_>, details: &mut RawDetails) {
        details.server = self.server;
        details.tool = self.tool;
        details.description = None;
        details.arguments = arguments(call);
        // A title that is the arguments themselves says nothing that may be shown.
        if call.title.is_some_and(is_json) {
            details.title = None;
        }
    }
}

/// What makes a tool call one of an MCP server's, by what each agent shows of it.
pub(super) fn call(call: &Call<'_>) -> Option<McpCall> {
    from_claude(call)
        .or_else(|| from_input(call))
        .or_else(|| marked(call))
        .or_else(|| from_title(call))
        .or_else(|| from_plain_name(call))
}

/// `mcp__SERVER__TOOL` as the tool's name, and the server's own name beside it.
fn from_claude(call: &Call<'_>) -> Option<McpCall> {
    let server = || {
        let server = call.meta?.get("claudeCode")?.get("mcpServer")?;
        server.get("name")?.as_str()
    };
    let server = server();
    let named = [call.name, call.title]
        .into_iter()
        .flatten()
        .find_map(|name| name.strip_prefix("mcp__"));
    match (named, server) {
        (Some(named), server) => {
            let tool = server.and_then(|server| named.strip_prefix(server)?.strip_prefix("__"));
            match tool.map(|tool| (server, tool)) {
                Some((server, tool)) => Some(McpCall::of(server, Some(tool))),
                None => {
                    let (first, tool) = named.split_once("__")?;
                    Some(McpCall::of(server.or(Some(first)), Some(tool)))
                }
            }
        }
        (None, Some(server)) => Some(McpCall::of(Some(server), call.name)),
        (None, None) => None,
    }
}

/// `server` and `tool` in the input, when the agent says so or nothing says otherwise.
fn from_input(call: &Call<'_>) -> Option<McpCall> {
    let first = |keys: [&str; 3]| keys.iter().find_map(|key| call.input_text(key));
    let server = first(["server", "server_name", "serverName"]);
    let tool = first(["tool", "tool_name", "toolName"]);
    let told = is_marked(call) || !call.has_kind() && !super::command::is_given(call);
    match (server, tool) {
        (Some(_), tool) if told && (tool.is_some() || is_request(call)) => {
            Some(McpCall::of(server, tool))
        }
        _ => None,
    }
}

/// A server's request that waits for approval carries it whole.
fn is_request(call: &Call<'_>) -> bool {
    call.input("request").is_some_and(Value::is_object)
}

fn marked(call: &Call<'_>) -> Option<McpCall> {
    if !is_marked(call) {
        return None;
    }
    let names = call
        .title
        .and_then(|title| title.strip_prefix("mcp.")?.split_once('.'));
    Some(match names {
        Some((server, tool)) => McpCall::of(Some(server), Some(tool)),
        None => McpCall::of(None, None),
    })
}

fn is_marked(call: &Call<'_>) -> bool {
    let marks = ["is_mcp_tool_approval", "is_mcp_tool_call"];
    let metas = [Some(call.request_meta), call.meta];
    metas.into_iter().flatten().any(|meta| {
        let mut marks = marks.iter();
        marks.any(|mark| meta.get(*mark) == Some(&Value::Bool(true)))
    })
}

/// `TOOL (SERVER MCP Server)`.
fn from_title(call: &Call<'_>) -> Option<McpCall> {
    if call.has_kind() || call.raw_input.is_some() {
        return None;
    }
    let (tool, server) = call
        .title?
        .strip_suffix(" MCP Server)")?
        .rsplit_once(" (")?;
    Some(McpCall::of(Some(server), Some(tool)))
}

/// One agent names an MCP tool `SERVER_TOOL` and nothing else; where the one ends and the other
/// begins cannot be told.
fn from_plain_name(call: &Call<'_>) -> Option<McpCall> {
    let title = call.title?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let known = call.kind == Some("other")
        && call.name.is_none()
        && call.input.is_some()
        && call.locations.is_empty()
        && title.contains('_')
        && title.chars().all(word)
        && !PLAIN_TOOLS.contains(&title)
        && !super::command::is_given(call)
        && !super::files::is_given(call);
    known.then(|| McpCall::of(None, Some(title)))
}

/// The same agent's own tools and questions whose names look alike.
const PLAIN_TOOLS: [&str; 4] = ["external_directory", "doom_loop", "plan_enter", "plan_exit"];

fn arguments(call: &Call<'_>) -> Option<String> {
    let input = call.raw_input.map(|input| {
        let inner = input.get("arguments").or_else(|| input.get("args"));
        inner.unwrap_or(input).to_string()
    });
    input.or_else(|| call.texts().find(|text| is_json(text)).map(str::to_owned))
}

fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    (text.starts_with('{') || text.starts_with('['))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
