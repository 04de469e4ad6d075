//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use permit_logging::Format;

/// Runs a coding agent and lets its permission prompts be answered through a gateway.
#[derive(Parser)]
#[command(name = "permit-sidecar", version, about, after_help = crate::exit::HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start an ACP agent, give it one prompt, and hold its permission prompts until they are
    /// answered
    #[command(after_help = crate::exit::HELP)]
    Run(RunArgs),
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The gateway's address, such as `ws://127.0.0.1:7878`; off this machine only `wss://`
    #[arg(long, value_name = "URL", env = "PERMIT_GATEWAY")]
    pub(crate) gateway: String,

    /// The file that holds this session's execution credential; nobody but its owner may have
    /// access to it
    #[arg(long, value_name = "FILE", env = "PERMIT_CREDENTIAL_FILE")]
    pub(crate) credential_file: PathBuf,

    /// The directory the agent works in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The agent's mode [default: `default`, where the agent has it, in which agents ask first]
    #[arg(long, value_name = "NAME")]
    pub(crate) mode: Option<String>,

    /// What to ask of the agent
    #[arg(long, value_name = "TEXT", required_unless_present = "prompt_file")]
    pub(crate) prompt: Option<String>,

    /// The file that holds what to ask of the agent; `-` is standard input
    #[arg(long, value_name = "PATH", conflicts_with = "prompt")]
    pub(crate) prompt_file: Option<PathBuf>,

    /// The account to run the agent under, so that it cannot read the credential; needs root
    #[arg(long, value_name = "USER")]
    pub(crate) agent_user: Option<String>,

    /// How log lines look: `human` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) log_format: Format,

    /// Log more; twice for debugging
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// The agent's command line
    #[arg(last = true, required = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
}

impl RunArgs {
    pub(crate) fn log_filter(&self) -> &'static str {
        match self.verbose {
            0 => "warn",
            1 => "info",
            _ => "debug",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_prompt_is_needed_and_the_agent_keeps_its_own_flags() {
        let base = [
            "permit-sidecar",
            "run",
            "--gateway",
            "ws://g",
            "--credential-file",
            "c",
        ];
        let parse = |more: &[&str]| Cli::try_parse_from(base.iter().chain(more));
        assert!(parse(&["--", "agent"]).is_err());
        assert!(parse(&["--prompt", "a"]).is_err());
        assert!(parse(&["--prompt", "a", "--prompt-file", "-", "--", "agent"]).is_err());
        let cli = parse(&["--prompt", "a", "--", "agent", "--acp", "-v"]).expect("valid");
        let Command::Run(args) = cli.command;
        assert_eq!(args.agent, ["agent", "--acp", "-v"]);
        assert_eq!(args.verbose, 0);
    }
}
