//! `permit-sidecar`: runs a coding agent, holds its permission prompts, and carries the answers
//! that come through the gateway back to it.

mod account;
mod cli;
mod credential;
mod environment;
mod exit;
mod prompt;
mod run;
mod screen;
mod setup;
mod terminal;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use permit_logging::Logging;
use tokio::runtime::{Builder, Runtime};

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::setup::{Setup, SetupError};

/// How long what is left may take at the end.
const LEAVING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let Command::Run(args) = Cli::parse().command;
    match prepare(args) {
        Ok((setup, runtime, _logging)) => {
            let exit = runtime.block_on(run::run(setup));
            // A write to a terminal or a pipe that nobody reads is not waited for.
            runtime.shutdown_timeout(LEAVING);
            exit.into()
        }
        Err(error) => {
            screen::error(&error.to_string());
            Exit::Failed.into()
        }
    }
}

/// Everything that can be wrong before there is an agent.
fn prepare(args: cli::RunArgs) -> Result<(Setup, Runtime, Logging), SetupError> {
    let logging = permit_logging::start(args.log_format, args.log_filter())?;
    setup::hide_from_same_account()?;
    let setup = Setup::of(args)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(SetupError::Runtime)?;
    Ok((setup, runtime, logging))
}
