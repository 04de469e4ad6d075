//! Where a network request goes, without what a person need not and must not see.

/// The parts of a URL that are shown. User information and fragment are not among them.
pub(crate) struct Parts<'u> {
    scheme: &'u str,
    host: &'u str,
    rest: &'u str,
}

impl Parts<'_> {
    pub(crate) fn join(&self) -> String {
        format!("{}{}{}", self.scheme, self.host, self.rest)
    }
}

/// Takes a URL apart without normalising any byte of it. Nothing when different programs would
/// read different hosts in it.
pub(crate) fn parts(url: &str) -> Option<Parts<'_>> {
    let url = url.trim();
    let url = url.split('#').next()?;
    let (scheme, after) = match url.find("://") {
        Some(at) if is_scheme(url.get(..at)?) => url.split_at_checked(at + 3)?,
        Some(at) if url.find(['/', '?']).is_some_and(|first| first < at) => ("", url),
        Some(_) => return None,
        None if url.starts_with("//") => url.split_at_checked(2)?,
        None => ("", url),
    };
    let (authority, rest) = match after.find(['/', '?']) {
        Some(at) => after.split_at_checked(at)?,
        None => (after, ""),
    };
    let host = authority.rsplit('@').next()?;
    let ambiguous = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
    if host.is_empty() || authority.contains(ambiguous) || !is_host(host, scheme) {
        return None;
    }
    Some(Parts { scheme, host, rest })
}

fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// `data:...` and `javascript:...` have no host; without a scheme only a port may follow one.
fn is_host(host: &str, scheme: &str) -> bool {
    if host.starts_with('[') || !scheme.is_empty() {
        return true;
    }
    match host.split_once(':') {
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> Option<String> {
        parts(url).map(|parts| parts.join())
    }

    #[test]
    fn host_and_path_stay_user_and_fragment_go() {
        for (url, expected) in [
            (
                "https://u:p@h.example:8443/a/b?x=1#frag",
                "https://h.example:8443/a/b?x=1",
            ),
            ("https://a@b@h.example", "https://h.example"),
            ("h.example/x", "h.example/x"),
            ("http://[::1]:80/", "http://[::1]:80/"),
            ("/go?to=http://h.example", ""),
        ] {
            assert_eq!(shown(url).unwrap_or_default(), expected, "{url}");
        }
    }

    #[test]
    fn what_can_be_read_two_ways_is_left_out() {
        for url in [
            "https://good.example\\@evil.example/",
            "https://a b/",
            "data:text/plain,x",
            "",
        ] {
            assert_eq!(shown(url), None, "{url}");
        }
    }
}
