//! The escapes of `$'...'`.

/// The byte that the escape at the head of the text stands for, and the escape's length.
pub(super) fn escape(text: &[u8]) -> (u8, usize) {
    let digits = |from: usize, most: usize, radix: u32| {
        let (mut value, mut length) = (0, 0);
        while length < most
            && let Some(digit) = text
                .get(from + length)
                .copied()
                .and_then(|byte| char::from(byte).to_digit(radix))
        {
            value = value * radix + digit;
            length += 1;
        }
        (u8::try_from(value).unwrap_or(b'?'), from + length)
    };
    match text.get(1).copied() {
        Some(b'x') => digits(2, 2, 16),
        Some(b'u') => digits(2, 4, 16),
        Some(b'U') => digits(2, 8, 16),
        Some(b'0'..=b'7') => digits(1, 3, 8),
        Some(b'n') => (b'\n', 2),
        Some(b't') => (b'\t', 2),
        Some(b'r') => (b'\r', 2),
        Some(b'e' | b'E') => (0x1b, 2),
        Some(other) => (other, 2),
        None => (b'\\', 1),
    }
}
