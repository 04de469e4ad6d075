//! The use cases: list, resolve, observe, recover.
