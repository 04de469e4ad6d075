//! The link's methods.

use std::sync::Arc;

use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use permit_link::{ANSWER, ATTACH, Attach, DETACH, ITEM, LinkError, SYNC, UNATTACH};
use serde::de::DeserializeOwned;

use crate::connection::Connection;
use crate::link::Link;
use crate::report;

/// The method table. Every call is made on a connection that has been authenticated.
#[expect(
    clippy::expect_used,
    reason = "the five names are constants and differ, which is all that can go wrong"
)]
pub(crate) fn methods(link: Link) -> RpcModule<Link> {
    let mut module = RpcModule::new(link);
    module
        .register_subscription(
            ATTACH,
            ITEM,
            UNATTACH,
            |params, pending, link, extensions| async move {
                let called = on(&extensions).and_then(|on| Ok((on, one::<Attach>(&params)?)));
                match called {
                    Ok((connection, attach)) => link.attach(connection, attach, pending).await,
                    Err(error) => pending.reject(error).await,
                }
            },
        )
        .expect("a name of its own");
    module
        .register_async_method(SYNC, |params, link, extensions| async move {
            let (connection, sync) = (on(&extensions)?, one(&params)?);
            link.sync(connection, sync).await.map_err(refusal)
        })
        .expect("a name of its own");
    module
        .register_method(ANSWER, |params, _link, extensions| {
            let (connection, answer) = (on(extensions)?, one(&params)?);
            report::answer(&connection, answer).map_err(refusal)
        })
        .expect("a name of its own");
    module
        .register_async_method(DETACH, |params, link, extensions| async move {
            let (connection, detach) = (on(&extensions)?, one(&params)?);
            link.detach(connection, detach).await.map_err(refusal)
        })
        .expect("a name of its own");
    module
}

/// The error as it is sent.
pub(crate) fn refusal(error: LinkError) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(error.code(), error.to_string(), None::<()>)
}

fn on(extensions: &Extensions) -> Result<Arc<Connection>, ErrorObjectOwned> {
    let connection = extensions.get::<Arc<Connection>>();
    connection
        .cloned()
        .ok_or_else(|| refusal(LinkError::NotAttached))
}

fn one<T: DeserializeOwned>(params: &Params<'_>) -> Result<T, ErrorObjectOwned> {
    params.one()
}
