//! Every known shape of a request, and what is understood of it. The fixtures are cut down from
//! what real agents sent.

use permit_acp::map_request;
use permit_projection::RawDetails;
use serde_json::{Map, Value, json};

#[test]
fn every_known_shape_is_understood() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../fixtures/shapes.json")).expect("fixtures");
    let mut wrong = Vec::new();
    for case in &cases {
        let earlier = case["earlier"].as_array().cloned().unwrap_or_default();
        let details = map_request(earlier, case["params"].clone());
        let (got, expected) = (shown(&details), case["expect"].clone());
        if got != expected {
            wrong.push(format!("{}\n  got {got}\n  not {expected}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The details as the fixtures write them.
fn shown(details: &RawDetails) -> Value {
    let mut shown = Map::new();
    shown.insert("type".to_owned(), json!(details.action_type));
    for (name, value) in [
        ("title", &details.title),
        ("command", &details.command),
        ("cwd", &details.cwd),
        ("description", &details.description),
        ("path", &details.path),
        ("url", &details.url),
        ("server", &details.server),
        ("tool", &details.tool),
    ] {
        if let Some(value) = value {
            shown.insert(name.to_owned(), json!(value));
        }
    }
    if !details.withheld.is_empty() {
        shown.insert("withheld".to_owned(), json!(details.withheld));
    }
    Value::Object(shown)
}
