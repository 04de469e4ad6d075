//! The settings of `serve`: flags, environment, file, defaults, in this order.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use permit_logging::Format;
use serde::Deserialize;

use crate::cli::{AuthMode, ServeArgs};
use crate::error::Error;

const DEFAULT_PORT: u16 = 7878;

/// Where and how to serve.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) database: PathBuf,
    pub(crate) auth: AuthMode,
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) allow_origins: Vec<String>,
    pub(crate) log_format: Format,
    pub(crate) log: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    listen: Option<SocketAddr>,
    database: Option<PathBuf>,
    auth: Option<AuthMode>,
    #[serde(default)]
    allow_host: Vec<String>,
    #[serde(default)]
    allow_origin: Vec<String>,
    log_format: Option<String>,
    log: Option<String>,
}

impl Config {
    pub(crate) fn load(args: ServeArgs) -> Result<Self, Error> {
        let file = match &args.config {
            Some(path) => read(path)?,
            None => File::default(),
        };
        let file_format = file.log_format.as_deref().map(str::parse).transpose();
        let file_format = file_format
            .map_err(|cause| Error::new("the configuration file is not valid", cause))?;
        let config = Self {
            listen: (args.listen.or(file.listen))
                .unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT))),
            database: (args.database.or(file.database)).unwrap_or_else(|| "permit.db".into()),
            auth: args.auth.or(file.auth).unwrap_or(AuthMode::Required),
            allow_hosts: either(args.allow_hosts, file.allow_host),
            allow_origins: either(args.allow_origins, file.allow_origin),
            log_format: args.log_format.or(file_format).unwrap_or_default(),
            log: args.log.or(file.log).unwrap_or_else(|| "info".to_owned()),
        };
        if config.auth == AuthMode::Disabled && !config.listen.ip().is_loopback() {
            return Err(Error::plain(format!(
                "without authentication everybody who reaches the gateway decides for its one user, so `--auth disabled` needs a loopback address to listen on, not {}",
                config.listen.ip()
            )));
        }
        Ok(config)
    }
}

fn read(path: &Path) -> Result<File, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Error::new(format!("cannot read {}", path.display()), cause))?;
    toml::from_str(&text)
        .map_err(|cause| Error::new(format!("{} is not valid", path.display()), cause))
}

fn either(flags: Vec<String>, file: Vec<String>) -> Vec<String> {
    if flags.is_empty() { file } else { flags }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readmes_example_is_a_valid_file() {
        let readme = include_str!("../../../README.md");
        let (_, example) = readme.split_once("```toml").expect("an example");
        let (example, _) = example.split_once("```").expect("its end");
        let file: File = toml::from_str(example).expect("valid");
        assert_eq!(file.allow_origin, ["https://app.example"]);
    }
}
