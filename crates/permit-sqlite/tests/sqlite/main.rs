//! The store on real files.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod admin;
mod conformance;
mod executions;
mod file;
mod gateway;
mod writes;
