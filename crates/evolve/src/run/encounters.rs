//! Evaluation partners of an individual.

use serde::{Deserialize, Serialize};

use crate::robot::random::{Purpose, RandomStream};

/// Evaluation partners of an individual, if it is evaluated in the process of its run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encounters {
    /// None: it has an arena of its own.
    #[default]
    Nobody,
    /// Others of its generation, in groups of at most this many.
    Group(usize),
    /// Individuals of another population, one after the other.
    Opponents {
        /// The kind of its own population, which is one of the world's ports.
        kind: String,
        /// The kind of the other one.
        rival: String,
        /// Number of its opponents.
        count: usize,
    },
}

/// Divides a generation into groups of nearly equal size. Each generation is divided differently, at random.
pub(super) fn groups(seed: u64, generation: u64, individuals: usize, size: usize) -> Vec<Vec<usize>> {
    let mixed = RandomStream::new(seed, generation, 0, Purpose::Encounters).permutation(individuals);
    let count = individuals.div_ceil(size.max(1));
    (0..count).map(|group| mixed.iter().skip(group).step_by(count).copied().collect()).collect()
}

/// Pairs of an individual of one population with one of the other. Individuals of the larger population get exactly
/// `opponents` partners, those of the smaller at least as many; distinct while enough exist.
pub(super) fn pairs(seed: u64, generation: u64, [one, other]: [usize; 2], opponents: usize) -> Vec<[usize; 2]> {
    let count = one.max(other);
    let mixed = RandomStream::new(seed, generation, 0, Purpose::Encounters).permutation(count);
    let opponent = |nth: usize, round: usize| mixed[(nth + round) % count];
    let pair = |nth: usize, round: usize| [nth % one, opponent(nth, round) % other];
    (0..count)
        .flat_map(|nth| (0..opponents).map(move |round| (nth, round)))
        .map(|(nth, round)| pair(nth, round))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn groups_have_everybody_once_and_are_of_nearly_equal_size() {
        for (individuals, size, expected) in [
            (8, 4, vec![4, 4]),
            (9, 4, vec![3, 3, 3]),
            (10, 4, vec![4, 3, 3]),
            (3, 8, vec![3]),
            (3, 1, vec![1; 3]),
            (0, 4, vec![]),
        ] {
            let groups = groups(1, 1, individuals, size);
            assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{individuals} in groups of {size}");
            let all: BTreeSet<usize> = groups.into_iter().flatten().collect();
            assert!(all.into_iter().eq(0..individuals));
        }
        let of = |seed, generation| groups(seed, generation, 100, 4);
        assert_eq!(of(1, 7), of(1, 7));
        assert!(of(1, 7) != of(1, 8) && of(1, 7) != of(2, 7));
    }

    #[test]
    fn everybody_has_opponents() {
        for (sizes, opponents) in [([6, 6], 4), ([6, 4], 3), ([1, 5], 2), ([3, 3], 3)] {
            let pairs = pairs(1, 1, sizes, opponents);
            assert_eq!(pairs.len(), sizes[0].max(sizes[1]) * opponents);
            for side in 0..2 {
                for individual in 0..sizes[side] {
                    let met: Vec<usize> =
                        pairs.iter().filter(|pair| pair[side] == individual).map(|pair| pair[1 - side]).collect();
                    let different = met.iter().collect::<BTreeSet<_>>().len();
                    assert!(met.len() >= opponents, "{sizes:?}: {met:?}");
                    assert!(sizes[0] != sizes[1] || different == opponents, "{sizes:?}: {met:?}");
                }
            }
        }
        assert_ne!(pairs(1, 1, [50, 50], 1), pairs(1, 2, [50, 50], 1));
    }
}
