//! The most likely texts: a beam search over the tokens that a network gives probabilities for.

use super::{HearingError, tokens};

/// Texts that are followed at once.
pub(super) const WIDTH: usize = 4;

/// A text that is less likely than the best one by this factor (as a logarithm) is given up.
const GIVE_UP: f64 = 8.0;

/// The longest pattern that is noticed when it comes again and again.
const MAX_PERIOD: usize = 10;

/// So often may one token, and a longer pattern, come in a row. Networks of this kind otherwise fall into loops on noise.
const MAX_IN_A_ROW: (usize, usize) = (4, 3);

/// What gives the probabilities.
pub(super) trait Scorer {
    /// Each row goes on from the row of the last call that it names, with a token. Gives the logits of the token after
    /// that, row by row. The first call has one row, which goes on from nothing.
    fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError>;
}

/// A text on its way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hypothesis {
    /// Without the first and the last one.
    pub(super) tokens: Vec<u32>,
    /// The logarithm of its probability.
    score: f64,
    /// Tokens that the score is of.
    scored: usize,
}

impl Hypothesis {
    /// The geometric mean of the tokens' probabilities.
    pub(super) fn confidence(&self) -> f64 {
        (self.score / self.scored.max(1) as f64).exp().clamp(0.0, 1.0)
    }
}

struct Candidate {
    parent: usize,
    token: u32,
    score: f64,
}

/// The most likely texts of at most `max_tokens`, the most confident first.
pub(super) fn search(scorer: &mut impl Scorer, max_tokens: usize) -> Result<Vec<Hypothesis>, HearingError> {
    let mut live = vec![Hypothesis { tokens: Vec::new(), score: 0.0, scored: 0 }];
    let mut rows = vec![(0, tokens::BEGIN)];
    let mut done: Vec<Hypothesis> = Vec::new();
    for _ in 0..max_tokens {
        let logits = scorer.next(&rows)?;
        let mut followed = Vec::new();
        rows.clear();
        for (rank, candidate) in candidates(&live, &logits).into_iter().enumerate() {
            let mut text = live[candidate.parent].clone();
            (text.score, text.scored) = (candidate.score, text.scored + 1);
            if candidate.token == tokens::END {
                // one that ends although others are likelier is a text cut short
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
        if is_over(&mut live, &done) {
            live.clear();
            break;
        }
        rows.truncate(live.len());
    }
    // without an end in sight, what there is has to do
    done.append(&mut live);
    done.sort_by(|a, b| b.confidence().total_cmp(&a.confidence()));
    Ok(done)
}

/// Gives up what cannot win any more, and says whether nothing is left to follow.
fn is_over(live: &mut Vec<Hypothesis>, done: &[Hypothesis]) -> bool {
    let best = done.iter().max_by(|a, b| a.score.total_cmp(&b.score));
    if let Some(best) = best {
        // they are sorted, so the unlikely ones are at the end
        let kept = live.iter().take_while(|text| text.score > best.score - GIVE_UP).count();
        live.truncate(kept);
    }
    let surest = done.iter().map(Hypothesis::confidence).fold(0.0, f64::max);
    live.is_empty() || (done.len() >= WIDTH && live.iter().all(|text| text.confidence() < surest))
}

/// The likeliest ways to go on, best first.
fn candidates(live: &[Hypothesis], logits: &[f32]) -> Vec<Candidate> {
    let size = logits.len() / live.len().max(1);
    let mut found = Vec::new();
    for (parent, (text, row)) in live.iter().zip(logits.chunks_exact(size.max(1))).enumerate() {
        let total = log_sum_exp(row);
        let mut taken = 0;
        for (token, logit) in likeliest(row, WIDTH + 3) {
            if taken < WIDTH + 1 && !repeats(&text.tokens, token) {
                taken += 1;
                found.push(Candidate { parent, token, score: text.score + f64::from(logit) - total });
            }
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = found.first().map_or(0.0, |candidate| candidate.score);
    found.retain(|candidate| candidate.score > best - GIVE_UP);
    found
}

/// The `count` greatest of a row, greatest first. What is not a number is not taken.
fn likeliest(row: &[f32], count: usize) -> Vec<(u32, f32)> {
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
    // what is e^-20 of the greatest adds nothing, even 32 thousand times
    let sum: f32 = row.iter().map(|logit| logit - max).filter(|&below| below > -20.0).map(f32::exp).sum();
    f64::from(max) + f64::from(sum).ln()
}

/// Whether a text that goes on with a token ends in a pattern that has come too often in a row.
fn repeats(text: &[u32], token: u32) -> bool {
    let at = |back: usize| if back == 0 { Some(token) } else { text.len().checked_sub(back).map(|i| text[i]) };
    (1..=MAX_PERIOD).any(|period| {
        let allowed = if period == 1 { MAX_IN_A_ROW.0 } else { MAX_IN_A_ROW.1 };
        (0..period * allowed).all(|back| at(back).is_some() && at(back) == at(back + period))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token, one that may follow it, and how probable that is.
    type Link = (u32, u32, f32);

    /// A language in which the next token depends on the last one alone.
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
    fn the_likeliest_text_is_not_the_greedy_one() {
        // after 1 comes rather 3, but what follows 4 is certain
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
    fn a_loop_is_left() {
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
    fn a_text_without_an_end_is_cut_off() {
        let links: Vec<Link> = (3..10).flat_map(|a| (3..10).map(move |b| (a, b, 0.1))).collect();
        let found = search(&mut Chain::new(&[links.as_slice(), &[(1, 3, 1.0)]].concat()), 12).expect("nothing fails");
        assert!(found.iter().all(|text| text.tokens.len() == 12), "{found:?}");
        assert!(search(&mut Chain::new(&[]), 0).expect("nothing fails").iter().all(|text| text.tokens.is_empty()));
    }

    #[test]
    fn logits_that_are_no_numbers_do_no_harm() {
        struct Broken;
        impl Scorer for Broken {
            fn next(&mut self, rows: &[(usize, u32)]) -> Result<Vec<f32>, HearingError> {
                Ok(vec![f32::NAN; 10 * rows.len()])
            }
        }
        assert!(search(&mut Broken, 5).expect("nothing fails").iter().all(|text| text.confidence() <= 1.0));
    }
}
