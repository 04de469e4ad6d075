//! The endpoint as clients meet it: the real router behind the real gate, over TCP.

#![expect(clippy::expect_used, reason = "a test that cannot go on must fail")]

mod access;
mod agents;
mod client;
mod legacy;
mod logs;
mod modern;
mod schema;
mod tools;
mod transport;
mod world;
