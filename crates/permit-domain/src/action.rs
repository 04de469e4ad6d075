//! What a person is shown of an action: an allowlist by action type.

use serde::{Deserialize, Serialize};

/// The kind of action that waits for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionType {
    /// A shell command.
    Command,
    /// Writing, moving or deleting a file.
    FileWrite,
    /// Reading a file.
    FileRead,
    /// A request over the network.
    Network,
    /// A tool of an MCP server.
    McpTool,
    /// Anything else.
    Other,
}

/// The public presentation of an action (contract: API surface).
///
/// Every text in it has been redacted, escaped and bounded by the projection. A field that is
/// absent does not apply, was not supplied, or could not be projected safely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The kind of action.
    #[serde(rename = "type")]
    pub action_type: ActionType,
    /// A short sentence of our own or, where it adds something, the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The whole command, for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The directory the command runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The file that is read or written, without its contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where a network request goes, without headers, user information and secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// The MCP server's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The MCP tool's name, without its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether any text of the prompt was changed to protect a credential.
    pub redacted: bool,
    /// Whether invisible or control characters are shown as escapes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escaped: bool,
    /// How many bytes bounds left out of the texts; absent when none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub truncated: u64,
    /// The kinds of detail that exist and are not shown, such as `arguments`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

impl Action {
    /// An action of this type that shows nothing yet.
    #[must_use]
    pub fn new(action_type: ActionType) -> Self {
        Self {
            action_type,
            description: None,
            command: None,
            cwd: None,
            path: None,
            destination: None,
            server: None,
            tool: None,
            redacted: false,
            escaped: false,
            truncated: 0,
            withheld: Vec::new(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_something_is_serialized() {
        let mut action = Action::new(ActionType::Command);
        action.command = Some("git status".to_owned());
        assert_eq!(
            serde_json::to_string(&action).expect("json"),
            r#"{"type":"command","command":"git status","redacted":false}"#
        );
    }
}
