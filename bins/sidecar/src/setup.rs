//! From the command line to what a run needs.

use std::path::PathBuf;
use std::sync::Arc;

use permit_acp::{AgentCommand, TurnSettings};
use permit_registry::{Limits, Registry};
use permit_system::{SystemClock, TimeOrderedIds};
use permit_uplink::{Config, InvalidGateway, Timings, Uplink};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::account::{Account, AccountError};
use crate::cli::RunArgs;
use crate::credential::{self, CredentialError};
use crate::environment;
use crate::prompt::{self, PromptError};

/// What a run needs.
pub(crate) struct Setup {
    pub(crate) registry: Registry,
    pub(crate) uplink: Uplink,
    pub(crate) agent: AgentCommand,
    pub(crate) turn: TurnSettings,
    /// What the person at the terminal should know.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error(transparent)]
    Log(#[from] permit_logging::LogError),
    #[error("cannot keep other processes from reading this one: {0}")]
    Dumpable(#[source] rustix::io::Errno),
    #[error("the runtime could not start: {0}")]
    Runtime(#[source] std::io::Error),
    #[error(transparent)]
    Credential(#[from] CredentialError),
    #[error("--gateway: {0}")]
    Gateway(#[from] InvalidGateway),
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("cannot work in {0}: {1}")]
    Cwd(PathBuf, #[source] std::io::Error),
    #[error("no agent is given")]
    NoAgent,
}

/// Keeps processes of the same account from reading this one's memory and environment. What it
/// starts is not affected.
pub(crate) fn hide_from_same_account() -> Result<(), SetupError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(SetupError::Dumpable)
}

impl Setup {
    pub(crate) fn of(args: RunArgs) -> Result<Self, SetupError> {
        let account = args.agent_user.as_deref().map(Account::find).transpose()?;
        let uid = account.as_ref().map(|account| account.uid);
        let credential = credential::read(&args.credential_file, uid)?;
        let cwd = args.cwd.unwrap_or_else(|| PathBuf::from("."));
        let cwd = std::fs::canonicalize(&cwd).map_err(|cause| SetupError::Cwd(cwd, cause))?;
        let prompt = prompt::read(args.prompt, args.prompt_file.as_deref())?;
        let (env, left_out) = environment::for_agent(
            std::env::vars_os(),
            credential.expose(),
            &args.credential_file,
            account.as_ref(),
        );
        let mut agent = args.agent.into_iter();
        let agent = AgentCommand {
            program: agent.next().ok_or(SetupError::NoAgent)?,
            args: agent.collect(),
            cwd: cwd.clone(),
            env,
            user: account.as_ref().map(Account::ids),
        };
        let registry = Registry::new(
            Limits::default(),
            Arc::new(SystemClock),
            Arc::new(TimeOrderedIds),
        );
        let config = Config {
            gateway: args.gateway,
            credential,
            timings: Timings::default(),
        };
        Ok(Self {
            uplink: Uplink::new(config, registry.clone())?,
            registry,
            agent,
            turn: TurnSettings {
                cwd,
                mode: args.mode,
                prompt,
            },
            notes: notes(account.as_ref(), left_out),
        })
    }
}

fn notes(account: Option<&Account>, left_out: usize) -> Vec<String> {
    let mut notes = Vec::new();
    match account {
        Some(account) => notes.push(format!("the agent runs as {}", account.name)),
        None => notes.push(
            "warning: the agent runs under this account, so it can read the credential file and \
             a user's token stored here, and approve its own requests; --agent-user prevents that"
                .to_owned(),
        ),
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} variables with credentials are kept from the agent"
        ));
    }
    notes
}
