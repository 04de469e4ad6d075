//! The bearer credential of a request (RFC 6750, section 2.1; no other way is read).

use axum::http::{HeaderMap, header};
use permit_policy::Secret;

use crate::single;

/// The longest `Authorization` value that is looked at, in bytes.
const MAX_AUTHORIZATION_BYTES: usize = 512;

/// The bearer secret of the one `Authorization` header. Several headers, another scheme, an empty
/// or an overlong value are as good as none.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let value = single(headers, header::AUTHORIZATION).ok()??;
    if value.len() > MAX_AUTHORIZATION_BYTES {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then(|| Secret::presented(token))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).expect("a header value");
            headers.append(header::AUTHORIZATION, value);
        }
        bearer(&headers).map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for value in ["Bearer abc", "bearer abc", "BEARER   abc"] {
            assert_eq!(read(&[value]).as_deref(), Some("abc"), "{value}");
        }
    }

    #[test]
    fn anything_else_is_as_good_as_none() {
        let long = format!("Bearer {}", "a".repeat(MAX_AUTHORIZATION_BYTES));
        let odd: &[&[&str]] = &[
            &[],
            &["Bearer"],
            &["Bearer "],
            &["Basic abc"],
            &["Bearer a b"],
            &["Bearer abc", "Bearer abc"],
            &[&long],
        ];
        for values in odd {
            assert_eq!(read(values), None, "{values:?}");
        }
    }
}
