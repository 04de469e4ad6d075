//! The person, played by a real MCP client.

use std::path::Path;

use permit_tests::{Answer, Gateway, rmcp_call, rmcp_connect};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::guide;

const LIST: &str = "list_pending_agent_permissions_kandev";
const RESOLVE: &str = "resolve_agent_permission_kandev";

/// Lists, allows the first command, rejects the second, tries a replay and reads the audit.
pub(crate) async fn play(gateway: &Gateway, work: &Path, mut agent: Child) -> Result<(), String> {
    let task = &gateway.owner.task_id;
    let token = gateway.owner.token.as_deref().ok_or("no token was made")?;
    let client = rmcp_connect(&gateway.url(), token).await;
    println!("Connected an MCP client to {}/mcp", gateway.url());

    for (option, kind) in [("allow-once", "allow_once"), ("reject-once", "reject_once")] {
        gateway.owner_client().waiting(task, 1).await;
        let listed = rmcp_call(&client, LIST, &json!({"task_id": task})).await;
        let permission = listed.content["permissions"][0].clone();
        println!("Listed:   {}", permission["action"]["command"]);
        let arguments = arguments(&permission, option);
        let resolved = rmcp_call(&client, RESOLVE, &arguments).await;
        expect(&resolved, "status", "resolved")?;
        expect(&resolved, "option_kind", kind)?;
        println!("Resolved: {option}");
        let replay = rmcp_call(&client, RESOLVE, &arguments).await;
        let code = &replay.content["error"]["code"];
        if code != "permission_already_resolved" {
            return Err(format!("a replay was answered with {}", replay.text));
        }
        println!("Replayed: refused with {code}");
    }

    let status = agent.wait().await.map_err(|cause| cause.to_string())?;
    if !status.success() {
        return Err(format!("the sidecar ended with {status}"));
    }
    if !work.join("hello.txt").exists() {
        return Err("the allowed command did not run, or the rejected one did".to_owned());
    }
    println!("The agent ran what was allowed and nothing else");

    let audit = gateway.audit().await;
    println!("The audit:\n{}", guide::audit(&audit).trim_end());
    let claims = audit["claims"].as_array().ok_or("the audit is not there")?;
    let accepted = |claim: &&Value| {
        claim["result"] == "accepted"
            && claim["source"] == "external_mcp"
            && claim["actor_user_id"] == gateway.owner.user_id
    };
    if claims.len() != 2 || claims.iter().filter(accepted).count() != 2 {
        return Err("the audit does not hold two accepted claims of the user".to_owned());
    }
    println!("Done.");
    Ok(())
}

fn arguments(permission: &Value, option: &str) -> Value {
    json!({
        "task_id": permission["task_id"],
        "session_id": permission["session_id"],
        "request_id": permission["request_id"],
        "pending_id": permission["pending_id"],
        "option_id": option,
    })
}

fn expect(answer: &Answer, field: &str, value: &str) -> Result<(), String> {
    if answer.content[field] == value {
        Ok(())
    } else {
        Err(format!("the {field} is not {value}: {}", answer.text))
    }
}
