//! Counts the bytes that scanners walk, so that a test can hold them to linear work without a
//! clock. Outside of tests it is nothing.

#[cfg(test)]
thread_local! {
    static WALKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(super) fn walked(bytes: usize) {
    WALKED.with(|total| total.set(total.get() + bytes));
}

#[cfg(not(test))]
pub(super) fn walked(_: usize) {}

#[cfg(test)]
mod tests {
    use super::super::{Reading, Redactor};
    use super::*;

    fn work_on(text: &str) -> usize {
        WALKED.with(|total| total.set(0));
        let redactor = Redactor::learn(
            std::iter::empty(),
            std::iter::once((text, Reading::Command)),
        );
        assert!(redactor.redact(text, Reading::Command).is_some());
        WALKED.with(std::cell::Cell::get)
    }

    #[test]
    fn twice_the_input_is_at_most_twice_the_work() {
        let patterns = [
            "a",
            "a=",
            "a:",
            "://",
            "://a:b",
            "//",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n",
            "'",
            "\"",
            "`",
            "$(",
            "${",
            "((",
            ")",
            "%41",
            "eyJ",
            "eyJ.",
            "eyJaaaaaaaaa.",
            "ghp_",
            "sk-",
            "sk-a1",
            "password=",
            "password:",
            "password='",
            "password=\"",
            "password=\\\"",
            "token=./",
            "token:$",
            "token=$",
            "token:<",
            "x-token:<",
            "x-token:$a",
            "--password ",
            "--token=x ",
            "a:b@",
            "\\",
            "\n",
            "<<EOF\n",
            "<<<",
            "Bearer ",
            "bearer a1",
            "token=a&",
            "Authorization: ",
            "authorization:",
            "cookie:",
            "cookie:a=bcdef;",
            "\u{1b}[",
            "curl -u ",
            "mysql -p",
            "sh -c '",
            "eval \"",
            "echo x | sudo -S ",
            "{\"a\":",
            "QUJDRA",
            "key key ",
            "api key: ",
            "password is ",
            "a_token a1b2c3d4e5f6g7 ",
            "$'\\x41",
            "# ",
            "AKIA",
            "=",
            ":",
            "\u{ff1d}",
            "/t/aaaaaaaaaaaaaaaaaaaa",
            "seed phrase abc ",
        ];
        for pattern in patterns {
            let size = 8 * 1024 / pattern.len();
            let once = work_on(&pattern.repeat(size));
            let twice = work_on(&pattern.repeat(2 * size));
            assert!(
                twice <= 2 * once + once / 4 + 4096,
                "{pattern:?}: {once} then {twice}"
            );
            assert!(twice <= 2 * 8 * 1024 * 300, "{pattern:?}: {twice}");
        }
    }
}
