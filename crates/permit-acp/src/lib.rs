//! Agent Client Protocol: the headless client and the mapping of tool calls to actions.
