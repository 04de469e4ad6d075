//! What a person needs to answer by a client of theirs, or by curl.

use std::fmt::Write as _;

use permit_tests::Gateway;
use serde_json::{Value, json};

const LIST: &str = "list_pending_agent_permissions_kandev";
const RESOLVE: &str = "resolve_agent_permission_kandev";

/// Everything at a glance.
pub(crate) fn text(gateway: &Gateway) -> String {
    let url = format!("{}/mcp", gateway.url());
    let task = &gateway.owner.task_id;
    let session = &gateway.owner.session_id;
    let token = gateway.owner.token.as_deref().unwrap_or_default();
    let bearer = format!("Bearer {token}");
    let servers = json!({"mcpServers": {"permissions": {
        "type": "http", "url": url, "headers": {"Authorization": bearer}}}});
    let vs_code = json!({"servers": {"permissions": {
        "type": "http", "url": url, "headers": {"Authorization": bearer}}}});
    let gemini = json!({"mcpServers": {"permissions": {
        "httpUrl": url, "headers": {"Authorization": bearer}}}});
    let list = curl(&url, token, LIST, &json!({"task_id": task}));
    let resolve = curl(
        &url,
        token,
        RESOLVE,
        &json!({
            "task_id": task, "session_id": session, "request_id": "REQUEST_ID",
            "pending_id": "PENDING_ID", "option_id": "allow-once",
        }),
    );
    format!(
        "
An agent wants to run two commands and waits for your permission.

  MCP URL   {url}
  Token     {token}
  Task id   {task}

Claude Code:
  claude mcp add --transport http permissions {url} --header 'Authorization: {bearer}'

Cursor and others with an mcp.json:
  {servers}

VS Code, .vscode/mcp.json:
  {vs_code}

Gemini CLI, ~/.gemini/settings.json:
  {gemini}

Codex, ~/.codex/config.toml, with PERMIT_TOKEN={token} in its environment:
  [mcp_servers.permissions]
  url = \"{url}\"
  bearer_token_env_var = \"PERMIT_TOKEN\"

Then say: \"List the pending agent permissions of task {task} and ask me about each.\"

Without a client, list what waits:
  {list}

and answer with its request_id and pending_id:
  {resolve}

Waiting for your answers; Ctrl-C ends the demo.

"
    )
}

fn curl(url: &str, token: &str, tool: &str, arguments: &Value) -> String {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    format!(
        "curl -s {url} -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{message}'"
    )
}

/// The claims and refused attempts, a line each.
pub(crate) fn audit(audit: &Value) -> String {
    let mut lines = String::new();
    let rows = |field: &str| audit[field].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    for claim in rows("claims") {
        let _ = writeln!(
            lines,
            "  {} by {} ({}) through {}: {} ({}), selected {}, finalized {}",
            text(&claim["result"]),
            text(&claim["actor_user_id"]),
            text(&claim["actor_kind"]),
            text(&claim["source"]),
            text(&claim["option_id"]),
            text(&claim["option_kind"]),
            text(&claim["selected_at"]),
            text(&claim["finalized_at"]),
        );
    }
    for attempt in rows("attempts") {
        if attempt["code"].is_string() {
            let _ = writeln!(
                lines,
                "  refused: {} at {}",
                text(&attempt["code"]),
                text(&attempt["recorded_at"])
            );
        }
    }
    lines
}
