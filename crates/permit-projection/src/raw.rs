//! What a provider sent, before any of it may be shown.

use permit_domain::ActionType;
use zeroize::Zeroize;

/// The provider's own details of one prompt.
///
/// The texts in here may hold credentials, so the type has no `Debug`, `Display`, `Clone` or
/// `Serialize`: the one way out is [`project`](crate::project). It is wiped when dropped.
///
/// ```
/// use permit_domain::ActionType;
/// use permit_projection::{RawDetails, project};
///
/// let mut raw = RawDetails::new(ActionType::Command);
/// raw.command = Some("git status".to_owned());
/// assert_eq!(project(raw).action.command.as_deref(), Some("git status"));
/// ```
#[non_exhaustive]
pub struct RawDetails {
    /// The kind of action; it decides which fields are shown.
    pub action_type: ActionType,
    /// The provider's title.
    pub title: Option<String>,
    /// What the provider or its model says about the action.
    pub description: Option<String>,
    /// The whole command. Shown for [`ActionType::Command`] only.
    pub command: Option<String>,
    /// The directory it runs in. Shown for commands and files.
    pub cwd: Option<String>,
    /// The file; several are best joined with a comma, since a line break is shown as an escape.
    /// Shown for files only.
    pub path: Option<String>,
    /// Where a network request goes. Shown, reduced, for [`ActionType::Network`] only.
    pub url: Option<String>,
    /// The MCP server's name. Shown for [`ActionType::McpTool`] only.
    pub server: Option<String>,
    /// The MCP tool's name. Shown for [`ActionType::McpTool`] only.
    pub tool: Option<String>,
    /// The tool's raw arguments. Never shown; they only tell whether a title repeats them.
    pub arguments: Option<String>,
    /// Every choice offered, in the provider's order.
    pub options: Vec<RawOption>,
    /// Values known to be secret, such as hidden environment values. They are masked wherever
    /// they occur.
    pub secrets: Vec<String>,
    /// The kinds of detail that exist and are not shown, such as `arguments` or `diff`.
    pub withheld: Vec<&'static str>,
}

impl RawDetails {
    /// Details of this type that hold nothing yet.
    #[must_use]
    pub fn new(action_type: ActionType) -> Self {
        Self {
            action_type,
            title: None,
            description: None,
            command: None,
            cwd: None,
            path: None,
            url: None,
            server: None,
            tool: None,
            arguments: None,
            options: Vec::new(),
            secrets: Vec::new(),
            withheld: Vec::new(),
        }
    }
}

impl Drop for RawDetails {
    fn drop(&mut self) {
        for text in [
            &mut self.title,
            &mut self.description,
            &mut self.command,
            &mut self.cwd,
            &mut self.path,
            &mut self.url,
            &mut self.server,
            &mut self.tool,
            &mut self.arguments,
        ] {
            text.zeroize();
        }
        self.secrets.zeroize();
    }
}

/// A choice as the provider sent it. Like [`RawDetails`] it cannot be printed, copied or sent.
pub struct RawOption {
    /// The provider's id, byte for byte.
    pub option_id: String,
    /// The provider's label.
    pub name: String,
    /// The provider's word for what it means.
    pub kind: String,
}

impl RawOption {
    /// A choice with these texts.
    #[must_use]
    pub fn new(
        option_id: impl Into<String>,
        name: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self {
            option_id: option_id.into(),
            name: name.into(),
            kind: kind.into(),
        }
    }
}

impl Drop for RawOption {
    fn drop(&mut self) {
        self.option_id.zeroize();
        self.name.zeroize();
        self.kind.zeroize();
    }
}
