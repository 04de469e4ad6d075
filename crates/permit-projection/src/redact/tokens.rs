//! Tokens that their vendors gave a shape: one pass for all prefixes, then class and length.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::{Found, Kind, View};

/// A prefix and what must follow it.
struct Shape {
    prefix: &'static str,
    name: &'static str,
    /// Fewest bytes after the prefix.
    least: usize,
    class: fn(u8) -> bool,
    /// Whether the prefix also occurs inside ordinary words.
    common: bool,
}

const fn own(prefix: &'static str, name: &'static str, least: usize) -> Shape {
    Shape {
        prefix,
        name,
        least,
        class: is_token_byte,
        common: false,
    }
}

const fn common(prefix: &'static str, name: &'static str, least: usize) -> Shape {
    Shape {
        prefix,
        name,
        least,
        class: is_token_byte,
        common: true,
    }
}

const fn dotted(prefix: &'static str, name: &'static str, least: usize) -> Shape {
    Shape {
        prefix,
        name,
        least,
        class: is_dotted_byte,
        common: true,
    }
}

const fn capitals(prefix: &'static str) -> Shape {
    Shape {
        prefix,
        name: "aws-key-id",
        least: 16,
        class: is_capital_or_digit,
        common: true,
    }
}

static SHAPES: &[Shape] = &[
    own("ghp_", "github-token", 16),
    own("gho_", "github-token", 16),
    own("ghu_", "github-token", 16),
    own("ghs_", "github-token", 16),
    own("ghr_", "github-token", 16),
    own("github_pat_", "github-token", 16),
    own("glpat-", "gitlab-token", 12),
    own("gldt-", "gitlab-token", 12),
    own("glrt-", "gitlab-token", 12),
    own("glcbt-", "gitlab-token", 12),
    own("glptt-", "gitlab-token", 12),
    own("glft-", "gitlab-token", 12),
    own("glsoat-", "gitlab-token", 12),
    own("sk-ant-", "anthropic-key", 10),
    own("sk-proj-", "openai-key", 10),
    own("sk-svcacct-", "openai-key", 10),
    own("sk-or-v1-", "openrouter-key", 10),
    common("sk-", "api-key", 20),
    common("sk_live_", "stripe-key", 10),
    common("sk_test_", "stripe-key", 10),
    common("rk_live_", "stripe-key", 10),
    common("rk_test_", "stripe-key", 10),
    own("whsec_", "webhook-secret", 16),
    own("xoxb-", "slack-token", 10),
    own("xoxp-", "slack-token", 10),
    own("xoxa-", "slack-token", 10),
    own("xoxr-", "slack-token", 10),
    own("xoxs-", "slack-token", 10),
    own("xoxc-", "slack-token", 10),
    own("xoxd-", "slack-token", 10),
    own("xoxe-", "slack-token", 10),
    own("xoxe.", "slack-token", 10),
    own("xapp-1-", "slack-token", 10),
    common("npm_", "npm-token", 30),
    common("pypi-", "pypi-token", 40),
    common("AIza", "google-key", 30),
    own("GOCSPX-", "google-secret", 16),
    dotted("ya29.", "google-token", 20),
    common("hf_", "huggingface-token", 20),
    dotted("SG.", "sendgrid-key", 30),
    own("kandev_", "kandev-token", 16),
    own("dckr_pat_", "docker-token", 16),
    own("dckr_oat_", "docker-token", 16),
    own("dop_v1_", "digitalocean-token", 20),
    own("doo_v1_", "digitalocean-token", 20),
    dotted("hvs.", "vault-token", 16),
    dotted("hvb.", "vault-token", 16),
    common("r8_", "replicate-token", 24),
    common("gsk_", "groq-key", 24),
    common("pplx-", "perplexity-key", 24),
    common("xai-", "xai-key", 24),
    own("lin_api_", "linear-key", 16),
    common("ntn_", "notion-token", 24),
    own("figd_", "figma-token", 16),
    own("ATATT3xFfGF0", "atlassian-token", 16),
    own("glsa_", "grafana-token", 16),
    common("NRAK-", "newrelic-key", 16),
    own("sntrys_", "sentry-token", 16),
    common("PMAK-", "postman-key", 16),
    common("pul-", "pulumi-token", 32),
    dotted("dp.pt.", "doppler-token", 16),
    common("nfp_", "netlify-token", 24),
    common("sbp_", "supabase-key", 24),
    own("pscale_tkn_", "planetscale-token", 16),
    own("shpat_", "shopify-token", 16),
    own("shpss_", "shopify-token", 16),
    own("sq0atp-", "square-token", 16),
    own("sq0csp-", "square-token", 16),
    own("rubygems_", "rubygems-key", 24),
    own("tskey-auth-", "tailscale-key", 12),
    own("tskey-api-", "tailscale-key", 12),
    own("SWMTKN-1-", "swarm-token", 20),
    own("AGE-SECRET-KEY-1", "age-key", 16),
    common("HRKU-", "heroku-key", 24),
    common("rnd_", "render-key", 20),
    common("squ_", "sonar-token", 24),
    own("CCIPAT_", "circleci-token", 16),
    common("dapi", "databricks-token", 32),
    capitals("AKIA"),
    capitals("ASIA"),
    dotted("eyJ", "jwt", 20),
];

