//! The ACP client against a real agent process, and the mapper against the shapes that agents
//! send.

#![expect(clippy::expect_used, reason = "tests say what they expect")]

mod agent;
mod mapping;
mod odd;
mod turns;
