//! The projection as its callers see it.

mod actions;
mod compile_fail;
mod credentials;
mod display;
mod properties;
mod support;
