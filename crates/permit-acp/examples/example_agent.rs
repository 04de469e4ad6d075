//! A small ACP agent (protocol version 1) for demonstrations and tests. It has no model: each line
//! of a prompt is a shell command. It asks for permission, really runs the command with `sh -c`
//! when it is allowed to, and shows its output.
//!
//! It starts in mode `auto`, in which it does not ask; in mode `default` it does.
//!
//! Lines that begin with `#` are for tests:
//!
//! | line | what it does |
//! |---|---|
//! | `#title TEXT` | the title of the next request |
//! | `#options JSON` | the options of the next request, verbatim |
//! | `#id JSON` | the JSON-RPC id of the next request, verbatim |
//! | `#bare COMMAND` | asks with nothing but the tool call's id |
//! | `#parallel COMMAND ;; COMMAND` | asks about all of them at once |
//! | `#withdraw COMMAND` | asks, and takes the request back with `$/cancel_request` |
//! | `#fail COMMAND` | asks, and takes the tool call back with a `failed` update |
//! | `#leave COMMAND` | asks, and ends the turn without waiting for the answer |
//! | `#exit COMMAND` | asks, and ends the process |
//! | `#deaf COMMAND` | asks, closes its input, so that no answer reaches it, and makes a file `deaf` |
//! | `#read PATH` | calls the client's `fs/read_text_file` and says what came back |
//! | `#say TEXT` | says it, as a JSON string |
//!
//! Where `EXAMPLE_AGENT_GATE` names a file, `#withdraw`, `#fail`, `#leave`, `#exit` and `#deaf`
//! wait between asking and the rest until that file exists.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

fn main() {
    let agent = Arc::new(Agent::default());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        agent.take(message);
    }
}

#[derive(Default)]
struct Agent {
    cwd: Mutex<String>,
    asks: AtomicBool,
    cancelled: AtomicBool,
    next: AtomicU64,
    waiting: Mutex<HashMap<String, mpsc::Sender<Value>>>,
}

/// What the next request is to look like.
#[derive(Default)]
struct Look {
    title: Option<String>,
    options: Option<Value>,
    id: Option<Value>,
    bare: bool,
}

struct Asked {
    id: Value,
    call: String,
    command: String,
    options: Value,
    answer: mpsc::Receiver<Value>,
}

const SESSION: &str = "example-session";

impl Agent {
    fn take(self: &Arc<Self>, message: Value) {
        let (id, params) = (message["id"].clone(), &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => send(&json!({"jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": 1, "agentCapabilities": {},
                "agentInfo": {"name": "example-agent", "version": "1.0.0"}}})),
            Some("session/new") => {
                let cwd = params["cwd"].as_str().unwrap_or(".");
                if let Ok(mut known) = self.cwd.lock() {
                    cwd.clone_into(&mut known);
                }
                send(
                    &json!({"jsonrpc": "2.0", "id": id, "result": {"sessionId": SESSION,
                    "modes": {"currentModeId": "auto", "availableModes": [
                        {"id": "default", "name": "Ask first"}, {"id": "auto", "name": "Auto"}]}}}),
                );
            }
            Some("session/set_mode") => {
                self.asks
                    .store(params["modeId"] == "default", Ordering::SeqCst);
                send(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
            }
            Some("session/prompt") => {
                self.cancelled.store(false, Ordering::SeqCst);
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let (agent, text) = (Arc::clone(self), text.to_owned());
                if text.contains("#deaf") {
                    agent.turn(&id, &text);
                } else {
                    thread::spawn(move || agent.turn(&id, &text));
                }
            }
            Some("session/cancel") => self.cancelled.store(true, Ordering::SeqCst),
            Some(_) => {}
            None => {
                let waiting = self
                    .waiting
                    .lock()
                    .map(|mut all| all.remove(&id.to_string()));
                if let Ok(Some(waiting)) = waiting {
                    let _ = waiting.send(message);
                }
            }
        }
    }

