//! A client that speaks the link by hand and lies where it can.

use std::net::SocketAddr;

use jsonrpsee::core::client::{ClientT as _, Error, Subscription, SubscriptionClientT as _};
use jsonrpsee::core::params::ArrayParams;
use jsonrpsee::ws_client::{HeaderMap, HeaderValue, WsClient, WsClientBuilder};
use permit_domain::{AuditResult, Source};
use permit_link::LinkError;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::gateway::{PATIENCE, World, brisk, code, eventually, other_session, session};
use crate::sidecar::Sidecar;

struct Liar {
    client: WsClient,
    items: Option<Subscription<Value>>,
}

fn params(parameter: &Value) -> ArrayParams {
    let mut params = ArrayParams::new();
    params.insert(parameter).expect("json");
    params
}

fn of_code(error: Error) -> Option<LinkError> {
    match error {
        Error::Call(error) => LinkError::from_code(error.code()),
        other => panic!("{other}"),
    }
}

/// The code of a parameter that cannot be read.
const INVALID_PARAMS: i32 = -32602;

fn assert_invalid(answer: Result<Value, Error>, what: &str) {
    match answer {
        Err(Error::Call(error)) => assert_eq!(error.code(), INVALID_PARAMS, "{what}: {error}"),
        other => panic!("{what}: {other:?}"),
    }
}

impl Liar {
    async fn connect(gateway: SocketAddr, credential: &str) -> Self {
        let bearer = HeaderValue::try_from(format!("Bearer {credential}")).expect("a header");
        let headers = HeaderMap::from_iter([("authorization".parse().expect("a name"), bearer)]);
        let client = WsClientBuilder::new().set_headers(headers);
        let client = client.build(format!("ws://{gateway}/link")).await;
        Self {
            client: client.expect("it connects"),
            items: None,
        }
    }

    async fn attach(&mut self, execution: Value) -> Result<Value, Error> {
        self.attach_by(json!({"protocol": 1, "execution": execution}))
            .await
    }

    async fn attach_by(&mut self, attach: Value) -> Result<Value, Error> {
        let subscribed = self
            .client
            .subscribe("link_attach", params(&attach), "link_unattach")
            .await?;
        self.items = Some(subscribed);
        Ok(self.item().await["welcome"].clone())
    }

    /// Attached as a new execution with nothing to report.
    async fn attached(gateway: SocketAddr, credential: &str) -> (Self, Value) {
        let mut liar = Self::connect(gateway, credential).await;
        let welcome = liar.attach(json!("new")).await.expect("it attaches");
        (liar, welcome)
    }

    async fn item(&mut self) -> Value {
        let items = self.items.as_mut().expect("it is attached");
        let item = timeout(PATIENCE, items.next()).await.expect("in time");
        item.expect("an item").expect("json")
    }

    async fn call(&self, method: &str, parameter: Value) -> Result<Value, Error> {
        self.client.request(method, params(&parameter)).await
    }

    async fn refused(&self, method: &str, parameter: Value) -> Option<LinkError> {
        of_code(
            self.call(method, parameter)
                .await
                .expect_err("it is refused"),
        )
    }
}

fn prompt(request: &str) -> Value {
    json!({
        "request_id": request,
        "pending_id": "p",
        "title": "Run",
        "action": {"type": "command", "command": "ls", "redacted": false},
        "options": [{"option_id": "allow", "name": "Allow", "kind": "allow_once"}],
        "created_at": "2026-08-11T12:00:00Z",
    })
}

fn full(epoch: u64, seq: u64, opened: Value) -> Value {
    json!({"epoch": epoch, "seq": seq, "full": true, "opened": opened})
}

#[tokio::test]
async fn nothing_that_is_sent_names_a_session_an_actor_a_source_or_a_result() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let smuggled = [
        ("session_id", json!("session-b")),
        ("task_id", json!("task-1")),
        ("source", json!("external_mcp")),
        ("actor_user_id", json!("owner")),
        ("actor_kind", json!("browser")),
        ("result", json!("accepted")),
        ("claims", json!([])),
    ];
    let mut liar = Liar::connect(gateway.address, &world.credential()).await;
    for (field, value) in &smuggled {
        let mut attach = json!({"protocol": 1, "execution": "new"});
        attach[field] = value.clone();
        let attached = liar.attach_by(attach).await;
        assert_invalid(attached, field);
    }
    let welcome = liar.attach(json!("new")).await.expect("it attaches");
    assert_eq!(welcome["session_id"], "session-a");
    assert_eq!(welcome["task_id"], "task-1");

    for (field, value) in &smuggled {
        let mut sync = full(1, 1, json!([]));
        sync[field] = value.clone();
        assert_invalid(liar.call("link_sync", sync).await, field);

        let mut of_another = prompt("r");
        of_another[field] = value.clone();
        let sync = full(1, 1, json!([of_another]));
        assert_invalid(liar.call("link_sync", sync).await, field);

        let mut answer = json!({"epoch": 1, "id": 1, "seq": 1, "body": {"list": []}});
        answer[field] = value.clone();
        assert_invalid(liar.call("link_answer", answer).await, field);

        let mut detach = json!({"epoch": 1});
        detach[field] = value.clone();
        assert_invalid(liar.call("link_detach", detach).await, field);
    }
    assert!(
        gateway
            .list_of(Some(&other_session()))
            .await
            .expect("listed")
            .permissions
            .is_empty()
    );
}

