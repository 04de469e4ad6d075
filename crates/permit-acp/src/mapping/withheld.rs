//! The kinds of detail that exist and are not shown.

use permit_domain::ActionType;
use permit_projection::RawDetails;

use super::{Call, files};

pub(super) fn kinds(call: &Call<'_>, details: &RawDetails) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    if has_arguments(call, details.action_type) {
        kinds.push("arguments");
    }
    let in_files = details.action_type == ActionType::FileWrite && files::has_content(call);
    if in_files || has_text(call, details) {
        kinds.push("content");
    }
    if call.diffs().next().is_some() || call.input_text("diff").is_some() {
        kinds.push("diff");
    }
    kinds
}

/// Whether the input holds more than what is shown of it.
fn has_arguments(call: &Call<'_>, action_type: ActionType) -> bool {
    if action_type == ActionType::McpTool {
        // A tool's arguments are there even where the agent does not send them.
        return true;
    }
    let Some(input) = call.input else {
        return call.raw_input.is_some();
    };
    let hidden = |key: &str| match action_type {
        ActionType::Command => !matches!(
            key,
            "command" | "commands" | "cmd" | "argv" | "args" | "cwd" | "workdir" | "description"
        ),
        ActionType::FileWrite | ActionType::FileRead => {
            !files::is_path_key(key) && !files::is_content_key(key)
        }
        ActionType::Network => !matches!(key, "url" | "uri" | "description"),
        ActionType::McpTool | ActionType::Other => key != "description",
    };
    input.keys().any(|key| hidden(key))
}

/// Whether the content holds a text that is not shown elsewhere.
fn has_text(call: &Call<'_>, details: &RawDetails) -> bool {
    let shown = [&details.title, &details.description, &details.command];
    call.texts().any(|text| {
        let is_shown = shown.iter().any(|field| field.as_deref() == Some(text));
        let is_read = text.starts_with("[current working directory ") && details.cwd.is_some();
        let is_argument = details.arguments.as_deref() == Some(text);
        !(text.is_empty() || is_shown || is_read || is_argument)
    })
}
