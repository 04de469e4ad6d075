//! The store in memory passes the conformance suite.

use std::sync::Arc;

use async_trait::async_trait;
use permit_audit::conformance::Subject;
use permit_audit::{AuditStore, MemoryStore, store_conformance};

struct Memory(Arc<MemoryStore>);

#[async_trait]
impl Subject for Memory {
    async fn open() -> Self {
        Self(Arc::default())
    }

    fn store(&self) -> Arc<dyn AuditStore> {
        self.0.clone()
    }
}

store_conformance!(Memory);
