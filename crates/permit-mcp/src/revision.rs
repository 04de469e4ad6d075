//! The protocol's revisions, and how a request tells which one it speaks.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jsonrpsee_types::ErrorObjectOwned;
use permit_http::single;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::code::{HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, error};
use crate::message::{Request, Text, present};

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

/// A revision of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Every revision, newest first.
    pub(crate) const ALL: [Self; 4] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
    ];

    /// The newest one with `initialize`.
    pub(crate) const LATEST_LEGACY: Self = Self::V2025_11_25;

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }

    /// Whether it is stateless: everything it needs comes with each request.
    pub(crate) fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether it knows structured results and their schemas.
    pub(crate) fn has_structured_results(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether several messages may come in one array.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }
}

/// What a request's `params` say about it.
#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/protocolVersion",
        deserialize_with = "present"
    )]
    version: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/clientCapabilities",
        deserialize_with = "present"
    )]
    capabilities: Option<&'a RawValue>,
}

/// The revision that the header names, or the one that its absence means.
pub(crate) fn of_header(headers: &HeaderMap) -> Result<Revision, ErrorObjectOwned> {
    match version_header(headers)? {
        None => Ok(Revision::V2025_03_26),
        Some(text) => Revision::parse(text).ok_or_else(|| unsupported(text)),
    }
}

/// The revision that a request speaks, its headers checked against its body.
///
/// The order matters: `initialize` without modern metadata is legacy whatever its header says;
/// modern metadata or the modern header make a request modern; the rest is told by the header.
/// `Mcp-Method` is no sign of an era, since legacy clients send it too.
pub(crate) fn of_request(
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<Revision, ErrorObjectOwned> {
    let params: Params<'_> = match request.params {
        Some(params) => serde_json::from_str(params.get()).map_err(|_| repeated())?,
        None => Params::default(),
    };
    let meta: Meta<'_> = match params.meta {
        Some(meta) if is_object(meta) => {
            serde_json::from_str(meta.get()).map_err(|_| malformed())?
        }
        Some(_) | None => Meta::default(),
    };
    if request.method == "initialize" && meta.version.is_none() {
        return Ok(Revision::LATEST_LEGACY);
    }
    let header = version_header(headers)?;
    let is_modern_header = header
        .and_then(Revision::parse)
        .is_some_and(Revision::is_modern);
    if meta.version.is_some() || is_modern_header {
        return modern(headers, header, request, &params, &meta);
    }
    of_header(headers)
}

fn modern(
    headers: &HeaderMap,
    header: Option<&str>,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &Meta<'_>,
) -> Result<Revision, ErrorObjectOwned> {
    let version = meta.version.and_then(Text::read);
    let (Some(version), true) = (version, meta.capabilities.is_some_and(is_object)) else {
        return Err(malformed());
    };
    if header != Some(&*version) {
        return Err(error(
            HEADER_MISMATCH,
            "The MCP-Protocol-Version header must equal the protocol version in _meta.",
        ));
    }
    let revision = Revision::parse(&version).filter(|known| known.is_modern());
    let revision = revision.ok_or_else(|| unsupported(&version))?;
    if single(headers, METHOD_HEADER) != Ok(Some(&*request.method)) {
        return Err(error(
            HEADER_MISMATCH,
            "The Mcp-Method header must equal the method.",
        ));
    }
    let named = (request.method == "tools/call").then_some(params.name);
    if let Some(name) = named.flatten().and_then(Text::read)
        && !names(headers, &name)
    {
        return Err(error(
            HEADER_MISMATCH,
            "The Mcp-Name header must equal the name in params.",
        ));
    }
    Ok(revision)
}

/// Whether the `Mcp-Name` header, plain or in Base64, is this name.
fn names(headers: &HeaderMap, name: &str) -> bool {
    let Ok(Some(value)) = single(headers, NAME_HEADER) else {
        return false;
    };
    let encoded = value.strip_prefix("=?base64?");
    match encoded.and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => BASE64_STANDARD
            .decode(encoded)
            .is_ok_and(|decoded| decoded == name.as_bytes()),
        None => value == name,
    }
}

fn version_header(headers: &HeaderMap) -> Result<Option<&str>, ErrorObjectOwned> {
    single(headers, VERSION_HEADER).map_err(|_| {
        error(
            HEADER_MISMATCH,
            "The MCP-Protocol-Version header must occur once.",
        )
    })
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

fn repeated() -> ErrorObjectOwned {
    error(INVALID_PARAMS, "params must not repeat a member.")
}

fn malformed() -> ErrorObjectOwned {
    error(
        INVALID_PARAMS,
        "params._meta must carry io.modelcontextprotocol/protocolVersion and \
         io.modelcontextprotocol/clientCapabilities, each once.",
    )
}

fn unsupported(requested: &str) -> ErrorObjectOwned {
    let supported = Revision::ALL.map(Revision::as_str);
    ErrorObjectOwned::owned(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version.",
        Some(json!({"supported": supported, "requested": requested})),
    )
}