static PREFIXES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostLongest)
        .build(SHAPES.iter().map(|shape| shape.prefix))
        .ok()
});

pub(super) fn scan(view: &View<'_>, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    let Some(prefixes) = PREFIXES.as_ref() else {
        return;
    };
    let mut done = 0;
    // The end of the last run of base64url bytes, so that no run is walked twice.
    let mut run_end = 0;
    for hit in prefixes.find_iter(bytes) {
        let (start, after) = (hit.start(), hit.end());
        let Some(shape) = SHAPES.get(hit.pattern().as_usize()) else {
            continue;
        };
        if start < done || (shape.common && !begins_word(bytes, start)) {
            continue;
        }
        if shape.name == "jwt" {
            if let Some(end) = jwt_end(bytes, start, &mut run_end) {
                found.add(view, start, end, Kind::Jwt);
                done = end;
            }
            continue;
        }
        if !has_shape(bytes, after, shape) {
            continue;
        }
        let mut end = after + run(bytes, after, shape.class);
        while end > after && matches!(bytes.get(end - 1), Some(b'.' | b'-')) {
            end -= 1;
        }
        found.add(view, start, end, Kind::Vendor(shape.name));
        done = end;
    }
}

/// How many bytes a shape is judged by: a bound on the work at each prefix.
const JUDGED: usize = 128;

fn has_shape(bytes: &[u8], after: usize, shape: &Shape) -> bool {
    let rest = bytes.get(after..).unwrap_or_default();
    let head = rest.get(..rest.len().min(JUDGED)).unwrap_or_default();
    let length = head.iter().take_while(|&&byte| (shape.class)(byte)).count();
    super::work::walked(length);
    if length < shape.least {
        return false;
    }
    let head = head.get(..length).unwrap_or_default();
    if shape.name == "aws-key-id" {
        return length == shape.least;
    }
    !shape.common || head.iter().any(u8::is_ascii_digit) && head.iter().any(u8::is_ascii_alphabetic)
}

fn jwt_end(bytes: &[u8], start: usize, run_end: &mut usize) -> Option<usize> {
    if start >= *run_end {
        *run_end = start + run(bytes, start, is_base64url);
    }
    let first = *run_end;
    if first - start < 10 || bytes.get(first) != Some(&b'.') {
        return None;
    }
    let mut end = first + 1 + run(bytes, first + 1, is_base64url);
    if end - first < 5 {
        return None;
    }
    *run_end = end;
    for _ in 0..3 {
        if bytes.get(end) != Some(&b'.') {
            break;
        }
        let more = run(bytes, end + 1, is_base64url);
        if more == 0 {
            break;
        }
        end += 1 + more;
    }
    *run_end = (*run_end).max(end);
    Some(end)
}

fn run(bytes: &[u8], start: usize, class: fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|&&byte| class(byte)).count();
    super::work::walked(length);
    length
}

/// Whether no word goes on into `start`. The letter of `\n` and the digits of `%3D` are no word.
pub(super) fn begins_word(bytes: &[u8], start: usize) -> bool {
    let back = |steps: usize| {
        start
            .checked_sub(steps)
            .and_then(|at| bytes.get(at))
            .copied()
    };
    match back(1) {
        None => true,
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
            (matches!(byte, b'n' | b't' | b'r') && back(2) == Some(b'\\'))
                || (byte.is_ascii_hexdigit() && back(3) == Some(b'%'))
        }
        Some(_) => true,
    }
}

const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_dotted_byte(byte: u8) -> bool {
    is_token_byte(byte) || byte == b'.'
}

const fn is_capital_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_base64url(byte: u8) -> bool {
    is_token_byte(byte)
}
