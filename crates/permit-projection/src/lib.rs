//! Raw provider details to the public presentation.
