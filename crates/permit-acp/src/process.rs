//! The agent's process: started with an environment of our choosing, in a process group of its
//! own, and ended as a whole.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long an agent may take to end by itself once its input is closed.
const LEAVING: Duration = Duration::from_secs(2);

/// How long it may take after it was told to.
const TERMINATING: Duration = Duration::from_secs(3);

/// How to start an agent.
pub struct AgentCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it starts in.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The account it runs under, when not ours.
    pub user: Option<AgentUser>,
}

/// An account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentUser {
    /// The user's id.
    pub uid: u32,
    /// The user's primary group. The process has no other groups.
    pub gid: u32,
}

/// A running agent. Dropping it kills it, and what it started.
pub struct AgentProcess {
    child: Child,
    group: Option<Pid>,
}

/// The three streams of an agent.
pub struct AgentStreams {
    /// Its input.
    pub stdin: ChildStdin,
    /// Its output.
    pub stdout: ChildStdout,
    /// Its errors.
    pub stderr: ChildStderr,
}

impl AgentProcess {
    /// Starts an agent.
    ///
    /// # Errors
    /// When the system does not start it.
    pub fn start(agent: &AgentCommand) -> std::io::Result<(Self, AgentStreams)> {
        let mut command = Command::new(&agent.program);
        command
            .args(&agent.args)
            .current_dir(&agent.cwd)
            .env_clear()
            .envs(agent.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(user) = agent.user {
            // Started by root, the process loses root's supplementary groups as well.
            command.gid(user.gid).uid(user.uid);
        }
        let mut child = command.spawn()?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || std::io::Error::other("a stream of the agent is missing");
        let streams = AgentStreams {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            stderr: child.stderr.take().ok_or_else(missing)?,
        };
        Ok((Self { child, group }, streams))
    }

    /// Waits until the agent's own process ends.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the agent: first by waiting, then by asking, then by force.
    pub async fn stop(mut self) -> Option<ExitStatus> {
        for (patience, signal) in [(LEAVING, Signal::TERM), (TERMINATING, Signal::KILL)] {
            if let Ok(Ok(status)) = timeout(patience, self.child.wait()).await {
                return Some(status);
            }
            self.signal(signal);
        }
        self.child.wait().await.ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be gone already.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
