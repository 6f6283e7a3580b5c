//! Drivers: sockets on one side, sessions on the other. One for datagrams, one for streams, for all protocols;
//! and one for files that are written to.

pub mod datagram;
pub mod log;
pub mod stream;

use std::time::Instant;

use tracing::warn;

use crate::{limits, metrics, session::Refusal};

/// Counts refusals and logs some of them.
#[derive(Debug)]
pub(crate) struct RefusalLog {
    protocol: &'static str,
    last: Option<Instant>,
    silent: u64,
}

impl RefusalLog {
    pub(crate) fn new(protocol: &'static str) -> Self {
        Self { protocol, last: None, silent: 0 }
    }

    pub(crate) fn note(&mut self, refusals: &[Refusal], now: Instant) {
        let Some(Refusal { from, reason }) = refusals.last() else { return };
        metrics::refused(self.protocol, refusals.len());
        self.silent += refusals.len() as u64;
        if self.last.is_none_or(|last| now.duration_since(last) >= limits::LOG_INTERVAL) {
            let from = from.map(|peer| peer.to_string()).unwrap_or_default();
            let more = self.silent - 1;
            warn!(protocol = self.protocol, from, more, "refused: {reason}");
            self.last = Some(now);
            self.silent = 0;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "drivers live in wall time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
