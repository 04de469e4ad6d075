use super::*;

fn code_and_id(text: &str) -> (i32, Option<String>) {
    let unreadable = Message::read(text).err().expect("unreadable");
    let id = unreadable.id.map(|RequestId(raw)| raw.get().to_owned());
    (unreadable.error.code(), id)
}

#[test]
fn every_legal_id_is_kept_as_written() {
    for id in [
        "0",
        "-1",
        "18446744073709551616",
        "\"a\"",
        "\"\"",
        "\"\\u00e9\"",
        "-0",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        match Message::read(&text) {
            Ok(Message::Request(request)) => assert_eq!(request.id.0.get(), id),
            Ok(Message::Unanswered) | Err(_) => panic!("{id} is legal"),
        }
    }
}

#[test]
fn an_illegal_id_is_not_taken_for_a_notification() {
    for id in [
        "null",
        "1.5",
        "1e3",
        "1.0",
        "true",
        "[1]",
        "{}",
        "\"\\ud800\"",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        assert_eq!(code_and_id(&text), (INVALID_REQUEST, None), "{id}");
    }
}

#[test]
fn what_is_no_message_is_told_apart_from_what_is_no_json() {
    for text in ["", "{", "{\"a\":1", "nonsense", "{} {}", "{'a':1}"] {
        assert_eq!(code_and_id(text).0, PARSE_ERROR, "{text}");
    }
    for text in [
        "1",
        "\"text\"",
        "[[1]]",
        "{}",
        r#"{"jsonrpc":"1.0","method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","method":"m","\u006dethod":"n"}"#,
    ] {
        assert_eq!(code_and_id(text), (INVALID_REQUEST, None), "{text}");
    }
}

#[test]
fn a_readable_id_is_kept_when_the_rest_is_wrong() {
    for rest in [
        r#""method":5"#,
        r#""params":{}"#,
        r#""method":"m","params":[1]"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"x",{rest}}}"#);
        assert_eq!(
            code_and_id(&text),
            (INVALID_REQUEST, Some("\"x\"".to_owned()))
        );
    }
}

#[test]
fn notifications_and_responses_want_no_answer() {
    for rest in [
        r#""method":"m""#,
        r#""id":1,"result":{}"#,
        r#""id":null,"error":{}"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0",{rest}}}"#);
        assert!(
            matches!(Message::read(&text), Ok(Message::Unanswered)),
            "{rest}"
        );
    }
}

#[test]
fn a_batch_keeps_one_more_than_its_bound() {
    let read = |text| {
        Batch::read(text, 2)
            .map(|Batch(elements)| elements.len())
            .ok()
    };
    assert_eq!(read("[]"), Some(0));
    assert_eq!(read(" [1, 2] "), Some(2));
    assert_eq!(read("[1,2,3,4,5]"), Some(3));
    assert_eq!(read("[1,"), None);
    assert_eq!(read("[1] 2"), None);
}
