//! The protocol between sidecar and gateway: JSON-RPC methods and wire types.
