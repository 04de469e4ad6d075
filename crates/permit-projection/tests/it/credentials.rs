//! What is masked, what stays, and that nothing else changes.

use crate::support::{becomes, command, github_token, openai_key, shown, stays, texts};
use permit_projection::project;

#[test]
fn a_bearer_token_is_masked_in_title_and_command() {
    let token = github_token();
    let mut raw = command(format!(
        "curl -sS -H \"Authorization: Bearer {token}\" https://api.example.com/v1/me"
    ));
    raw.title = Some(format!("curl with Authorization: Bearer {token}"));
    let projected = project(raw);
    assert!(!texts(&projected).contains(&token));
    assert!(projected.action.redacted);
    assert_eq!(
        projected.action.command.as_deref(),
        Some(
            "curl -sS -H \"Authorization: Bearer [redacted:github-token]\" https://api.example.com/v1/me"
        )
    );
}

#[test]
fn database_urls_and_clients_keep_all_but_the_password() {
    let (text, redacted) = shown(
        "psql 'postgres://app@db.example.com:5432/app?password=FAKEpw1&sslmode=require' -c 'select 1'; \
         psql postgres://app:p%40ss%3Aw0rdFAKE@db/app; mysql --host=db --user=app -pFAKEpw2; \
         redis-cli -u redis://:FAKEpw3@cache:6379; curl app:FAKEpw4@host.example/x; \
         curl 'https://x.example/?PassWord=FAKEpw5&pass%77ord=FAKEpw6'",
    );
    for secret in ["FAKEpw", "p%40ss", "w0rdFAKE"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for kept in [
        "db.example.com:5432/app?password=",
        "&sslmode=require' -c 'select 1'; psql postgres://app:",
        "@db/app; mysql --host=db --user=app -p[",
        "redis-cli -u redis://:",
        "@cache:6379; curl app:",
        "@host.example/x; curl 'https://x.example/?PassWord=",
        "&pass%77ord=",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(redacted);
}

#[test]
fn tools_take_passwords_their_own_way() {
    for (raw, expected) in [
        (
            "sshpass -p 'ZZfakeSSHpassword' ssh deploy@10.0.0.1",
            "sshpass -p '[redacted:password]' ssh deploy@10.0.0.1",
        ),
        (
            "curl -u admin:ZZfakeBASICpass https://api.example.com",
            "curl -u admin:[redacted:password] https://api.example.com",
        ),
        (
            "docker login -u deploy -p ZZfakeDOCKERpass r.example.com",
            "docker login -u deploy -p [redacted:password] r.example.com",
        ),
        (
            "az login -u ci@example.com -p ZZfakeAZUREpass",
            "az login -u ci@example.com -p [redacted:password]",
        ),
        (
            "redis-cli -a ZZfakeREDISpass ping",
            "redis-cli -a [redacted:password] ping",
        ),
        (
            "gh auth login --with-token <<< ZZfakeGHtokenvalue01",
            "gh auth login --with-token <<< [redacted:password]",
        ),
        (
            "mysql -pZZfakeMYSQLpass db",
            "mysql -p[redacted:password] db",
        ),
        (
            "curl -b 'session=ZZfakeCookie0001' https://x",
            "curl -b 'session=[redacted:cookie]' https://x",
        ),
        (
            "echo 'hunter22!' | sudo -S reboot",
            "echo '[redacted:password]' | sudo -S reboot",
        ),
        (
            "echo 'root:hunter22!' | chpasswd",
            "echo 'root:[redacted:password]' | chpasswd",
        ),
        ("tool --token abc123def", "tool --token [redacted:token]"),
        (
            "PGPASSWORD=abc123 psql",
            "PGPASSWORD=[redacted:password] psql",
        ),
        (
            "docker exec db mysql -uroot -phunter22",
            "docker exec db mysql -uroot -p[redacted:password]",
        ),
        (
            "bash -c 'mysql -phunter22 && ls'",
            "bash -c 'mysql -p[redacted:password] && ls'",
        ),
        (
            "ssh h \"PASSWORD='a;b c' run; ls\"",
            "ssh h \"PASSWORD='[redacted:password]' run; ls\"",
        ),
    ] {
        becomes(raw, expected);
    }
}

#[test]
fn only_the_secret_changes_and_every_operator_stays() {
    let (key, token) = (openai_key(), github_token());
    becomes(
        &format!(
            "printf 'API_KEY={key}\\n' >> .env && rm -rf ./data; TOKEN={token};curl x|sh; echo a#; ./drop-db.sh"
        ),
        "printf 'API_KEY=[redacted:openai-key]\\n' >> .env && rm -rf ./data; \
         TOKEN=[redacted:github-token];curl x|sh; echo a#; ./drop-db.sh",
    );
}

#[test]
fn references_stay() {
    stays(
        "GH_TOKEN=$(cat /srv/gh.tok) gh pr list; AUTH_TOKEN=$SOME_VAR ./x; \
         curl -H \"Authorization: Bearer $TOKEN\" h; \
         echo //registry.npm.example/:_authToken=${NPM_TOKEN} >> .npmrc; export PW=`pass show x`",
    );
    for text in [
        "tool --token-file ./token.txt",
        "docker login --password-stdin < f",
        "PASS=$((PASS + 1))",
        "curl -d 'password='\"$PW\"'&x=1' h",
        "X=%TOKEN%",
        "PGPASSWORD=${PW:?missing} psql",
        "git clone git@github.com:o/r.git",
        "mysql -u root -p db",
    ] {
        stays(text);
    }
}

#[test]
fn words_that_only_look_like_labels_stay() {
    stays(
        "python train.py --max_tokens=4096 --tokenizer=gpt2 --key-file ./id.pub --author 'A B' && \
         grep -n 'Bearer token' docs/auth.md && echo 'User authenticated' && \
         ./run task-12345678901234567890 --sort-key=name --passes=3 MAX_TOKENS=100 \
         per_layer_token_embd.weight=CPU",
    );
    stays("docker run -p 8080:80 -u 1000:1000 img; ssh -p 2222 h; mkdir -p a/b; cp -p a b");
    stays("git checkout 5c883d8ec73609152634ad047a345635fa572812");
    stays(
        "docker pull a/b@sha256:5c883d8ec73609152634ad047a345635fa5728125c883d8ec73609152634ad04",
    );
}

#[test]
fn a_default_inside_a_reference_is_a_value() {
    becomes(
        "run ${API_TOKEN:-abc123def456}",
        "run ${API_TOKEN:-[redacted:token]}",
    );
}

#[test]
fn spelling_does_not_hide_a_token() {
    let token = github_token();
    let (head, tail) = token.split_at(7);
    for written in [
        format!("X={head}\"\"{tail} run"),
        format!("X={head}\\\n{tail} run"),
        format!("X={head}\u{200b}{tail} run"),
        format!("X=$'\\x67{}' run", &token[1..]),
    ] {
        let (text, redacted) = shown(&written);
        assert!(redacted && !text.contains(&tail[8..]), "{written}: {text}");
        assert!(text.ends_with(" run"), "{text}");
    }
}

#[test]
fn a_private_key_is_masked_line_by_line_even_when_cut_off() {
    let begin = format!("-----BEGIN RSA {} KEY-----", "PRIVATE");
    let body = "MIIEowIBAAKCAQEA0FAKEFAKEFAKEFAKE";
    let (text, _) = shown(&format!("echo '{begin}\n{body}\n{body}\n' > k; rm -rf x"));
    assert_eq!(
        text,
        format!("echo '{begin}\n[redacted:private-key]\n[redacted:private-key]\n' > k; rm -rf x")
    );
    let (text, redacted) = shown(&format!("echo '{begin}\\n{}'", "x\\n".repeat(4000)));
    assert!(redacted && !text.contains("\\nx\\n"));
}

#[test]
fn what_one_text_gives_away_is_masked_in_all() {
    let mut raw = command("mysql -pRluV6LsRP13k -e 'select 1'; logger 'used RluV6LsRP13k'");
    raw.title = Some("Log in with RluV6LsRP13k".to_owned());
    raw.secrets = vec!["zq-9-hidden-value".to_owned()];
    raw.description = Some("sends zq-9-hidden-value".to_owned());
    let projected = project(raw);
    let texts = texts(&projected);
    assert!(
        !texts.contains("RluV6LsRP13k") && !texts.contains("zq-9"),
        "{texts}"
    );
    assert_eq!(projected.title, "Log in with [redacted:value]");
}

#[test]
fn masking_can_never_hide_what_runs() {
    for (text, kept) in [
        (
            "echo 'x password='; rm -rf / ; echo ''",
            "; rm -rf / ; echo",
        ),
        ("TOKEN=\"abcdefgh$(rm -rf /)\" run", "$(rm -rf /)"),
        ("tool --password \"abcdefgh`rm -rf /`\"", "`rm -rf /`"),
        (
            "echo --password 'abcd; rm -rf /'; abcd; rm -rf /",
            "; rm -rf /",
        ),
        ("# password='\nrm -rf /\n#'", "\nrm -rf /\n"),
        ("tmux new 'TOKEN=abc123def456 ./worker'", " ./worker'"),
        (
            "curl -H 'Authorization: Bearer '; rm -rf /; echo ''",
            "; rm -rf /; echo",
        ),
        ("PASSWORD=abc123&rm -rf /", "&rm -rf /"),
        ("curl -H \"Cookie: a=$(rm -rf /); b=c\"", "$(rm -rf /)"),
    ] {
        let (shown, _) = shown(text);
        assert!(shown.contains(kept), "{text}: {shown}");
    }
    let begin = format!("-----BEGIN {} KEY-----", "PRIVATE");
    let (shown, _) = shown(&format!("sh <<X\n{begin}\nrm -rf /\nreboot\n-----END\nX"));
    assert!(shown.contains("\nrm -rf /\nreboot\n"), "{shown}");
}

#[test]
fn a_private_key_with_header_lines_is_masked() {
    let body = "c2VjcmV0IGtleSBib2R5".repeat(3);
    for (label, headers) in [
        (
            "RSA PRIVATE KEY",
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n",
        ),
        ("PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n"),
    ] {
        let key =
            format!("-----BEGIN {label}-----\n{headers}{body}\n{body}\n-----END {label}-----");
        let (text, redacted) = shown(&format!("echo '{key}' > key; make"));
        assert!(redacted && !text.contains(&body), "{text}");
        assert!(text.ends_with("> key; make"), "{text}");
    }
}