#[tokio::test]
async fn a_prompt_of_one_session_shows_up_in_no_other() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let other = Sidecar::start(gateway.address, &world.other_credential())
        .attached()
        .await;
    let request = other.ask("p");
    let (mut liar, _) = Liar::attached(gateway.address, &world.credential()).await;
    // It claims the other session's very prompt for its own, and that a claim was delivered.
    let mut sync = full(1, 1, json!([prompt(request.as_str())]));
    sync["consumed"] =
        json!([{"request_id": request.as_str(), "claim_id": "c", "reply": "delivered"}]);
    liar.call("link_sync", sync)
        .await
        .expect("it is its own session's");

    let theirs = eventually(async || {
        let listed = gateway.list_of(Some(&other_session())).await.ok()?;
        (listed.total == 1).then_some(listed)
    })
    .await;
    assert_eq!(theirs.permissions[0].prompt.title, "Run p");
    let session = session();
    let listing = gateway.list_of(Some(&session));
    let lists = async {
        let command = liar.item().await;
        let id = &command["command"]["id"];
        let answer = json!({"epoch": 1, "id": id, "seq": 1, "body": {"list": []}});
        liar.call("link_answer", answer).await.expect("it is asked");
    };
    let (listed, ()) = tokio::join!(listing, lists);
    assert!(listed.expect("listed").permissions.is_empty());
    assert!(world.known(&request).await.claim.is_none());
}

#[tokio::test]
async fn an_answer_to_what_was_never_asked_decides_nothing() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let (mut liar, _) = Liar::attached(gateway.address, &world.credential()).await;
    liar.call("link_sync", full(1, 1, json!([prompt("r")])))
        .await
        .expect("recorded");
    for id in 0..10 {
        for body in [
            json!({"deliver": "delivered"}),
            json!({"settle": {"consumed": "delivered"}}),
            json!({"list": [prompt("invented")]}),
        ] {
            let answer = json!({"epoch": 1, "id": id, "seq": 1, "body": body});
            liar.call("link_answer", answer)
                .await
                .expect("it is ignored");
        }
    }
    let known = world
        .known(&permit_domain::RequestId::parse("r").expect("an id"))
        .await;
    assert!(known.claim.is_none());
    let invented = permit_domain::RequestId::parse("invented").expect("an id");
    assert!(world.known(&invented).await.message.is_none());

    // The answer to a list is no delivery either.
    let session = session();
    let listing = gateway.list_of(Some(&session));
    let answers = async {
        let command = liar.item().await;
        assert_eq!(command["command"]["body"], "list");
        let id = &command["command"]["id"];
        let body = json!({"deliver": "delivered"});
        let answer = json!({"epoch": 1, "id": id, "seq": 1, "body": body});
        liar.call("link_answer", answer).await.expect("it is asked");
    };
    let (listed, ()) = tokio::join!(listing, answers);
    assert_eq!(
        code(listed.expect_err("no list")),
        "permission_runtime_unavailable"
    );
}

#[tokio::test]
async fn who_resolved_is_told_by_the_gateway_alone() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let (mut liar, _) = Liar::attached(gateway.address, &world.credential()).await;
    liar.call("link_sync", full(1, 1, json!([prompt("r")])))
        .await
        .expect("recorded");
    let snapshot = serde_json::from_value(prompt("r")).expect("a prompt");
    let resolving = gateway.resolve(&snapshot, "allow");
    let answers = async {
        for body in [
            json!({"find": {"live": prompt("r")}}),
            json!({"deliver": "delivered"}),
        ] {
            let command = liar.item().await;
            let id = &command["command"]["id"];
            let answer = json!({"epoch": 1, "id": id, "seq": 1, "body": body});
            liar.call("link_answer", answer).await.expect("it is asked");
        }
    };
    let (resolved, ()) = tokio::join!(resolving, answers);
    resolved.expect("it is resolved");
    let acknowledged = liar.item().await;
    assert_eq!(
        acknowledged["command"]["body"]["acknowledge"]["request_id"],
        "r"
    );
    let known = world
        .known(&permit_domain::RequestId::parse("r").expect("an id"))
        .await;
    let claim = known.claim.expect("a claim");
    assert_eq!(
        (claim.source, claim.result),
        (Source::ExternalMcp, AuditResult::Accepted)
    );
}

