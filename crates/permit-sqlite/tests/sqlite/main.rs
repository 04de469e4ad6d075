//! The store on real files.

mod admin;
mod conformance;
mod executions;
mod file;
mod gateway;
mod writes;
