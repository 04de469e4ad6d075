//! Agents that do as a test says.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use permit_audit::{Claimed, NoAnswer};
use permit_domain::{
    Action, ActionType, ClaimId, DeliverReply, OfferedOption, OptionId, OptionKind, PendingId,
    PromptSnapshot, RequestId, SettleReply, ToolCallId,
};
use permit_policy::{SessionGrant, SessionScope};
use permit_service::{AgentPort, Found, RuntimeUnavailable};
use time::macros::datetime;

#[derive(Default)]
pub(crate) struct Agents(Mutex<State>);

#[derive(Default)]
struct State {
    prompts: HashMap<String, Vec<PromptSnapshot>>,
    unreachable: bool,
    panics: bool,
    reply: Option<DeliverReply>,
    delivered: Vec<String>,
}

impl Agents {
    pub(crate) fn ask(&self, session_id: &str, prompt: PromptSnapshot) {
        let mut state = self.0.lock().expect("the state");
        state
            .prompts
            .entry(session_id.to_owned())
            .or_default()
            .push(prompt);
    }

    pub(crate) fn withdraw_all(&self) {
        self.0.lock().expect("the state").prompts.clear();
    }

    pub(crate) fn set_unreachable(&self) {
        self.0.lock().expect("the state").unreachable = true;
    }

    /// Makes every listing fail in a way that nobody foresaw.
    pub(crate) fn set_panics(&self) {
        self.0.lock().expect("the state").panics = true;
    }

    pub(crate) fn reply_with(&self, reply: DeliverReply) {
        self.0.lock().expect("the state").reply = Some(reply);
    }

    /// The options that were handed to a provider.
    pub(crate) fn delivered(&self) -> Vec<String> {
        self.0.lock().expect("the state").delivered.clone()
    }
}

/// A prompt that waits for `git status`, with an option to allow and one to reject.
pub(crate) fn prompt(request_id: &str) -> PromptSnapshot {
    let mut action = Action::new(ActionType::Command);
    action.description = Some("Run a command".to_owned());
    action.command = Some("git status".to_owned());
    action.cwd = Some("/workspace/project".to_owned());
    let option = |id: &str, name: &str, kind: &str| OfferedOption {
        option_id: OptionId::offered(id),
        name: name.to_owned(),
        kind: OptionKind::new(kind),
    };
    PromptSnapshot {
        request_id: RequestId::parse(request_id).expect("an id"),
        pending_id: PendingId::parse("pending").expect("an id"),
        tool_call_id: Some(ToolCallId::parse("call").expect("an id")),
        title: "Run command".to_owned(),
        action,
        options: vec![
            option("allow-once", "Allow once", "allow_once"),
            option("reject-once", "Deny", "reject_once"),
        ],
        created_at: datetime!(2026-08-11 12:00 UTC),
    }
}

#[async_trait]
impl AgentPort for Agents {
    async fn list(&self, grant: &SessionGrant) -> Result<Vec<PromptSnapshot>, RuntimeUnavailable> {
        let (unreachable, panics, prompts) = {
            let state = self.0.lock().expect("the state");
            let prompts = state.prompts.get(grant.session_id().as_str()).cloned();
            (state.unreachable, state.panics, prompts.unwrap_or_default())
        };
        assert!(!panics, "a bug");
        if unreachable {
            return Err(RuntimeUnavailable);
        }
        Ok(prompts)
    }

    async fn find(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Found, RuntimeUnavailable> {
        let prompts = self.list(grant).await?;
        let found = prompts.into_iter().find(|p| p.request_id == *request_id);
        Ok(found.map_or(Found::Gone(None), |prompt| Found::Live(Box::new(prompt))))
    }

    async fn deliver(&self, claimed: &Claimed) -> Result<DeliverReply, NoAnswer> {
        let mut state = self.0.lock().expect("the state");
        let record = claimed.record();
        state
            .prompts
            .entry(record.session_id.as_str().to_owned())
            .or_default()
            .retain(|prompt| prompt.request_id != record.request_id);
        state.delivered.push(record.option_id.as_str().to_owned());
        Ok(state.reply.unwrap_or(DeliverReply::Delivered))
    }

    async fn settle(
        &self,
        _: &dyn SessionScope,
        _: &RequestId,
        _: &ClaimId,
    ) -> Result<SettleReply, NoAnswer> {
        Err(NoAnswer)
    }

    async fn acknowledge(&self, _: &dyn SessionScope, _: &RequestId, _: &ClaimId) {}
}
