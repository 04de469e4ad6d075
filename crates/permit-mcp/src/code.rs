//! The error codes of JSON-RPC and MCP, and the errors that carry them.
//!
//! Nothing of a request's own text is put into an error, except where MCP asks for it.

use jsonrpsee_types::ErrorObjectOwned;

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// A header is missing or says something else than the body.
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Our own, outside the range that JSON-RPC reserves.
pub(crate) const UNAUTHORIZED: i32 = 401;
/// Our own, outside the range that JSON-RPC reserves.
pub(crate) const INSUFFICIENT_SCOPE: i32 = 403;

pub(crate) fn error(code: i32, message: &'static str) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(code, message, None::<()>)
}

pub(crate) fn internal() -> ErrorObjectOwned {
    error(INTERNAL_ERROR, "Internal error.")
}

pub(crate) fn method_not_found() -> ErrorObjectOwned {
    error(METHOD_NOT_FOUND, "Method not found.")
}
