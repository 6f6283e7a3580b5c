//! Touches of the ball: by whom, by whom before, and since when.

use std::time::Duration;

use crate::scene::PlayerId;

/// Touches of the ball since the last restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touches {
    /// The player who touches it now.
    pub(super) active: Option<PlayerId>,
    /// The player who touched it before: it let go of the ball, or another player followed.
    pub(super) last: Option<PlayerId>,
    /// Time of the latest player's first touch with no other player in between.
    since: Duration,
}

impl Touches {
    /// Of several players at the ball the one that touched it before counts, else the first.
    pub(super) fn update(&mut self, mut players: impl Iterator<Item = PlayerId> + Clone, now: Duration) {
        let stays = players.clone().any(|player| self.active == Some(player));
        let toucher = if stays { self.active } else { players.next() };
        if toucher.is_some() && toucher != self.latest() {
            self.since = now;
        }
        if self.active.is_some() && self.active != toucher {
            self.last = self.active;
        }
        self.active = toucher;
    }

    /// The last player to touch the ball, now or before.
    pub(super) fn latest(&self) -> Option<PlayerId> {
        self.active.or(self.last)
    }

    /// The player who touches the ball again after letting go of it, and the time since its first touch.
    pub(super) fn again(&self, now: Duration) -> Option<(PlayerId, Duration)> {
        self.active.filter(|_| self.active == self.last).map(|player| (player, now.saturating_sub(self.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Side::{Left, Right};

    #[test]
    fn follows_the_ball_from_player_to_player() {
        let (a, b, c) = (PlayerId::new(Left, 2), PlayerId::new(Right, 2), PlayerId::new(Left, 1));
        let mut touches = Touches::default();
        // at this ms, this player touches: then last, since
        for (ms, toucher, last, since) in [
            (20, None, None, 0),
            (40, Some(a), None, 40),
            (60, Some(a), None, 40),
            (80, None, Some(a), 40),
            (120, Some(a), Some(a), 40),
            (140, Some(b), Some(a), 140),
            (160, None, Some(b), 140),
            (180, Some(c), Some(b), 180),
        ] {
            touches.update(toucher.into_iter(), Duration::from_millis(ms));
            assert_eq!((touches.last, touches.since), (last, Duration::from_millis(since)), "{ms}");
            assert_eq!(touches.latest(), toucher.or(last));
        }
    }

    #[test]
    fn whoever_is_at_the_ball_stays_the_one() {
        let (a, b) = (PlayerId::new(Left, 2), PlayerId::new(Right, 3));
        for (story, active) in
            [(&[&[a, b][..]][..], a), (&[&[b, a]], b), (&[&[b], &[a, b]], b), (&[&[b], &[a]], a), (&[&[a, b], &[b]], b)]
        {
            let mut touches = Touches::default();
            for players in story {
                touches.update(players.iter().copied(), Duration::ZERO);
            }
            assert_eq!(touches.active, Some(active), "{story:?}");
        }
    }
}
