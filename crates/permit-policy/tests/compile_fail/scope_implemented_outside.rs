//! The scopes are sealed: only the grants of the policy have one.

use permit_domain::{SessionId, TaskId};
use permit_policy::{SessionScope, Upkeep};

struct Mine(TaskId, SessionId);

impl SessionScope for Mine {
    fn task_id(&self) -> &TaskId {
        &self.0
    }

    fn session_id(&self) -> &SessionId {
        &self.1
    }
}

impl Upkeep for Mine {}

fn main() {}