    fn turn(&self, id: &Value, text: &str) {
        let mut look = Look::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.cancelled.load(Ordering::SeqCst) {
                break;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "#title" => look.title = Some(rest.to_owned()),
                "#options" => look.options = serde_json::from_str(rest).ok(),
                "#id" => look.id = serde_json::from_str(rest).ok(),
                "#say" => say(&serde_json::from_str::<String>(rest).unwrap_or_default()),
                "#read" => self.read_file(rest),
                "#bare" => {
                    look.bare = true;
                    let asked = self.ask(rest, std::mem::take(&mut look));
                    self.finish(asked);
                }
                "#parallel" => {
                    let commands = rest.split(";;").map(str::trim);
                    let asked: Vec<_> = commands.map(|c| self.ask(c, Look::default())).collect();
                    asked.into_iter().for_each(|asked| self.finish(asked));
                }
                "#withdraw" | "#fail" | "#leave" | "#exit" | "#deaf" => {
                    let asked = self.ask(rest, std::mem::take(&mut look));
                    gate();
                    match word {
                        "#withdraw" => withdraw(&asked),
                        "#fail" => update(&asked.call, "failed"),
                        "#exit" => std::process::exit(7),
                        "#deaf" => deaf(),
                        _ => continue,
                    }
                    if asked.answer.recv().is_ok() {
                        say("(withdrawn)\n");
                    }
                }
                _ if self.asks.load(Ordering::SeqCst) => {
                    let asked = self.ask(line, std::mem::take(&mut look));
                    self.finish(asked);
                }
                _ => self.run(line),
            }
        }
        let cancelled = self.cancelled.load(Ordering::SeqCst);
        let reason = if cancelled { "cancelled" } else { "end_turn" };
        send(&json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}}));
    }

    fn ask(&self, command: &str, look: Look) -> Asked {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let call = format!("call-{number}");
        let title = look.title.unwrap_or_else(|| command.to_owned());
        let options = look.options.unwrap_or_else(|| {
            json!([{"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
                   {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"}])
        });
        let cwd = self.cwd.lock().map(|cwd| cwd.clone()).unwrap_or_default();
        let details = json!({"toolCallId": call, "title": title, "kind": "execute",
            "status": "pending", "rawInput": {"command": command, "cwd": cwd}});
        let mut begins = details.clone();
        begins["sessionUpdate"] = json!("tool_call");
        notify(
            "session/update",
            &json!({"sessionId": SESSION, "update": begins}),
        );
        let asked = if look.bare {
            json!({"toolCallId": call})
        } else {
            details
        };
        let params = json!({"sessionId": SESSION, "toolCall": asked, "options": options});
        let (id, answer) = self.request(look.id, "session/request_permission", &params);
        let command = command.to_owned();
        Asked {
            id,
            call,
            command,
            options,
            answer,
        }
    }

    /// The id is the one wanted, or counts from 0 as the common agents' do.
    fn request(
        &self,
        id: Option<Value>,
        method: &str,
        params: &Value,
    ) -> (Value, mpsc::Receiver<Value>) {
        let id = id.unwrap_or_else(|| json!(self.next.load(Ordering::SeqCst) - 1));
        let (sender, answer) = mpsc::channel();
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.insert(id.to_string(), sender);
        }
        send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        (id, answer)
    }

    /// Waits for the answer and does as it says.
    fn finish(&self, asked: Asked) {
        let Ok(answer) = asked.answer.recv() else {
            return;
        };
        let outcome = &answer["result"]["outcome"];
        let options = asked.options.as_array().cloned().unwrap_or_default();
        let chosen = options
            .iter()
            .find(|option| option["optionId"] == outcome["optionId"]);
        let kind = chosen
            .and_then(|option| option["kind"].as_str())
            .unwrap_or_default();
        if outcome["outcome"] == "selected" && kind.starts_with("allow") {
            update(&asked.call, "in_progress");
            self.run(&asked.command);
            update(&asked.call, "completed");
        } else {
            let word = if outcome["outcome"] == "selected" {
                "rejected"
            } else {
                "cancelled"
            };
            say(&format!("({word}: {})\n", asked.command));
            update(&asked.call, "failed");
        }
    }

    fn run(&self, command: &str) {
        let cwd = self.cwd.lock().map(|cwd| cwd.clone()).unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(cwd)
            .output();
        match output {
            Ok(output) => say(&format!(
                "$ {command}\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )),
            Err(error) => say(&format!("$ {command}\n{error}\n")),
        }
    }

    fn read_file(&self, path: &str) {
        let params = json!({"sessionId": SESSION, "path": path});
        let (_, answer) = self.request(Some(json!("read")), "fs/read_text_file", &params);
        let answer = answer.recv().unwrap_or_default();
        say(&format!("(read: {})\n", answer["error"]["code"]));
    }
}

fn withdraw(asked: &Asked) {
    notify("$/cancel_request", &json!({"requestId": asked.id}));
}

/// Nobody reads this process's input from here on.
fn deaf() {
    let error = Command::new("sh")
        .args(["-c", "exec 0<&-; : > deaf; exec sleep 600"])
        .exec();
    say(&error.to_string());
}

fn gate() {
    if let Some(file) = std::env::var_os("EXAMPLE_AGENT_GATE") {
        while !std::path::Path::new(&file).exists() {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn say(text: &str) {
    let update = json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": text}});
    notify(
        "session/update",
        &json!({"sessionId": SESSION, "update": update}),
    );
}

fn update(call: &str, status: &str) {
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status});
    notify(
        "session/update",
        &json!({"sessionId": SESSION, "update": update}),
    );
}

fn notify(method: &str, params: &Value) {
    send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    // A client that is gone ends this process by closing its input.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
