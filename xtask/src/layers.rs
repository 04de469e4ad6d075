//! `cargo xtask layers`: the shape of the workspace as the architecture page draws it.

mod dependencies;
mod sources;
mod top_level;

use std::path::PathBuf;

use cargo_metadata::MetadataCommand;

/// Checks the workspace that this program was built in and tells what it found.
pub(crate) fn run() -> Result<(), LayersError> {
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let root = metadata.workspace_root.as_std_path();
    let mut broken = dependencies::check(&metadata);
    broken.extend(sources::check(root)?);
    broken.extend(top_level::check(root)?);
    if broken.is_empty() {
        println!("layers: {} packages in order", metadata.packages.len());
        Ok(())
    } else {
        Err(LayersError::Broken(broken))
    }
}

/// Why the layers are not, or not known to be, in order.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LayersError {
    /// Cargo could not describe the workspace.
    #[error(transparent)]
    Metadata(#[from] cargo_metadata::Error),
    /// A file or a folder could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// Rules are broken, each told in a line.
    #[error("the layers are broken:\n  {}", .0.join("\n  "))]
    Broken(Vec<String>),
}

/// Wraps the failure to read a path.
fn unreadable(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> LayersError {
    let path = path.to_owned();
    |cause| LayersError::Unreadable { path, cause }
}
