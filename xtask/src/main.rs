//! What a developer repeats, as `cargo xtask <command>`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer reads this at the terminal"
)]

mod agents;
mod layers;
mod steps;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::steps::{StepError, cargo, run};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "What a developer repeats")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a gateway, a sidecar and a small agent that asks, and wait for your answer
    Demo {
        /// Let a real MCP client play the person, check the audit, and exit 0 or 1
        #[arg(long)]
        auto: bool,
    },
    /// Run every test that Rust and a C compiler suffice for
    Test,
    /// Check formatting and lints, warnings denied
    Lint,
    /// Check which crate uses which, what only a composition root may do, and the top level
    Layers,
    /// Install real agents from npm under the target folder and test with them
    Agents,
    /// Run everything that must hold
    Ci,
}

impl Command {
    fn run(self) -> Result<(), Box<dyn std::error::Error>> {
        match self {
            Self::Demo { auto } => demo(auto)?,
            Self::Test => test()?,
            Self::Lint => lint()?,
            Self::Layers => layers::run()?,
            Self::Agents => agents::run_all()?,
            Self::Ci => {
                layers::run()?;
                lint()?;
                test()?;
                demo(true)?;
                agents::run_all()?;
            }
        }
        Ok(())
    }
}

fn demo(auto: bool) -> Result<(), StepError> {
    programs()?;
    let arguments = ["run", "--package", "permit-tests", "--bin", "demo"];
    let auto: &[&str] = if auto { &["--", "--auto"] } else { &[] };
    run(&mut cargo(&[&arguments[..], auto].concat()))
}

fn test() -> Result<(), StepError> {
    programs()?;
    run(&mut cargo(&["test", "--workspace"]))
}

/// Builds what the demo and the end-to-end tests run, with its progress shown.
fn programs() -> Result<(), StepError> {
    let packages = ["permit-gateway", "permit-sidecar", "permit-acp"];
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    let build: Vec<_> = (["build", "--bins", "--examples"].into_iter())
        .chain(packages)
        .collect();
    run(&mut cargo(&build))
}

fn lint() -> Result<(), StepError> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--all-features"];
    run(&mut cargo(
        &[&clippy[..], &["--", "--deny", "warnings"]].concat(),
    ))
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
