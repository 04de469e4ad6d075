//! What is logged, at the finest level.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::agents::prompt;
use crate::world::{LIST, RESOLVE, SESSION, TASK, World, choice};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        let bytes = self.0.lock().expect("the log").clone();
        String::from_utf8(bytes).expect("text")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the log").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The log is that of the whole process: what other tests do must not show in it either.
#[tokio::test]
async fn nothing_that_a_caller_wrote_and_no_credential_is_logged() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("the only subscriber");
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));

    for name in [
        "task_id",
        "session_id",
        "request_id",
        "pending_id",
        "option_id",
    ] {
        let mut arguments = choice("allow-once");
        arguments[name] = json!("canary");
        world.call(RESOLVE, arguments.clone()).await;
        arguments[name] = json!(["canary"]);
        world.call(RESOLVE, arguments).await;
    }
    world
        .call(LIST, json!({"task_id": TASK, "canary": "canary"}))
        .await;
    world.legacy("canary", &json!({"canary": 1})).send().await;
    world
        .legacy("tools/call", &json!({"name": "canary"}))
        .send()
        .await;
    world.post("canary").await;
    let ping = || world.legacy("ping", &json!({}));
    ping().set("Host", "canary").send().await;
    ping().with("Origin", "https://canary").send().await;
    ping().set("Authorization", "Bearer canary").send().await;
    ping().set("MCP-Protocol-Version", "canary").send().await;
    world.call(RESOLVE, choice("allow-once")).await;

    let text = log.text();
    assert!(text.contains("a claim ended"), "{text}");
    assert!(text.contains("the gate refused a request"), "{text}");
    assert!(!text.contains("canary"), "{text}");
    assert!(!text.contains(&world.token));
    assert!(!text.contains("git status"), "{text}");
}
