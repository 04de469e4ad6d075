//! One turn with an agent, from the first message to the last.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AGENT_METHOD_NAMES, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, SessionModeState, SetSessionModeRequest,
};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::call::CallError;
use crate::connection::Connection;
use crate::event::{AgentEvent, EventSink};

/// How long an agent may take to start and to open a session.
const STARTING: Duration = Duration::from_secs(180);

/// How long an agent may take to end a turn that was cancelled.
const CANCELLING: Duration = Duration::from_secs(5);

/// The mode in which agents that know it ask before they act.
const ASKING_MODE: &str = "default";

/// What to ask of the agent.
pub struct TurnSettings {
    /// The directory it works in; absolute.
    pub cwd: PathBuf,
    /// The mode to set. Without one, the mode `default` is set where the agent has it.
    pub mode: Option<String>,
    /// The user's message.
    pub prompt: String,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The agent is done.
    EndTurn,
    /// It was cancelled.
    Cancelled,
    /// The agent refused to go on.
    Refusal,
    /// A bound of the agent's was reached.
    MaxTokens,
    /// A bound of the agent's was reached.
    MaxTurnRequests,
    /// Something else, in the agent's words.
    Other(String),
}

/// Why a turn came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The agent does not speak version 1 of the protocol.
    #[error("the agent speaks protocol version {0}, not 1")]
    Version(u16),
    /// The agent does not have the mode that was asked for.
    #[error("the agent has no such mode")]
    NoSuchMode {
        /// Those it has.
        available: Vec<String>,
    },
    /// The agent refused or failed.
    #[error("{step}: {error}")]
    Call {
        /// The method that was called.
        step: &'static str,
        /// What went wrong.
        error: CallError,
    },
    /// The agent did not answer in time.
    #[error("{0}: the agent did not answer in time")]
    TimedOut(&'static str),
    /// The user interrupted before the turn began.
    #[error("interrupted")]
    Interrupted,
}

impl Connection {
    /// Runs one turn. Interrupting it cancels the turn and gives the agent a while to end it.
    ///
    /// # Errors
    /// [`TurnError`] when the agent fails or cannot do what is asked.
    pub async fn turn(
        &self,
        settings: TurnSettings,
        events: &EventSink,
        interrupt: &CancellationToken,
    ) -> Result<StopReason, TurnError> {
        let starting = self.start(&settings, events);
        let session = tokio::select! {
            session = starting => session?,
            () = interrupt.cancelled() => return Err(TurnError::Interrupted),
        };
        let prompt = self.prompt(&session, settings.prompt);
        tokio::pin!(prompt);
        tokio::select! {
            reason = &mut prompt => return reason,
            () = interrupt.cancelled() => {}
        }
        if self.cancel_turn(&session).is_err() {
            // An agent that cannot be told will not say that it stopped.
            return Ok(StopReason::Cancelled);
        }
        match timeout(CANCELLING, prompt).await {
            Ok(reason) => reason,
            Err(_) => Ok(StopReason::Cancelled),
        }
    }

    /// Gives the session that is ready for a prompt.
    async fn start(
        &self,
        settings: &TurnSettings,
        events: &EventSink,
    ) -> Result<String, TurnError> {
        let us = Implementation::new("permit-sidecar", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let step = AGENT_METHOD_NAMES.initialize;
        let agent: InitializeResponse = in_time(step, self.call(step, &hello)).await?;
        if agent.protocol_version != ProtocolVersion::V1 {
            return Err(TurnError::Version(agent.protocol_version.as_u16()));
        }
        let name = agent.agent_info;
        events.send(AgentEvent::Started {
            name: name.map(|agent| format!("{} {}", agent.name, agent.version)),
        });
        let step = AGENT_METHOD_NAMES.session_new;
        let new = NewSessionRequest::new(settings.cwd.clone());
        let opened: NewSessionResponse = in_time(step, self.call(step, &new)).await?;
        let session = opened.session_id.0.to_string();
        self.adopt(&session);
        self.set_mode(&session, opened.modes, settings.mode.as_deref(), events)
            .await?;
        Ok(session)
    }

    async fn set_mode(
        &self,
        session: &str,
        modes: Option<SessionModeState>,
        wanted: Option<&str>,
        events: &EventSink,
    ) -> Result<(), TurnError> {
        let available: Vec<String> = modes
            .iter()
            .flat_map(|modes| &modes.available_modes)
            .map(|mode| mode.id.0.to_string())
            .collect();
        let current = modes.map(|modes| modes.current_mode_id.0.to_string());
        let has = |mode: &str| available.iter().any(|known| known == mode);
        let target = match wanted {
            Some(mode) if !has(mode) => return Err(TurnError::NoSuchMode { available }),
            Some(mode) => Some(mode),
            None => Some(ASKING_MODE).filter(|mode| has(mode)),
        };
        let mut current = current;
        if let Some(mode) = target.filter(|mode| current.as_deref() != Some(mode)) {
            let step = AGENT_METHOD_NAMES.session_set_mode;
            let request = SetSessionModeRequest::new(session.to_owned(), mode.to_owned());
            match in_time(step, self.call::<Value>(step, &request)).await {
                Ok(_) => current = Some(mode.to_owned()),
                Err(error) if wanted.is_some() => return Err(error),
                Err(_) => events.send(AgentEvent::ModeNotSet {
                    wanted: mode.to_owned(),
                }),
            }
        }
        events.send(match current {
            Some(current) => AgentEvent::Mode { current, available },
            None => AgentEvent::NoModes,
        });
        Ok(())
    }

    async fn prompt(&self, session: &str, text: String) -> Result<StopReason, TurnError> {
        let step = AGENT_METHOD_NAMES.session_prompt;
        let request = PromptRequest::new(session.to_owned(), vec![text.into()]);
        let ended = self.call_in_turn::<Value>(step, &request, Some(session.to_owned()));
        let ended = ended
            .await
            .map_err(|error| TurnError::Call { step, error })?;
        let reason = ended.get("stopReason").and_then(Value::as_str);
        Ok(StopReason::of(reason.unwrap_or_default()))
    }
}

impl StopReason {
    fn of(reason: &str) -> Self {
        match reason {
            "end_turn" => Self::EndTurn,
            "cancelled" => Self::Cancelled,
            "refusal" => Self::Refusal,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            other => Self::Other(other.to_owned()),
        }
    }
}

async fn in_time<T>(
    step: &'static str,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, TurnError> {
    match timeout(STARTING, call).await {
        Ok(answered) => answered.map_err(|error| TurnError::Call { step, error }),
        Err(_) => Err(TurnError::TimedOut(step)),
    }
}
