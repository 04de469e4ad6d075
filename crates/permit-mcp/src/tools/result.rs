//! What a tool answers.
//!
//! The same JSON comes twice: as structured content for programs, and as text for models and for
//! revisions without structured content.

use jsonrpsee_types::ErrorObjectOwned;
use permit_domain::{Outcome, SessionId};
use permit_service::{Recorded, Refused};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::InvalidArguments;
use crate::code::internal;
use crate::revision::Revision;
use crate::server::RESULT_META;

/// The result of `tools/call`.
#[derive(Clone)]
pub(crate) struct CallResult {
    json: Box<RawValue>,
    is_error: bool,
    revision: Revision,
}

/// The body of a result that is an error.
#[derive(Serialize)]
struct FailureBody<'a> {
    error: FailureDetails<'a>,
}

#[derive(Serialize)]
struct FailureDetails<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'a Recorded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a SessionId>,
}

impl CallResult {
    /// The tool did its work.
    pub(crate) fn success(
        body: &impl Serialize,
        revision: Revision,
    ) -> Result<Self, ErrorObjectOwned> {
        Self::new(body, false, revision)
    }

    /// The arguments were wrong; nothing was looked up.
    pub(crate) fn invalid(
        invalid: &InvalidArguments,
        revision: Revision,
    ) -> Result<Self, ErrorObjectOwned> {
        let error = FailureDetails {
            code: "invalid_arguments",
            message: &invalid.message,
            field: invalid.field,
            outcome: None,
            recorded: None,
            session_id: None,
        };
        Self::new(&FailureBody { error }, true, revision)
    }

    /// One of the stable failure codes.
    pub(crate) fn refused(refused: &Refused, revision: Revision) -> Result<Self, ErrorObjectOwned> {
        let error = FailureDetails {
            code: refused.code.as_str(),
            message: refused.code.message(),
            field: None,
            outcome: refused.outcome,
            recorded: refused.recorded.as_ref(),
            session_id: refused.session_id.as_ref(),
        };
        Self::new(&FailureBody { error }, true, revision)
    }

    fn new(
        body: &impl Serialize,
        is_error: bool,
        revision: Revision,
    ) -> Result<Self, ErrorObjectOwned> {
        let json = to_raw_value(body).map_err(|_| internal())?;
        Ok(Self {
            json,
            is_error,
            revision,
        })
    }
}

impl Serialize for CallResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Content<'a> {
            r#type: &'static str,
            text: &'a str,
        }

        let content = Content {
            r#type: "text",
            text: self.json.get(),
        };
        let mut result = serializer.serialize_struct("CallResult", 5)?;
        if self.revision.is_modern() {
            result.serialize_field("resultType", "complete")?;
        }
        result.serialize_field("content", &[content])?;
        if self.revision.has_structured_results() {
            result.serialize_field("structuredContent", &self.json)?;
        }
        result.serialize_field("isError", &self.is_error)?;
        if self.revision.is_modern() {
            result.serialize_field("_meta", &RESULT_META)?;
        }
        result.end()
    }
}
