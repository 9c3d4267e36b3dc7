//! Result files: all of them are complete before the first is put in place, so that a failure leaves
//! none half written.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Writes files whose contents are known.
pub fn write(files: &[(PathBuf, Vec<u8>)]) -> Result<(), String> {
    let mut ready = Vec::new();
    for (path, contents) in files {
        let mut file = beside(path)?;
        file.write_all(contents).map_err(|e| failed(path, e))?;
        ready.push((file, path));
    }
    for (file, path) in ready {
        file.persist(path).map_err(|e| failed(path, e.error))?;
    }
    Ok(())
}

/// Whether a file can be written there: known before the work that makes it, not after.
pub fn check(path: &Path) -> Result<(), String> {
    beside(path).map(drop)
}

/// A nameless file in the folder of another.
fn beside(path: &Path) -> Result<NamedTempFile, String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // The file that takes its name is for everybody whom the umask lets read.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(|e| failed(path, e))
}

fn failed(path: &Path, error: std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
