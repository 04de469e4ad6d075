//! What several tests ask of a running gateway.

use permit_tests::{Gateway, eventually};
use serde_json::Value;

/// The rows of the audit's attempts that satisfy a condition.
pub(crate) fn attempts(audit: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let attempts = audit["attempts"].as_array().expect("attempts");
    attempts.iter().filter(|row| wanted(row)).cloned().collect()
}

/// The attempts that were refused with a code.
pub(crate) fn refused(audit: &Value, code: &str) -> Vec<Value> {
    attempts(audit, |row| row["code"] == code)
}

/// The one claim of a request.
pub(crate) fn claim(audit: &Value, permission: &Value) -> Value {
    let claims = audit["claims"].as_array().expect("claims");
    let of_request = |claim: &&Value| claim["request_id"] == permission["request_id"];
    let claims: Vec<_> = claims.iter().filter(of_request).collect();
    assert_eq!(claims.len(), 1, "one claim per request: {audit}");
    claims[0].clone()
}

/// The message of a request.
pub(crate) fn message(audit: &Value, permission: &Value) -> Value {
    let messages = audit["messages"].as_array().expect("messages");
    let of_request = |message: &&Value| message["request_id"] == permission["request_id"];
    let messages: Vec<_> = messages.iter().filter(of_request).collect();
    assert_eq!(messages.len(), 1, "one message per request: {audit}");
    messages[0].clone()
}

/// Waits until the message of a request has a status.
pub(crate) async fn message_becomes(gateway: &Gateway, permission: &Value, status: &str) {
    eventually(&format!("a message that is {status}"), || async {
        let audit = gateway.audit().await;
        (message(&audit, permission)["status"] == status).then_some(())
    })
    .await;
}

/// The fields of an object, sorted.
pub(crate) fn fields(object: &Value) -> Vec<&str> {
    let object = object.as_object().expect("an object");
    let mut fields: Vec<_> = object.keys().map(String::as_str).collect();
    fields.sort_unstable();
    fields
}
