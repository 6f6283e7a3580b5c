//! Location of the downloaded models and voices.

use std::{env, path::PathBuf};

/// The folder that `scripts/fetch-puppet NAME` downloads into: below `ROSSUM_CACHE`, `XDG_CACHE_HOME/rossum` or
pub fn fetched_folder(name: &str) -> Option<PathBuf> {
    let folder = |variable| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("ROSSUM_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("rossum")))
        .or_else(|| Some(folder("HOME")?.join(".cache/rossum")))?;
    Some(cache.join("puppet").join(name))
}
