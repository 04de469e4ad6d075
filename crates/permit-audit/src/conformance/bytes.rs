//! Ids are bytes: what went in comes out, and nothing else is equal to it.

use permit_domain::{
    DeliverReply, MAX_ID_BYTES, MAX_PROVIDER_ID_BYTES, OptionKind, PendingId, PromptSnapshot,
    ToolCallId,
};

use super::Subject;
use super::world::{A, World, option, prompt, request};

const ODD: [&str; 16] = [
    " ",
    "\0",
    "a\0b",
    "a\0c",
    "line\nline\r\n\t",
    "'; DROP TABLE claims; --",
    "%_\\\"`",
    "\u{202e}\u{200b}\u{feff}",
    "\u{e9}",
    "e\u{301}",
    "\u{1f44d}\u{1f3fd}",
    "A",
    "a",
    "a ",
    "0",
    "00",
];

/// Given requests and choices with odd ids, each unlike the others in its bytes alone, then each is
/// claimed, ended and recorded on its own, byte for byte.
pub async fn the_bytes_of_odd_ids_survive<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ODD.map(|id| odd_prompt(id, id));
    world.observe(A, &prompts).await;
    for (id, prompt) in ODD.into_iter().zip(&prompts) {
        let claimed = world.try_claim(A, prompt, id).await.expect("claimed");
        let ended = world.end(claimed, Ok(DeliverReply::Delivered)).await;
        let known = world.known(A, &prompt.request_id).await;
        let message = known.message.expect("a message");
        assert_eq!(message.pending_id, prompt.pending_id);
        assert_eq!(message.tool_call_id, prompt.tool_call_id);
        assert_eq!(message.options, prompt.options);
        let claim = known.claim.expect("a claim");
        assert_eq!(&claim, ended.record());
        assert_eq!(claim.request_id.as_str(), id);
        assert_eq!(claim.pending_id.as_str(), id);
        assert_eq!(claim.option_id.as_str(), id);
        assert_eq!(claim.option_kind.as_str(), id);
    }
    let rows = world.attempts(A).await;
    assert_eq!(rows.len(), 2 * ODD.len());
    for (id, rows) in ODD.into_iter().zip(rows.chunks(2)) {
        for row in rows {
            assert_eq!(row.request_id.as_str(), id);
            assert_eq!(row.pending_id.as_str(), id);
            assert_eq!(
                row.option_id.as_ref().map(|option| option.as_str()),
                Some(id)
            );
            assert_eq!(row.option_kind.as_ref().map(OptionKind::as_str), Some(id));
        }
    }
}

/// Given the longest ids, which differ in their last byte, then they are different requests.
pub async fn the_longest_ids_survive_and_differ_in_their_last_byte<S: Subject>() {
    let world = World::<S>::open().await;
    for last in ["x", "y"] {
        let own = format!("{}{last}", "r".repeat(MAX_ID_BYTES - 1));
        let providers = format!("{}{last}", "p".repeat(MAX_PROVIDER_ID_BYTES - 1));
        let prompt = odd_prompt(&own, &providers);
        world.observe(A, std::slice::from_ref(&prompt)).await;
        let claimed = world.try_claim(A, &prompt, &providers).await;
        let claimed = claimed.expect("claimed");
        let known = world.known(A, &prompt.request_id).await;
        assert_eq!(known.claim.as_ref(), Some(claimed.record()));
        let message = known.message.expect("a message");
        assert_eq!(message.pending_id, prompt.pending_id);
        assert_eq!(message.tool_call_id, prompt.tool_call_id);
        assert_eq!(message.options, prompt.options);
    }
    assert_eq!(world.attempts(A).await.len(), 2);
}

/// Given a prompt with an empty, an overlong and a repeated option, and odd texts, then its message
/// holds them unchanged.
pub async fn odd_options_and_texts_of_a_message_survive<S: Subject>() {
    let world = World::<S>::open().await;
    let mut prompt = prompt("request-1");
    prompt.options = vec![
        option("", "", ""),
        option(
            &"o".repeat(MAX_PROVIDER_ID_BYTES + 1),
            "overlong",
            "allow_once",
        ),
        option("twice", "one", "allow_once"),
        option("twice", "other", "reject_once"),
    ];
    prompt.options.extend(ODD.map(|odd| option(odd, odd, odd)));
    prompt.title = ODD.concat();
    prompt.action.command = Some(ODD.concat());
    prompt.action.withheld = ODD.map(str::to_owned).to_vec();
    prompt.action.truncated = u64::MAX;
    world.observe(A, std::slice::from_ref(&prompt)).await;
    let message = world.known(A, &prompt.request_id).await.message;
    let message = message.expect("a message");
    assert_eq!(message.options, prompt.options);
    assert_eq!(message.title, prompt.title);
    assert_eq!(message.action, Some(prompt.action));
}

fn odd_prompt(own: &str, providers: &str) -> PromptSnapshot {
    PromptSnapshot {
        request_id: request(own),
        pending_id: PendingId::parse(providers).expect("an id"),
        tool_call_id: Some(ToolCallId::parse(providers).expect("an id")),
        options: vec![
            option("other", "Other", "reject_once"),
            option(providers, "Odd", providers),
        ],
        ..prompt("request")
    }
}