#[tokio::test]
async fn frames_of_an_older_epoch_are_refused() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let (old, welcome) = Liar::attached(gateway.address, &world.credential()).await;
    let mut new = Liar::connect(gateway.address, &world.credential()).await;
    let resume = json!({"resume": {
        "execution_id": welcome["execution_id"],
        "secret": welcome["execution_secret"],
    }});
    let again = new.attach(resume).await.expect("it attaches");
    assert_eq!(again["epoch"], 2);
    assert_eq!(again["relist"], false);
    assert!(again.get("execution_secret").is_none());
    timeout(PATIENCE, old.client.on_disconnect())
        .await
        .expect("the old one is cut off");

    let answer = json!({"epoch": 1, "id": 1, "seq": 1, "body": {"list": []}});
    for (method, frame) in [
        ("link_sync", full(1, 1, json!([]))),
        ("link_answer", answer),
        ("link_detach", json!({"epoch": 1})),
    ] {
        assert_eq!(
            new.refused(method, frame).await,
            Some(LinkError::Fenced),
            "{method}"
        );
    }
    new.call("link_sync", full(2, 1, json!([])))
        .await
        .expect("its own epoch");
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn an_execution_is_resumed_by_its_own_secret_and_session_only() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let (_first, welcome) = Liar::attached(gateway.address, &world.credential()).await;
    let mut other_secret = welcome["execution_secret"]
        .as_str()
        .expect("a secret")
        .to_owned();
    let last = if other_secret.ends_with('0') {
        "1"
    } else {
        "0"
    };
    other_secret.replace_range(other_secret.len() - 1.., last);
    let resume = |secret: &Value| json!({"resume": {"execution_id": welcome["execution_id"], "secret": secret}});
    for (credential, secret) in [
        (world.credential(), json!(other_secret)),
        (world.credential(), json!(world.credential())),
        (world.credential(), json!("")),
        (
            world.other_credential(),
            welcome["execution_secret"].clone(),
        ),
    ] {
        let mut liar = Liar::connect(gateway.address, &credential).await;
        let refused = liar
            .attach(resume(&secret))
            .await
            .expect_err("it is refused");
        assert_eq!(of_code(refused), Some(LinkError::UnknownExecution));
    }
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn a_connection_attaches_once_and_in_order() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut liar = Liar::connect(gateway.address, &world.credential()).await;
    let early = liar.refused("link_sync", full(1, 1, json!([]))).await;
    assert_eq!(early, Some(LinkError::NotAttached));
    let other = liar
        .attach_by(json!({"protocol": 2, "execution": "new"}))
        .await;
    assert_eq!(
        of_code(other.expect_err("refused")),
        Some(LinkError::Protocol)
    );
    liar.attach(json!("new")).await.expect("it attaches");
    let second = liar.attach(json!("new")).await;
    assert!(second.is_err(), "{second:?}");

    let not_full = json!({"epoch": 1, "seq": 1, "full": false});
    assert_eq!(
        liar.refused("link_sync", not_full).await,
        Some(LinkError::OutOfOrder)
    );
    liar.call("link_sync", full(1, 5, json!([])))
        .await
        .expect("the first report");
    let older = json!({"epoch": 1, "seq": 4, "full": false});
    assert_eq!(
        liar.refused("link_sync", older).await,
        Some(LinkError::OutOfOrder)
    );
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn an_execution_is_not_listed_before_its_first_report() {
    let world = World::new();
    let mut limits = brisk();
    limits.deadlines.read = std::time::Duration::from_millis(50);
    let gateway = world.gateway(limits).await;
    let (_liar, _) = Liar::attached(gateway.address, &world.credential()).await;
    assert_eq!(
        gateway.list_failure().await,
        "permission_runtime_unavailable"
    );
}

#[tokio::test]
async fn a_sidecar_that_does_not_settle_is_cut_off() {
    let world = World::new();
    let mut limits = brisk();
    limits.deadlines.settle = std::time::Duration::from_millis(50);
    let gateway = world.gateway(limits).await;
    let (liar, _) = Liar::attached(gateway.address, &world.credential()).await;
    let snapshot = serde_json::from_value(prompt("r")).expect("a prompt");
    world.claim_only(&snapshot).await;
    // The claim has to be settled before the report is recorded; the settle is not answered.
    let synced = liar
        .call("link_sync", full(1, 1, json!([prompt("r")])))
        .await;
    assert!(synced.is_err(), "{synced:?}");
    timeout(PATIENCE, liar.client.on_disconnect())
        .await
        .expect("it is cut off");
    let known = world.known(&snapshot.request_id).await;
    assert_eq!(
        known.claim.expect("a claim").result,
        AuditResult::Dispatching
    );
}
