use jsonrpsee_core::server::RpcModule;
use permit_policy::{Authenticator, Caller, CompositionRoot, ExternalMcpAttestor};
use serde_json::{Value, json};

use super::*;
use crate::message::Message;

async fn caller() -> Caller {
    let root = CompositionRoot::new();
    let store = Arc::new(nothing::Nothing);
    let authenticator = Authenticator::disabled(&root, store.clone(), store);
    let principal = authenticator.user(None).await.expect("the synthetic user");
    ExternalMcpAttestor::new(&root).attest(principal)
}

async fn call(method: &str, id: &str) -> (Value, Option<i32>) {
    let mut module = RpcModule::new(());
    module
        .register_method("sync", |_, _, _| json!("done"))
        .expect("registered");
    module
        .register_async_method("panic", |_, _, _| async {
            if true {
                panic!("a handler's bug");
            }
            json!(null)
        })
        .expect("registered");
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
    let Ok(Message::Request(request)) = Message::read(&text) else {
        panic!("a request");
    };
    let call = Arc::new(Call::new(Revision::LATEST_LEGACY, caller().await));
    let answer = Rpc::new(module).call(&request, call).await;
    let json = serde_json::from_str(&answer.json).expect("json");
    (json, answer.code)
}

#[tokio::test]
async fn every_id_comes_back_as_it_was_written() {
    for id in ["7", "-7", "18446744073709551616", "\"x\\ny\"", "\"-7\""] {
        let (answer, code) = call("sync", id).await;
        let id: Value = serde_json::from_str(id).expect("json");
        let expected = json!({"jsonrpc": "2.0", "id": id, "result": "done"});
        assert_eq!((answer, code), (expected, None));
    }
}

#[tokio::test]
async fn a_panic_in_a_method_is_an_internal_error_of_that_call() {
    for id in ["1", "-1"] {
        let (answer, code) = call("panic", id).await;
        let id: Value = serde_json::from_str(id).expect("json");
        let error = json!({"code": -32603, "message": "Internal error."});
        let expected = json!({"jsonrpc": "2.0", "id": id, "error": error});
        assert_eq!((answer, code), (expected, Some(-32603)));
    }
}

mod nothing {
    use async_trait::async_trait;
    use permit_domain::Clock;
    use permit_policy::{
        AccessToken, CredentialStore, ExecutionCredential, SecretHash, StoreUnavailable,
    };

    pub(super) struct Nothing;

    impl Clock for Nothing {
        fn now(&self) -> time::OffsetDateTime {
            time::OffsetDateTime::UNIX_EPOCH
        }
    }

    #[async_trait]
    impl CredentialStore for Nothing {
        async fn access_token(
            &self,
            _: &SecretHash,
        ) -> Result<Option<AccessToken>, StoreUnavailable> {
            Ok(None)
        }

        async fn execution_credential(
            &self,
            _: &SecretHash,
        ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
            Ok(None)
        }
    }
}
