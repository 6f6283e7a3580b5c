//! Beam search for the most likely token sequences.

use super::{HearingError, tokens};

/// Beam width.
pub(super) const WIDTH: usize = 4;

/// Sequences whose log probability is this much below the best one are pruned.
const PRUNE: f64 = 8.0;

/// Longest pattern whose repetition is detected, in tokens.
const MAX_PERIOD: usize = 10;

/// Maximum repetitions of a single token and of a longer pattern. Such networks otherwise get stuck in loops on noise.
const MAX_REPEATS: (usize, usize) = (4, 3);

/// Computes token probabilities.
pub(super) trait Scorer {
    /// Extends sequences: each row is the index of a row of the previous call and the token appended to it. Returns the
    /// logits of the next token, row by row. The first call has one row, which starts from an empty sequence.
    fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError>;
}

/// A token sequence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sequence {
    /// Without the start and end tokens.
    pub(super) tokens: Vec<u32>,
    /// Log probability.
    score: f64,
    /// Number of tokens in the score.
    scored: usize,
}

impl Sequence {
    /// Geometric mean of the token probabilities.
    pub(super) fn confidence(&self) -> f64 {
        (self.score / self.scored.max(1) as f64).exp().clamp(0.0, 1.0)
    }
}

struct Candidate {
    parent: usize,
    token: u32,
    score: f64,
}

/// The most likely sequences of at most `max_tokens`, sorted by descending confidence.
pub(super) fn search(scorer: &mut impl Scorer, max_tokens: usize) -> Result<Vec<Sequence>, HearingError> {
    let mut live = vec![Sequence { tokens: Vec::new(), score: 0.0, scored: 0 }];
    let mut rows = vec![(0, tokens::BEGIN)];
    let mut done: Vec<Sequence> = Vec::new();
    for _ in 0..max_tokens {
        let logits = scorer.next(&rows)?;
        let mut followed = Vec::new();
        rows.clear();
        for (rank, candidate) in candidates(&live, &logits).into_iter().enumerate() {
            let mut text = live[candidate.parent].clone();
            (text.score, text.scored) = (candidate.score, text.scored + 1);
            if candidate.token == tokens::END {
                // an end token outside the beam would cut the text short
                if rank < WIDTH {
                    done.push(text);
                }
            } else if followed.len() < WIDTH {
                text.tokens.push(candidate.token);
                rows.push((candidate.parent, candidate.token));
                followed.push(text);
            }
        }
        live = followed;
        if prune(&mut live, &done) {
            live.clear();
            break;
        }
        rows.truncate(live.len());
    }
    // sequences that did not end within the limit
    done.append(&mut live);
    done.sort_by(|a, b| b.confidence().total_cmp(&a.confidence()));
    Ok(done)
}

/// Prunes sequences that cannot win any more. Returns whether the search is finished.
fn prune(live: &mut Vec<Sequence>, done: &[Sequence]) -> bool {
    let best = done.iter().max_by(|a, b| a.score.total_cmp(&b.score));
    if let Some(best) = best {
        // sorted by score
        let kept = live.iter().take_while(|text| text.score > best.score - PRUNE).count();
        live.truncate(kept);
    }
    let best_confidence = done.iter().map(Sequence::confidence).fold(0.0, f64::max);
    live.is_empty() || (done.len() >= WIDTH && live.iter().all(|text| text.confidence() < best_confidence))
}

