//! File descriptors: their limit, and how the sockets share them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

use crate::limits;

/// Descriptors that connections and conversations may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// TCP connections, except for those of the console, which has a quota of its own.
    pub connections: usize,
    /// Conversations of one service.
    pub conversations: usize,
}

impl Descriptors {
    /// Raises the process's limit as far as possible and divides the descriptors.
    pub fn raise_limit() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let limit = match raised {
            Ok(()) => maximum,
            Err(error) => {
                warn!("cannot raise the limit of open files: {error}");
                current
            }
        };
        let shared = Self::of(limit.and_then(|limit| usize::try_from(limit).ok()));
        if shared != Self::of(None) {
            let Self { connections, conversations } = shared;
            warn!(connections, conversations, "open-file limit (ulimit -n) reduces the number of clients");
        }
        shared
    }

    /// Divides this many descriptors; `None` means that there is no limit.
    fn of(limit: Option<usize>) -> Self {
        let for_clients = limit.map_or(usize::MAX, |limit| limit.saturating_sub(limits::OTHER_DESCRIPTORS));
        Self {
            connections: (for_clients / 2).min(limits::CONNECTIONS),
            conversations: (for_clients / 2).min(limits::CONVERSATIONS),
        }
    }
}

impl Default for Descriptors {
    fn default() -> Self {
        Self::of(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_never_use_all_descriptors() {
        for (limit, connections, conversations) in [
            (None, limits::CONNECTIONS, limits::CONVERSATIONS),
            (Some(1 << 20), limits::CONNECTIONS, limits::CONVERSATIONS),
            (Some(1_024), 384, 384),
            (Some(300), 22, 22),
            (Some(64), 0, 0),
        ] {
            assert_eq!(Descriptors::of(limit), Descriptors { connections, conversations }, "{limit:?}");
        }
    }

    #[test]
    fn the_limit_is_raised() {
        Descriptors::raise_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
