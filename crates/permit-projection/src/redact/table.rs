//! Which programs take which secrets how. Data only: one line for each form.

/// How a program takes a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The next word, or the rest of this one.
    Value,
    /// Only the rest of this word: `-pSECRET`.
    Attached,
    /// Only the next word.
    Next,
    /// `user:SECRET`, as the next word or the rest of this one.
    Pair,
    /// `user,SECRET`.
    CommaPair,
    /// `user%SECRET`.
    PercentPair,
    /// `a=b; c=d`, or a file's name.
    Cookies,
    /// `pass:SECRET`.
    PassSource,
    /// `user/SECRET@database`, wherever it stands.
    Connect,
    /// Whatever comes last; with a flag, only when the flag is there.
    Last,
}

/// One flag of some programs, for one subcommand or for all.
pub(super) struct Rule {
    pub(super) programs: &'static [&'static str],
    pub(super) subcommand: &'static str,
    pub(super) flag: &'static str,
    pub(super) form: Form,
}

const fn rule(programs: &'static [&'static str], flag: &'static str, form: Form) -> Rule {
    Rule {
        programs,
        subcommand: "",
        flag,
        form,
    }
}

const fn sub(
    programs: &'static [&'static str],
    subcommand: &'static str,
    flag: &'static str,
    form: Form,
) -> Rule {
    Rule {
        programs,
        subcommand,
        flag,
        form,
    }
}

const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlcheck",
    "mysqlshow",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
    "xtrabackup",
];
const MONGO: &[&str] = &[
    "mongo",
    "mongosh",
    "mongodump",
    "mongorestore",
    "mongoexport",
    "mongoimport",
];
const REGISTRY: &[&str] = &[
    "docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "oras", "helm",
];
const LDAP: &[&str] = &[
    "ldapsearch",
    "ldapmodify",
    "ldapadd",
    "ldapdelete",
    "ldapwhoami",
    "ldappasswd",
];

pub(super) static RULES: &[Rule] = &[
    rule(&["curl"], "--cert", Form::Pair),
    rule(&["skopeo", "buildah", "podman"], "--creds", Form::Pair),
    rule(&["skopeo"], "--src-creds", Form::Pair),
    rule(&["skopeo"], "--dest-creds", Form::Pair),
    rule(
        &[
            "cypher-shell",
            "ncftpput",
            "ncftpget",
            "rdesktop",
            "crackmapexec",
            "nxc",
            "elasticsearch-users",
        ],
        "-p",
        Form::Next,
    ),
    rule(&["mssql-cli"], "-P", Form::Next),
    rule(&["influx"], "-t", Form::Next),
    rule(&["lftp"], "-u", Form::CommaPair),
    sub(&["security"], "unlock-keychain", "-p", Form::Next),
    sub(&["security"], "import", "-P", Form::Next),
    sub(&["cargo"], "login", "", Form::Last),
    rule(&["htpasswd"], "-b", Form::Last),
    rule(&["htpasswd"], "-nb", Form::Last),
    rule(&["dscl"], "-passwd", Form::Last),
    rule(&["oathtool"], "-b", Form::Last),
    sub(&["openssl"], "passwd", "-", Form::Last),
    sub(&["mc"], "set", "", Form::Last),
    rule(&["curl"], "-u", Form::Pair),
    rule(&["curl"], "--user", Form::Pair),
    rule(&["curl"], "-U", Form::Pair),
    rule(&["curl"], "--proxy-user", Form::Pair),
    rule(&["curl"], "-b", Form::Cookies),
    rule(&["curl"], "--cookie", Form::Cookies),
    rule(&["curl"], "--pass", Form::Next),
    rule(&["curl"], "--proxy-pass", Form::Next),
    rule(&["http", "https", "xh", "xhs"], "-a", Form::Pair),
    rule(&["http", "https", "xh", "xhs"], "--auth", Form::Pair),
    rule(&["ab"], "-A", Form::Pair),
    rule(&["siege", "lftp"], "-u", Form::Pair),
    rule(MYSQL, "-p", Form::Attached),
    rule(&["mycli"], "-p", Form::Value),
    rule(&["sshpass"], "-p", Form::Value),
    rule(&["redis-cli", "valkey-cli", "iredis"], "-a", Form::Next),
    rule(&["redis-cli", "valkey-cli"], "--pass", Form::Next),
    rule(MONGO, "-p", Form::Value),
    sub(REGISTRY, "login", "-p", Form::Value),
    sub(&["az"], "login", "-p", Form::Next),
    sub(&["oc"], "login", "-p", Form::Next),
    sub(&["ibmcloud", "cf"], "login", "-p", Form::Next),
    sub(&["vault"], "login", "", Form::Last),
    sub(&["dotnet", "nuget"], "push", "-k", Form::Next),
    sub(&["rabbitmqctl"], "add_user", "", Form::Last),
    sub(&["rabbitmqctl"], "change_password", "", Form::Last),
    rule(&["sqlcmd", "bcp", "isql", "osql"], "-P", Form::Value),
    rule(LDAP, "-w", Form::Next),
    rule(&["ldappasswd"], "-s", Form::Next),
    rule(
        &["smbclient", "rpcclient", "smbmap", "net"],
        "-U",
        Form::PercentPair,
    ),
    rule(&["zip", "unzip", "zipcloak"], "-P", Form::Value),
    rule(&["7z", "7za", "7zz", "unrar", "rar"], "-p", Form::Attached),
    rule(&["ssh-keygen"], "-N", Form::Next),
    rule(&["ssh-keygen"], "-P", Form::Next),
    rule(&["openssl"], "-k", Form::Next),
    rule(&["openssl"], "-pass", Form::PassSource),
    rule(&["openssl"], "-passin", Form::PassSource),
    rule(&["openssl"], "-passout", Form::PassSource),
    rule(&["keytool", "jarsigner"], "-storepass", Form::Next),
    rule(&["keytool", "jarsigner"], "-keypass", Form::Next),
    rule(&["plink", "pscp", "psftp"], "-pw", Form::Next),
    rule(&["snmpwalk", "snmpget", "snmpset"], "-A", Form::Next),
    rule(&["snmpwalk", "snmpget", "snmpset"], "-X", Form::Next),
    rule(&["ipmitool"], "-P", Form::Next),
    rule(&["pdftk"], "user_pw", Form::Next),
    rule(&["pdftk"], "owner_pw", Form::Next),
    rule(&["xfreerdp"], "/p:", Form::Attached),
    rule(&["tshark"], "-k", Form::Next),
    rule(&["evil-winrm"], "-p", Form::Next),
    rule(&["security"], "-w", Form::Next),
    rule(&["mosquitto_pub", "mosquitto_sub"], "-P", Form::Next),
    rule(&["sqlplus"], "", Form::Connect),
];

/// Programs that run another program given among their arguments.
pub(super) static WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "time",
    "nohup",
    "exec",
    "command",
    "builtin",
    "timeout",
    "nice",
    "ionice",
    "xargs",
    "stdbuf",
    "setsid",
    "watch",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "docker-compose",
    "compose",
    "ssh",
    "chroot",
    "unshare",
    "strace",
    "systemd-run",
    "nix-shell",
    "do",
    "then",
    "else",
    "if",
    "while",
    "until",
    "!",
    "{",
    "busybox",
    "proxychains",
    "torsocks",
    "flock",
    "parallel",
    "find",
    "sshpass",
    "expect",
    "vagrant",
    "lxc",
    "heroku",
    "fly",
    "poetry",
    "uv",
    "pipenv",
    "npx",
];

/// Programs whose argument after `-c`, or whose last words, are shell text.
pub(super) static SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
