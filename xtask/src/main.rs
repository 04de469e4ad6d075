//! What a developer repeats, as `cargo xtask <command>`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer reads this at the terminal"
)]

mod layers;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "What a developer repeats")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks which crate uses which, what only a composition root may do, and the top level.
    Layers,
}

impl Command {
    fn run(self) -> Result<(), Box<dyn std::error::Error>> {
        match self {
            Self::Layers => layers::run()?,
        }
        Ok(())
    }
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
