//! The front: from an HTTP request to the answer of a method.

use std::sync::Arc;

use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use permit_http::{Admitted, UnreadableBody, bearer, read_body};
use permit_policy::{Authenticator, Caller, Denied, ExternalMcpAttestor, Secret};
use serde_json::value::RawValue;

use crate::call::Call;
use crate::code::{INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, UNAUTHORIZED, error, internal};
use crate::message::{Batch, Message, Request, Unreadable, is_batch};
use crate::revision::Revision;
use crate::rpc::{Answer, Rpc};
use crate::{Limits, McpConfig, reply, revision, server};

pub(crate) struct Front {
    rpc: Rpc,
    authenticator: Arc<Authenticator>,
    attestor: ExternalMcpAttestor,
    limits: Limits,
}

/// Answers one POST. Whatever ends it early is a response, too.
pub(crate) async fn answer(State(front): State<Arc<Front>>, request: HttpRequest) -> Response {
    front.answer(request).await.unwrap_or_else(|early| *early)
}

type Early = Box<Response>;

fn early(status: StatusCode, code: i32, message: &'static str) -> Early {
    Box::new(reply::error(status, None, &error(code, message)))
}

impl Front {
    pub(crate) fn new(config: McpConfig) -> Self {
        Self {
            rpc: Rpc::new(server::methods(config.service)),
            authenticator: config.authenticator,
            attestor: config.attestor,
            limits: config.limits,
        }
    }

    async fn answer(&self, request: HttpRequest) -> Result<Response, Early> {
        let (head, body) = request.into_parts();
        if head.extensions.get::<Admitted>().is_none() {
            tracing::error!("the endpoint is mounted outside of the gate");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return Err(Box::new(reply::error(status, None, &internal())));
        }
        let secret = bearer(&head.headers);
        let caller = self.caller(secret.as_ref()).await?;
        if !is_json(&head.headers) {
            return Err(early(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                INVALID_REQUEST,
                "The content type must be application/json.",
            ));
        }
        let body = read_body(body, self.limits.body).await.map_err(unread)?;
        let text = std::str::from_utf8(&body).map_err(|_| {
            let status = StatusCode::BAD_REQUEST;
            early(status, PARSE_ERROR, "The body is not valid UTF-8.")
        })?;
        if is_batch(text) {
            return self
                .batch(&head.headers, text, caller, secret.as_ref())
                .await;
        }
        match Message::read(text).map_err(|unreadable| bad_request(&unreadable))? {
            Message::Unanswered => revision::of_header(&head.headers)
                .map(|_| reply::accepted())
                .map_err(|cause| Box::new(reply::error(StatusCode::BAD_REQUEST, None, &cause))),
            Message::Request(request) => self.single(&head.headers, &request, caller).await,
        }
    }

    async fn single(
        &self,
        headers: &HeaderMap,
        request: &Request<'_>,
        caller: Caller,
    ) -> Result<Response, Early> {
        let revision = revision::of_request(headers, request).map_err(|cause| {
            let id = Some(request.id);
            Box::new(reply::error(StatusCode::BAD_REQUEST, id, &cause))
        })?;
        let call = Arc::new(Call::new(revision, caller));
        let answer = self.rpc.call(request, Arc::clone(&call)).await;
        Ok(reply::answered(answer, revision, call.missing_scope()))
    }

    /// Answers the messages of a batch one after another.
    async fn batch(
        &self,
        headers: &HeaderMap,
        text: &str,
        caller: Caller,
        secret: Option<&Secret>,
    ) -> Result<Response, Early> {
        let refuse = |message| early(StatusCode::BAD_REQUEST, INVALID_REQUEST, message);
        let revision = revision::of_header(headers)
            .map_err(|cause| Box::new(reply::error(StatusCode::BAD_REQUEST, None, &cause)))?;
        if !revision.has_batches() {
            return Err(refuse("This protocol version has no batches."));
        }
        let Batch(elements) =
            Batch::read(text, self.limits.batch).map_err(|unreadable| bad_request(&unreadable))?;
        if elements.is_empty() {
            return Err(refuse("A batch must not be empty."));
        }
        if elements.len() > self.limits.batch {
            return Err(refuse("The batch has too many messages."));
        }
        let mut answers = Vec::new();
        let mut caller = Some(caller);
        for element in elements {
            let answer = self.element(headers, element, &mut caller, secret).await;
            answers.extend(answer.map(|answer| answer.json));
        }
        if answers.is_empty() {
            return Ok(reply::accepted());
        }
        let json = format!("[{}]", answers.join(","));
        Ok(reply::json(StatusCode::OK, json))
    }

    /// Answers one message of a batch. The first call has the caller that was authenticated with
    /// the request; each further one is authenticated anew, as if it had come alone.
    async fn element(
        &self,
        headers: &HeaderMap,
        element: &RawValue,
        caller: &mut Option<Caller>,
        secret: Option<&Secret>,
    ) -> Option<Answer> {
        let request = match Message::read(element.get()) {
            Ok(Message::Unanswered) => return None,
            Ok(Message::Request(request)) => request,
            Err(unreadable) => return Some(Answer::error(unreadable.id, &unreadable.error)),
        };
        let id = Some(request.id);
        match revision::of_request(headers, &request) {
            Ok(revision) if revision.has_batches() => {}
            Ok(_) => {
                let cause = error(INVALID_REQUEST, "This request must not be part of a batch.");
                return Some(Answer::error(id, &cause));
            }
            Err(cause) => return Some(Answer::error(id, &cause)),
        }
        let caller = match caller.take() {
            Some(caller) => caller,
            None => match self.authenticator.user(secret).await {
                Ok(principal) => self.attestor.attest(principal),
                Err(denied) => return Some(Answer::error(id, &denial(&denied))),
            },
        };
        let call = Arc::new(Call::new(Revision::V2025_03_26, caller));
        Some(self.rpc.call(&request, call).await)
    }

    async fn caller(&self, secret: Option<&Secret>) -> Result<Caller, Early> {
        match self.authenticator.user(secret).await {
            Ok(principal) => Ok(self.attestor.attest(principal)),
            Err(denied) => {
                let cause = denial(&denied);
                Err(Box::new(match denied {
                    Denied::Invalid => reply::unauthorized(&cause),
                    Denied::Unavailable(_) => reply::unavailable(&cause),
                }))
            }
        }
    }
}

fn denial(denied: &Denied) -> jsonrpsee_types::ErrorObjectOwned {
    match denied {
        Denied::Invalid => {
            tracing::info!("a request without a valid credential was refused");
            error(UNAUTHORIZED, "A valid bearer token is required.")
        }
        Denied::Unavailable(cause) => {
            tracing::error!(?cause, "a credential could not be checked");
            error(INTERNAL_ERROR, "The credential could not be checked.")
        }
    }
}

fn unread(cause: UnreadableBody) -> Early {
    let message = match cause {
        UnreadableBody::TooLarge => "The request body is too large.",
        UnreadableBody::TooSlow => "The request body did not arrive in time.",
        UnreadableBody::Broken => "The request body broke off.",
    };
    early(cause.status(), INVALID_REQUEST, message)
}

fn bad_request(unreadable: &Unreadable<'_>) -> Early {
    let status = StatusCode::BAD_REQUEST;
    Box::new(reply::error(status, unreadable.id, &unreadable.error))
}

/// Whether the one content type is JSON, with whatever parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = permit_http::single(headers, header::CONTENT_TYPE) else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
