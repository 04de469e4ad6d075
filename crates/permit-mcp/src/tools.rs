//! The two tools.

mod arguments;
mod describe;
mod result;

use jsonrpsee_types::ErrorObjectOwned;
use permit_domain::{OptionId, PendingId, RequestId, SessionId, TaskId};
use permit_policy::{Caller, Scope};
use permit_service::{Failure, PermissionService, ResolveRequest};
use serde_json::value::RawValue;

use crate::call::Call;
use crate::code::{INVALID_PARAMS, error};

use arguments::{Arguments, InvalidArguments};
pub(crate) use describe::describe;
pub(crate) use result::CallResult;

/// A tool of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Lists what waits.
    List,
    /// Resolves one request.
    Resolve,
}

impl Tool {
    /// Every tool, in the order in which they are listed.
    pub(crate) const ALL: [Self; 2] = [Self::List, Self::Resolve];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::List => "list_pending_agent_permissions_kandev",
            Self::Resolve => "resolve_agent_permission_kandev",
        }
    }

    /// What a credential must be made for.
    const fn scope(self) -> Scope {
        match self {
            Self::List => Scope::List,
            Self::Resolve => Scope::Resolve,
        }
    }
}

/// Why a tool did not do its work.
enum Refusal {
    Arguments(InvalidArguments),
    Failure(Failure),
}

impl From<InvalidArguments> for Refusal {
    fn from(invalid: InvalidArguments) -> Self {
        Self::Arguments(invalid)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Calls a tool by its name.
///
/// # Errors
/// An unknown name and a missing scope are errors of the protocol; all else is told in the
/// result.
pub(crate) async fn call(
    service: &PermissionService,
    call: &Call,
    name: &str,
    arguments: Option<&RawValue>,
) -> Result<CallResult, ErrorObjectOwned> {
    let tool = Tool::ALL.into_iter().find(|tool| tool.name() == name);
    let tool = tool.ok_or_else(|| error(INVALID_PARAMS, "Unknown tool."))?;
    let caller = call.take_caller()?;
    caller
        .require(tool.scope())
        .map_err(|missing| call.lacks(missing))?;
    let done = match tool {
        Tool::List => list(service, &caller, arguments, call).await,
        Tool::Resolve => resolve(service, caller, arguments, call).await,
    };
    match done {
        Ok(result) => result,
        Err(Refusal::Arguments(invalid)) => CallResult::invalid(&invalid, call.revision),
        Err(Refusal::Failure(Failure::MissingScope(missing))) => Err(call.lacks(missing)),
        Err(Refusal::Failure(Failure::Refused(refused))) => {
            tracing::debug!(tool = tool.name(), code = refused.code.as_str(), "refused");
            CallResult::refused(&refused, call.revision)
        }
    }
}

type Done = Result<Result<CallResult, ErrorObjectOwned>, Refusal>;

async fn list(
    service: &PermissionService,
    caller: &Caller,
    arguments: Option<&RawValue>,
    call: &Call,
) -> Done {
    let arguments = Arguments::read(&describe::LIST_ARGUMENTS, arguments);
    let task_id = arguments.required(0, TaskId::parse)?;
    let session_id = arguments.optional(1, SessionId::parse)?;
    arguments.finish()?;
    let listed = service.list(caller, &task_id, session_id.as_ref()).await?;
    Ok(CallResult::success(&listed, call.revision))
}

async fn resolve(
    service: &PermissionService,
    caller: Caller,
    arguments: Option<&RawValue>,
    call: &Call,
) -> Done {
    let arguments = Arguments::read(&describe::RESOLVE_ARGUMENTS, arguments);
    let request = ResolveRequest {
        task_id: arguments.required(0, TaskId::parse)?,
        session_id: arguments.required(1, SessionId::parse)?,
        request_id: arguments.required(2, RequestId::parse)?,
        pending_id: arguments.required(3, PendingId::parse)?,
        option_id: arguments.required(4, OptionId::parse)?,
    };
    arguments.finish()?;
    let resolved = service.resolve(caller, &request).await?;
    Ok(CallResult::success(&resolved, call.revision))
}
