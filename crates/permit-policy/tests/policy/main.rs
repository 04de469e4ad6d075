//! The policy from outside: what a credential opens, what a caller may touch, and what does not
//! compile.

#[cfg(test)]
mod authenticate;
#[cfg(test)]
mod authorize;
#[cfg(test)]
mod callers;
#[cfg(test)]
mod compile_fail;
#[cfg(test)]
mod fakes;
#[cfg(test)]
mod secrets;
