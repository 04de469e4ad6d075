//! Requests over the network: where to.

use super::Call;

/// The one destination; nothing when there are several or none is certain.
pub(super) fn url(call: &Call<'_>) -> Option<String> {
    let given = ["url", "uri"].iter().find_map(|key| call.input_text(key));
    let only = || match call.input("urls")?.as_array()?.as_slice() {
        [url] => url.as_str(),
        _ => None,
    };
    let silent = call.raw_input.is_none();
    let in_title = || only_url(call.title.filter(|_| silent)?);
    given.or_else(only).or_else(in_title).map(str::to_owned)
}

/// The only address in a text.
fn only_url(text: &str) -> Option<&str> {
    let mut starts = ["https://", "http://"]
        .iter()
        .flat_map(|scheme| text.match_indices(scheme).map(|(at, _)| at));
    let start = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    let rest = text.get(start..)?;
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'))
        .unwrap_or(rest.len());
    let url = rest.get(..end)?;
    Some(url.trim_end_matches(['.', ',', ';', ')', ']']))
}
