//! Embeds the files of `lab/contenders`, `lab/runners` and `lab/suites` in the binary.

use std::io;
use std::path::Path;

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Returns the text of one carried file, named by its path below `lab/`.
pub(crate) fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(path, _)| *path == name).map(|(_, text)| *text)
}

/// Writes all embedded files below `folder`, in the layout of `lab/`.
///
/// # Errors
/// Whatever the file system says.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_are_carried() {
        assert!(text("runners/python.py").is_some_and(|text| text.contains("perf_counter_ns")));
        assert!(text("runners/ruby.rb").is_some_and(|text| text.contains("CLOCK_MONOTONIC")));
        assert!(text("runners/none.rb").is_none());
    }

    #[test]
    fn unpacking_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        for (name, text) in FILES {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), *text);
        }
    }
}
