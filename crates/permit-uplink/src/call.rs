//! Calls to the gateway.

use jsonrpsee::core::client::{ClientT as _, Error};
use jsonrpsee::core::traits::ToRpcParams;
use jsonrpsee::ws_client::{RpcService, WsClient};
use permit_link::LinkError;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// A connection to the gateway.
pub(crate) type Connection = WsClient<RpcService>;

/// One object as the only positional parameter.
pub(crate) struct One<T>(pub(crate) T);

impl<T: Serialize> ToRpcParams for One<T> {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        to_raw_value(&[self.0]).map(Some)
    }
}

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFailed {
    /// The gateway refused it.
    #[error(transparent)]
    Refused(LinkError),
    /// There is no connection, or no answer in time, or none that is understood.
    #[error("the connection broke")]
    Broken,
}

/// Makes a call whose answer says nothing but that it was taken.
pub(crate) async fn call<T: Serialize + Send>(
    connection: &Connection,
    method: &str,
    parameter: T,
) -> Result<(), CallFailed> {
    let answered = connection.request::<(), _>(method, One(parameter)).await;
    answered.map_err(|error| failure(&error))
}

/// What an error of the transport means here. Its text stays out of the logs: it may quote what
/// was sent.
pub(crate) fn failure(error: &Error) -> CallFailed {
    match error {
        Error::Call(refused) => {
            LinkError::from_code(refused.code()).map_or(CallFailed::Broken, CallFailed::Refused)
        }
        Error::Transport(_)
        | Error::RestartNeeded(_)
        | Error::ParseError(_)
        | Error::InvalidSubscriptionId
        | Error::InvalidRequestId(_)
        | Error::RequestTimeout
        | Error::Custom(_)
        | Error::HttpNotImplemented
        | Error::EmptyBatchRequest(_)
        | Error::RegisterMethod(_)
        | Error::ServiceDisconnect => CallFailed::Broken,
    }
}
