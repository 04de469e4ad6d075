/// The bounds of one registry (invariant I12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most prompts that may wait at once. One more is refused to its provider.
    pub live: usize,
    /// The most consumed prompts to remember until their end is acknowledged. When as many are
    /// remembered, deliveries are refused.
    pub consumed: usize,
    /// The most ended prompts to remember; the oldest is forgotten first.
    pub closed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            live: 1024,
            consumed: 1024,
            closed: 4096,
        }
    }
}
