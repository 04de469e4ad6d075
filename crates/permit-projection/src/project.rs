//! The allowlist: which details of an action are shown, by action type.

use permit_domain::{Action, ActionType, OfferedOption, OptionId, OptionKind};

use crate::RawDetails;

/// A prompt's presentation, safe for output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected {
    /// The title; empty when it could not be projected.
    pub title: String,
    /// What is to be done.
    pub action: Action,
    /// The choices, in the provider's order, ids untouched.
    pub options: Vec<OfferedOption>,
}

/// Turns raw details into what a person may see, and wipes them.
#[must_use]
pub fn project(raw: RawDetails) -> Projected {
    let mut action = Action::new(raw.action_type);
    match raw.action_type {
        ActionType::Command => {
            action.command.clone_from(&raw.command);
            action.cwd.clone_from(&raw.cwd);
        }
        ActionType::FileWrite | ActionType::FileRead => {
            action.path.clone_from(&raw.path);
            action.cwd.clone_from(&raw.cwd);
        }
        ActionType::McpTool => {
            action.server.clone_from(&raw.server);
            action.tool.clone_from(&raw.tool);
        }
        ActionType::Network | ActionType::Other => {}
    }
    action.withheld = raw.withheld.iter().map(|&kind| kind.to_owned()).collect();
    Projected {
        title: String::new(),
        action,
        options: raw
            .options
            .iter()
            .map(|option| OfferedOption {
                option_id: OptionId::offered(option.option_id.clone()),
                name: String::new(),
                kind: OptionKind::new(option.kind.clone()),
            })
            .collect(),
    }
}
