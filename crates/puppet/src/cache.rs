//! Where what was fetched from others is.

use std::{env, path::PathBuf};

/// Where `scripts/fetch-puppet NAME` puts what it fetches, if this system says where that is.
pub fn fetched(name: &str) -> Option<PathBuf> {
    let folder = |variable| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("ROSSUM_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("rossum")))
        .or_else(|| Some(folder("HOME")?.join(".cache/rossum")))?;
    Some(cache.join("puppet").join(name))
}
