//! A child process whose output is kept, and which does not outlive its test.

use std::future::Future;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// How long anything may take before a test gives up. Generous: nothing is timed here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds, and gives up loudly when it does not.
///
/// # Panics
/// When it does not come to hold.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> T {
    let holds = async {
        loop {
            if let Some(value) = attempt().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, holds)
        .await
        .unwrap_or_else(|_| panic!("{what}: did not happen within {PATIENCE:?}"))
}

/// A running program.
pub struct Process {
    child: Child,
    output: Arc<Mutex<Vec<String>>>,
    lines: watch::Receiver<usize>,
}

impl Process {
    /// Starts a program and collects its standard output and error, line by line.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let output = Arc::new(Mutex::new(Vec::new()));
        let (count, lines) = watch::channel(0);
        let count = Arc::new(count);
        collect(child.stdout.take(), &output, &count);
        collect(child.stderr.take(), &output, &count);
        Self {
            child,
            output,
            lines,
        }
    }

    /// Everything it has printed so far.
    ///
    /// # Panics
    /// Never in practice: the lock is not poisoned.
    #[must_use]
    pub fn output(&self) -> String {
        self.output.lock().expect("not poisoned").join("\n")
    }

    /// Waits for a line that contains a text, and answers the line.
    ///
    /// # Panics
    /// When no such line comes.
    pub async fn line(&mut self, text: &str) -> String {
        let output = Arc::clone(&self.output);
        let found = || {
            let output = output.lock().expect("not poisoned");
            output.iter().find(|line| line.contains(text)).cloned()
        };
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(line) = found() {
                    return Some(line);
                }
                if self.lines.changed().await.is_err() {
                    return found();
                }
            }
        });
        match waited.await {
            Ok(Some(line)) => line,
            Ok(None) | Err(_) => panic!("no line with {text:?} in:\n{}", self.output()),
        }
    }

    /// The process id.
    ///
    /// # Panics
    /// When it has been waited for.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id().expect("running")
    }

    /// Kills it without a chance to say good-bye.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("killed");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn wait(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let Ok(status) = ended else {
            panic!("the program does not end; it printed:\n{}", self.output());
        };
        status.expect("a status")
    }
}

fn collect(
    stream: Option<impl AsyncRead + Send + Unpin + 'static>,
    output: &Arc<Mutex<Vec<String>>>,
    count: &Arc<watch::Sender<usize>>,
) {
    let stream = stream.expect("a pipe");
    let (output, count) = (Arc::clone(output), Arc::clone(count));
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            output.lock().expect("not poisoned").push(line);
            count.send_modify(|count| *count += 1);
        }
    });
}
