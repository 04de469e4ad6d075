//! Holds results to their published schemas, the way that clients do.

use serde_json::Value;

use crate::world::Tools;

/// Checks a tool's structured content against its output schema. Stricter than a client: what the
/// schema does not describe is refused, too.
pub(crate) fn check_output(tool: &str, content: &Value) {
    let tools = Tools::documented();
    let schema = &tools.named(tool)["outputSchema"];
    if let Err(problem) = check(schema, content) {
        panic!("{tool} answers what its schema does not describe: {problem}: {content}");
    }
}

fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let is_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("boolean") => value.is_boolean(),
        other => return Err(format!("the type {other:?}")),
    };
    if !is_type {
        return Err(format!("not of the type {}", schema["type"]));
    }
    if let Some(required) = schema["required"].as_array() {
        let missing = required
            .iter()
            .find(|name| value.get(name.as_str().expect("a name")).is_none());
        if let Some(name) = missing {
            return Err(format!("{name} is missing"));
        }
    }
    if let (Some(described), Some(members)) = (schema["properties"].as_object(), value.as_object())
    {
        for (name, member) in members {
            let schema = described
                .get(name)
                .ok_or_else(|| format!("{name} is not described"))?;
            check(schema, member).map_err(|problem| format!("{name}: {problem}"))?;
        }
    }
    if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
        elements
            .iter()
            .try_for_each(|element| check(items, element))?;
    }
    if let Some(branches) = schema["oneOf"].as_array() {
        let matching = branches
            .iter()
            .filter(|branch| check(branch, value).is_ok())
            .count();
        if matching != 1 {
            return Err(format!("{matching} branches match"));
        }
    }
    let is_listed = schema["enum"]
        .as_array()
        .is_none_or(|listed| listed.contains(value));
    let is_constant = schema.get("const").is_none_or(|constant| constant == value);
    if is_listed && is_constant {
        Ok(())
    } else {
        Err("not one of the listed values".to_owned())
    }
}
