//! What every HTTP surface shares: Host and Origin, limits, bearer credentials.
