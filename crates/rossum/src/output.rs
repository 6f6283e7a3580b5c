//! The option of all commands that write a file.

use clap::Args;
use support::output_file::Existing;

/// Whether an output file may be replaced.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct OverwriteOption {
    /// Replace output files that exist already
    #[arg(long)]
    overwrite: bool,
}

impl OverwriteOption {
    pub(crate) fn existing(self) -> Existing {
        Existing::from(self.overwrite)
    }

    /// Whether it was given.
    pub(crate) fn is_given(self) -> bool {
        self.overwrite
    }
}
