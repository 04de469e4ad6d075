//! Live prompts and their responders, consumed once, under one lock.
