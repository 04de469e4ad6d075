//! `permit-gateway`: where a person answers the permission prompts of coding agents.
//!
//! Exit codes: 0 done, 1 failed, 2 the command line is not valid.

mod admin;
mod cli;
mod config;
mod error;
mod output;
mod serve;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::error::Error;

/// How long what is left may take at the end.
const LEAVING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(run(cli));
            // A write to a terminal or a pipe that nobody reads is not waited for.
            runtime.shutdown_timeout(LEAVING);
            result
        }
        Err(cause) => Err(Error::new("the runtime could not start", cause)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Serve(args) => serve::run(args).await,
        Command::Admin(command) => admin::run(command).await,
    }
}
