//! The MCP endpoint with its two tools.
