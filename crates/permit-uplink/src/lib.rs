//! The sidecar's end of the link: attach, reconnect, events and settle.