/// The most likely extensions, best first.
fn candidates(live: &[Sequence], logits: &[f32]) -> Vec<Candidate> {
    let size = logits.len() / live.len().max(1);
    let mut found = Vec::new();
    for (parent, (text, row)) in live.iter().zip(logits.chunks_exact(size.max(1))).enumerate() {
        let total = log_sum_exp(row);
        let mut taken = 0;
        for (token, logit) in top(row, WIDTH + 3) {
            if taken < WIDTH + 1 && !repeats(&text.tokens, token) {
                taken += 1;
                found.push(Candidate { parent, token, score: text.score + f64::from(logit) - total });
            }
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = found.first().map_or(0.0, |candidate| candidate.score);
    found.retain(|candidate| candidate.score > best - PRUNE);
    found
}

/// The `count` largest logits of a row in descending order, ignoring NaN.
fn top(row: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    let mut least = f32::NEG_INFINITY;
    for (token, &logit) in row.iter().enumerate() {
        if logit > least {
            let at = best.partition_point(|&(_, other)| other >= logit);
            best.insert(at, (token as u32, logit));
            best.truncate(count);
            if best.len() == count {
                least = best[count - 1].1;
            }
        }
    }
    best
}

fn log_sum_exp(row: &[f32]) -> f64 {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    // values below e^-20 of the greatest add nothing, even 32 thousand times
    let sum: f32 = row.iter().map(|logit| logit - max).filter(|&below| below > -20.0).map(f32::exp).sum();
    f64::from(max) + f64::from(sum).ln()
}

/// Whether a sequence extended by a token ends in a pattern that has been repeated too often.
fn repeats(text: &[u32], token: u32) -> bool {
    let at = |back: usize| if back == 0 { Some(token) } else { text.len().checked_sub(back).map(|i| text[i]) };
    (1..=MAX_PERIOD).any(|period| {
        let allowed = if period == 1 { MAX_REPEATS.0 } else { MAX_REPEATS.1 };
        (0..period * allowed).all(|back| at(back).is_some() && at(back) == at(back + period))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token, its successor, and the probability of that.
    type Link = (u32, u32, f32);

    /// A Markov chain of tokens.
    struct Chain {
        links: Vec<Link>,
        rows: Vec<Vec<u32>>,
        widest: usize,
    }

    impl Chain {
        fn new(links: &[Link]) -> Self {
            Self { links: links.to_vec(), rows: vec![Vec::new()], widest: 0 }
        }
    }

    impl Scorer for Chain {
        fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError> {
            self.rows = rows.iter().map(|&(parent, token)| [self.rows[parent].as_slice(), &[token]].concat()).collect();
            self.widest = self.widest.max(self.rows.len());
            let link = |last, token| self.links.iter().find(|link| (link.0, link.1) == (last, token));
            let logit = |last, token| link(last, token).map_or(-30.0, |link| link.2.ln() + 3.0);
            let pairs = rows.iter().flat_map(|&(_, last)| (0..10).map(move |token| (last, token)));
            Ok(pairs.map(|(last, token)| logit(last, token)).collect())
        }
    }

    #[test]
    fn the_most_likely_text_is_not_the_greedy_one() {
        // 3 is the likelier successor of 1, but the continuation of 4 is certain
        let links = [(1, 3, 0.6), (1, 4, 0.4), (3, 5, 0.5), (3, 6, 0.5), (5, 2, 0.5), (5, 6, 0.5), (6, 2, 1.0)];
        let mut chain = Chain::new(&[links.as_slice(), &[(4, 7, 1.0), (7, 2, 1.0)]].concat());
        let found = search(&mut chain, 20).expect("nothing fails");
        let texts: Vec<&[u32]> = found.iter().map(|text| text.tokens.as_slice()).collect();
        assert_eq!(texts[..4], [[4, 7].as_slice(), &[3, 6], &[3, 5, 6], &[3, 5]]);
        assert!((found[0].confidence() - 0.4f64.powf(1.0 / 3.0)).abs() < 1e-4, "{}", found[0].confidence());
        assert!(found.is_sorted_by(|a, b| a.confidence() >= b.confidence()));
        assert!(chain.widest <= WIDTH);
    }

    #[test]
    fn loops_are_broken() {
        let cases: [(&[Link], &[u32]); 2] = [
            (&[(1, 3, 1.0), (3, 3, 0.99), (3, 2, 0.01)], &[3; 4]),
            (&[(1, 3, 1.0), (3, 4, 1.0), (4, 3, 0.99), (4, 2, 0.01)], &[3, 4, 3, 4, 3, 4]),
        ];
        for (links, longest) in cases {
            let found = search(&mut Chain::new(links), 100).expect("nothing fails");
            assert!(!found.is_empty());
            let length = found.iter().map(|text| text.tokens.len()).max().unwrap_or(0);
            assert!(found.iter().any(|text| text.tokens == longest), "{found:?}");
            assert!(length <= longest.len() + 1, "{found:?}");
        }
    }

    #[test]
    fn a_text_without_an_end_is_truncated() {
        let links: Vec<Link> = (3..10).flat_map(|a| (3..10).map(move |b| (a, b, 0.1))).collect();
        let found = search(&mut Chain::new(&[links.as_slice(), &[(1, 3, 1.0)]].concat()), 12).expect("nothing fails");
        assert!(found.iter().all(|text| text.tokens.len() == 12), "{found:?}");
        assert!(search(&mut Chain::new(&[]), 0).expect("nothing fails").iter().all(|text| text.tokens.is_empty()));
    }

    #[test]
    fn nan_logits_are_harmless() {
        struct Broken;
        impl Scorer for Broken {
            fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError> {
                Ok(vec![f32::NAN; 10 * rows.len()])
            }
        }
        assert!(search(&mut Broken, 5).expect("nothing fails").iter().all(|text| text.confidence() <= 1.0));
    }
}
