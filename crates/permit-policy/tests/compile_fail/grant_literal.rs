//! A grant's fields are private: only the authorizer writes one.

use permit_domain::{CredentialId, SessionId, TaskId, UserId};
use permit_policy::{ExecutionGrant, SessionGrant, SessionUpkeep, TaskGrant};

fn task(task_id: TaskId) -> TaskGrant {
    TaskGrant { task_id }
}

fn session(task_id: TaskId, session_id: SessionId) -> SessionGrant {
    SessionGrant {
        task_id,
        session_id,
    }
}

fn execution(
    credential_id: CredentialId,
    task_id: TaskId,
    session_id: SessionId,
    owner_id: UserId,
) -> ExecutionGrant {
    ExecutionGrant {
        credential_id,
        task_id,
        session_id,
        owner_id,
    }
}

fn upkeep(task_id: TaskId, session_id: SessionId) -> SessionUpkeep {
    SessionUpkeep {
        task_id,
        session_id,
    }
}

fn other_session(grant: SessionGrant, session_id: SessionId) -> SessionGrant {
    SessionGrant {
        session_id,
        ..grant
    }
}

fn main() {}
