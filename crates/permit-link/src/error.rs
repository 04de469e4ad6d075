//! Why the gateway refuses a call.

/// Why the gateway refuses a call, as a JSON-RPC error code of this protocol's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LinkError {
    /// The gateway speaks another version.
    #[error("the gateway speaks another version of the link")]
    Protocol,
    /// This connection has attached before.
    #[error("the connection has attached before")]
    AlreadyAttached,
    /// This connection has not attached.
    #[error("the connection has not attached")]
    NotAttached,
    /// The frame is of an older epoch, or a newer attach has taken this one's place.
    #[error("the epoch is over")]
    Fenced,
    /// The session has no such execution, or the secret is not its own.
    #[error("no such execution")]
    UnknownExecution,
    /// Another execution took the session.
    #[error("the execution was replaced")]
    Replaced,
    /// The execution's credential was revoked.
    #[error("the execution was revoked")]
    Revoked,
    /// The execution said good-bye before.
    #[error("the execution has exited")]
    Exited,
    /// The report before this one is still being recorded.
    #[error("a report is being recorded")]
    Busy,
    /// The report does not follow the one before it, or is too large.
    #[error("the report does not follow")]
    OutOfOrder,
    /// The gateway cannot record it now.
    #[error("the gateway cannot record it now")]
    Unavailable,
    /// The gateway shuts down.
    #[error("the gateway shuts down")]
    ShuttingDown,
}

impl LinkError {
    /// Every error.
    pub const ALL: [Self; 12] = [
        Self::Protocol,
        Self::AlreadyAttached,
        Self::NotAttached,
        Self::Fenced,
        Self::UnknownExecution,
        Self::Replaced,
        Self::Revoked,
        Self::Exited,
        Self::Busy,
        Self::OutOfOrder,
        Self::Unavailable,
        Self::ShuttingDown,
    ];

    /// The code on the wire.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Protocol => 4000,
            Self::AlreadyAttached => 4001,
            Self::NotAttached => 4002,
            Self::Fenced => 4003,
            Self::UnknownExecution => 4004,
            Self::Replaced => 4005,
            Self::Revoked => 4006,
            Self::Exited => 4007,
            Self::Busy => 4008,
            Self::OutOfOrder => 4009,
            Self::Unavailable => 5000,
            Self::ShuttingDown => 5001,
        }
    }

    /// The error of that code.
    #[must_use]
    pub fn from_code(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_names_one_error() {
        for error in LinkError::ALL {
            assert_eq!(LinkError::from_code(error.code()), Some(error));
        }
        assert_eq!(LinkError::from_code(-32601), None);
    }
}
