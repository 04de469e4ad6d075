//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use permit_logging::Format;
use permit_policy::Scope;

/// The gateway of live agent permissions: an MCP endpoint where a person's client lists and
/// answers what coding agents ask, the link for the agents' sidecars, and the durable audit.
#[derive(Debug, Parser)]
#[command(name = "permit-gateway", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the MCP endpoint at /mcp and the sidecars' link at /link
    Serve(ServeArgs),
    #[command(flatten)]
    Admin(AdminCommand),
}

/// Each setting comes from its flag, else from its `PERMIT_*` variable, else from the
/// configuration file, else from its default.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on [default: 127.0.0.1:7878]
    #[arg(long, env = "PERMIT_LISTEN", value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// The database file; made if it does not exist [default: permit.db]
    #[arg(long, env = "PERMIT_DATABASE", value_name = "PATH")]
    pub(crate) database: Option<PathBuf>,
    /// Whether users must present a token; `disabled` works on loopback only [default: required]
    #[arg(long, env = "PERMIT_AUTH", value_name = "MODE")]
    pub(crate) auth: Option<AuthMode>,
    /// A host name that clients may use for this gateway, besides the loopback names; repeatable
    #[arg(
        long = "allow-host",
        env = "PERMIT_ALLOW_HOST",
        value_name = "HOST[:PORT]",
        value_delimiter = ','
    )]
    pub(crate) allow_hosts: Vec<String>,
    /// An origin that browsers may call from; repeatable
    #[arg(
        long = "allow-origin",
        env = "PERMIT_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub(crate) allow_origins: Vec<String>,
    /// Log lines for people or as JSON [default: human]
    #[arg(long, env = "PERMIT_LOG_FORMAT", value_name = "human|json")]
    pub(crate) log_format: Option<Format>,
    /// What to log, such as `info` or `permit_hub=debug` [default: info]
    #[arg(long, env = "PERMIT_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// A TOML file with any of these settings, by their long names
    #[arg(long, env = "PERMIT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuthMode {
    /// Every user presents a personal access token
    Required,
    /// Every caller is the one synthetic user
    Disabled,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Make user, workspace, task, session, token and sidecar credential in one go
    Quickstart(QuickstartArgs),
    /// Users
    #[command(subcommand)]
    User(UserCommand),
    /// Personal access tokens for the MCP endpoint
    #[command(subcommand)]
    Token(TokenCommand),
    /// Workspaces: what users own and tasks belong to
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Tasks
    #[command(subcommand)]
    Task(TaskCommand),
    /// Sessions of tasks
    #[command(subcommand)]
    Session(SessionCommand),
    /// Credentials for sidecars
    #[command(subcommand)]
    Execution(ExecutionCommand),
    /// The durable record of who chose what, when and how it ended
    #[command(subcommand)]
    Audit(AuditCommand),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// The database file
    #[arg(
        long,
        env = "PERMIT_DATABASE",
        value_name = "PATH",
        default_value = "permit.db"
    )]
    pub(crate) database: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct QuickstartArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The user's name
    #[arg(long, default_value = "owner", value_name = "NAME")]
    pub(crate) user: String,
    /// For a gateway that serves with this mode: with `disabled` the synthetic user owns the task
    /// and no token is made
    #[arg(
        long,
        env = "PERMIT_AUTH",
        default_value = "required",
        value_name = "MODE"
    )]
    pub(crate) auth: AuthMode,
    /// Write the sidecar's credential to this file, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    pub(crate) credential_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user and print its id
    Add {
        #[command(flatten)]
        common: Common,
        /// The user's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it, this once
    Create {
        #[command(flatten)]
        common: Common,
        /// The user it acts for
        #[arg(long, value_name = "ID")]
        user: String,
        /// What it may be used for
        #[arg(
            long,
            value_name = "SCOPE,..",
            value_delimiter = ',',
            default_value = "list,resolve",
            value_parser = scope
        )]
        scope: Vec<Scope>,
        /// After how long it ceases to work, such as 12h, 90d; never when absent
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires: Option<time::Duration>,
        /// What it is for, to recognize it by
        #[arg(long, default_value = "", value_name = "TEXT")]
        label: String,
    },
    /// List tokens, without their secrets
    List {
        #[command(flatten)]
        common: Common,
        /// Only this user's
        #[arg(long, value_name = "ID")]
        user: Option<String>,
    },
    /// Revoke a token, effective with the very next request
    Revoke {
        #[command(flatten)]
        common: Common,
        /// The token's id, as `token list` shows it
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// Add a workspace and print its id
    Add {
        #[command(flatten)]
        common: Common,
        /// The user who owns it; `synthetic` for a gateway without authentication
        #[arg(long, value_name = "ID")]
        owner: String,
        /// The workspace's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Add a task and print its id
    Add {
        #[command(flatten)]
        common: Common,
        /// The workspace it belongs to
        #[arg(long, value_name = "ID")]
        workspace: String,
        /// The task's title
        title: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Add a session to a task and print its id
    Add {
        #[command(flatten)]
        common: Common,
        /// The task it belongs to
        #[arg(long, value_name = "ID")]
        task: String,
        /// What it is for, to recognize it by
        #[arg(long, default_value = "", value_name = "TEXT")]
        label: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExecutionCommand {
    /// Make a sidecar's credential for one session and print it, this once
    Create {
        #[command(flatten)]
        common: Common,
        /// The session it serves
        #[arg(long, value_name = "ID")]
        session: String,
        /// After how long it ceases to work, such as 12h, 90d; never when absent
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires: Option<time::Duration>,
        /// What it is for, to recognize it by
        #[arg(long, default_value = "", value_name = "TEXT")]
        label: String,
        /// Write the credential to this file, readable by its owner alone, and do not print it
        #[arg(long, value_name = "FILE")]
        credential_file: Option<PathBuf>,
    },
    /// List sidecars' credentials, without their secrets
    List {
        #[command(flatten)]
        common: Common,
        /// Only this session's
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Revoke a sidecar's credential; an attached sidecar is cut off within seconds
    Revoke {
        #[command(flatten)]
        common: Common,
        /// The credential's id, as `execution list` shows it
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the prompts of a task, their claims and every attempt
    Show {
        #[command(flatten)]
        common: Common,
        /// The task
        #[arg(long, value_name = "ID")]
        task: String,
    },
}

fn scope(name: &str) -> Result<Scope, String> {
    Scope::parse(name).ok_or_else(|| "the scopes are `list` and `resolve`".to_owned())
}

/// A whole number and a unit: `30m`, `12h`, `90d`.
fn duration(text: &str) -> Result<time::Duration, String> {
    let wanted = || "use a whole number and a unit, such as 30m, 12h or 90d".to_owned();
    let unit = text.chars().last().ok_or_else(wanted)?;
    let number = text.strip_suffix(unit).ok_or_else(wanted)?;
    let number: u32 = number.parse().map_err(|_| wanted())?;
    let number = i64::from(number);
    match unit {
        _ if number == 0 => Err("use a duration longer than nothing".to_owned()),
        's' => Ok(time::Duration::seconds(number)),
        'm' => Ok(time::Duration::minutes(number)),
        'h' => Ok(time::Duration::hours(number)),
        'd' => Ok(time::Duration::days(number)),
        _ => Err(wanted()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_duration_needs_a_number_and_a_unit() {
        assert_eq!(duration("90d"), Ok(time::Duration::days(90)));
        assert_eq!(duration("30m"), Ok(time::Duration::minutes(30)));
        for wrong in ["", "d", "90", "0d", "-1d", "1.5h", "1y", "1é"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }
}
