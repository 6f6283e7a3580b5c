//! The selection of NSGA-II (Deb et al. 2002): non-dominated sorting and crowding distance.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Whether `a` dominates `b`: at least as good in all objectives and better in one. Objectives are maximised.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a >= b) && a.iter().zip(b).any(|(a, b)| a > b)
}

/// Indices by front: the first holds the non-dominated solutions, the second those dominated only by the first, and so on.
pub fn fronts(objectives: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let count = objectives.len();
    let mut dominated: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut dominated_by = vec![0_usize; count];
    for a in 0..count {
        for b in a + 1..count {
            let (winner, loser) = match (&objectives[a], &objectives[b]) {
                (x, y) if dominates(x, y) => (a, b),
                (x, y) if dominates(y, x) => (b, a),
                _ => continue,
            };
            dominated[winner].push(loser);
            dominated_by[loser] += 1;
        }
    }
    let mut fronts = Vec::new();
    let mut front: Vec<usize> = (0..count).filter(|&index| dominated_by[index] == 0).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for &loser in front.iter().flat_map(|&winner| &dominated[winner]) {
            dominated_by[loser] -= 1;
            if dominated_by[loser] == 0 {
                next.push(loser);
            }
        }
        next.sort_unstable();
        fronts.push(std::mem::replace(&mut front, next));
    }
    fronts
}

/// The crowding distance of each solution of a front: the distance of its neighbours as a fraction of the front's extent,
/// summed over the objectives; `f64::MAX` at the ends.
pub fn crowding(objectives: &[Vec<f64>], front: &[usize]) -> Vec<f64> {
    let mut distances = vec![0.0_f64; front.len()];
    let axes = front.first().map_or(0, |&index| objectives[index].len());
    // halved, as the difference of two numbers may overflow
    let along = |axis: usize| front.iter().map(|&index| objectives[index][axis] / 2.0).collect::<Vec<f64>>();
    for values in (0..axes).map(along) {
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let (first, last) = (order[0], order[order.len() - 1]);
        let extent = values[last] - values[first];
        for three in order.windows(3).filter(|_| extent > 0.0) {
            distances[three[1]] += (values[three[2]] - values[three[0]]) / extent;
        }
        distances[first] = f64::MAX;
        distances[last] = f64::MAX;
    }
    distances.iter().map(|distance| distance.min(f64::MAX)).collect()
}

/// A solution with its rank in the population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedSolution<T> {
    /// The solution.
    pub solution: T,
    /// Values of its objectives, to be maximised.
    pub objectives: Vec<f64>,
    /// Index of its front, 0 is the best.
    pub front: usize,
    /// Crowding distance within its front.
    pub crowding: f64,
}

/// The solutions that survived selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Survivors<T> {
    members: Vec<RankedSolution<T>>,
}

impl<T> Default for Survivors<T> {
    fn default() -> Self {
        Self { members: Vec::new() }
    }
}

impl<T> Survivors<T> {
    /// All solutions, sorted by front, then by descending crowding distance.
    pub fn members(&self) -> &[RankedSolution<T>] {
        &self.members
    }

    /// Adds newcomers and keeps the best `keep` solutions: whole fronts, and the least crowded of the last one.
    pub fn select(&mut self, newcomers: impl IntoIterator<Item = (T, Vec<f64>)>, keep: usize) {
        let member = |(solution, objectives)| RankedSolution { solution, objectives, front: 0, crowding: 0.0 };
        self.members.extend(newcomers.into_iter().map(member));
        let objectives: Vec<Vec<f64>> = self.members.iter().map(|member| member.objectives.clone()).collect();
        for (number, front) in fronts(&objectives).into_iter().enumerate() {
            for (&index, distance) in front.iter().zip(crowding(&objectives, &front)) {
                (self.members[index].front, self.members[index].crowding) = (number, distance);
            }
        }
        self.members.sort_by(|a, b| a.front.cmp(&b.front).then(b.crowding.total_cmp(&a.crowding)));
        self.members.truncate(keep);
    }

    /// Binary tournament; `None` if there are no solutions. As they are sorted, the lower index wins.
    pub fn parent(&self, rng: &mut ChaCha8Rng) -> Option<&RankedSolution<T>> {
        let count = self.members.len();
        if count == 0 { None } else { self.members.get(rng.random_range(0..count).min(rng.random_range(0..count))) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::variation::{polynomial, reflect, sbx};
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn points_are_sorted_into_fronts() {
        let points = [[1.0, 1.0], [3.0, 3.0], [1.0, 4.0], [4.0, 1.0], [2.0, 2.0], [3.0, 3.0]].map(Vec::from);
        assert_eq!(fronts(&points), [vec![1, 2, 3, 5], vec![4], vec![0]]);
        assert_eq!(fronts(&[]), Vec::<Vec<usize>>::new());
        let cases = [([1.0, 2.0], [1.0, 1.0], true), ([1.0, 1.0], [1.0, 1.0], false), ([2.0, 0.0], [1.0, 1.0], false)];
        for (a, b, expected) in cases {
            assert_eq!(dominates(&a, &b), expected);
        }
    }

    #[test]
    fn the_ends_of_a_front_are_loneliest() {
        let points = [[0.0, 4.0], [1.0, 3.0], [4.0, 0.0], [3.5, 0.5]].map(Vec::from);
        let distances = crowding(&points, &[0, 1, 2, 3]);
        assert_eq!((distances[0], distances[2]), (f64::MAX, f64::MAX));
        assert_eq!((distances[1], distances[3]), (1.75, 1.5));
        let extreme = [[f64::MIN, f64::MAX], [0.0, 0.0], [f64::MAX, f64::MIN]].map(Vec::from);
        assert!(crowding(&extreme, &[0, 1, 2]).iter().all(|distance| distance.is_finite()));
    }

    /// Zitzler, Deb and Thiele's first problem; both objectives are minimised, so their negatives are given.
    fn zdt1(x: &[f64]) -> Vec<f64> {
        let g = 1.0 + 9.0 * x[1..].iter().sum::<f64>() / (x.len() - 1) as f64;
        vec![-x[0], -g * (1.0 - (x[0] / g).sqrt())]
    }

    #[test]
    fn the_front_of_zdt1_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let with_objectives = |x: Vec<f64>| (x.clone(), zdt1(&x));
        let first: Vec<Vec<f64>> = (0..100).map(|_| (0..30).map(|_| rng.random()).collect()).collect();
        let mut survivors = Survivors::default();
        survivors.select(first.into_iter().map(with_objectives), 100);
        for _ in 0..250 {
            let mut child = |_| {
                let (a, b) = (survivors.parent(&mut rng).unwrap(), survivors.parent(&mut rng).unwrap());
                let mut child =
                    if rng.random_bool(0.9) { sbx(&a.solution, &b.solution, &mut rng) } else { a.solution.clone() };
                polynomial(&mut child, 1.0 / 30.0, &mut rng);
                with_objectives(child.into_iter().map(reflect).collect())
            };
            let children: Vec<_> = (0..100).map(&mut child).collect();
            survivors.select(children, 100);
        }
        let mut front: Vec<[f64; 2]> =
            survivors.members().iter().map(|m| [-m.objectives[0], -m.objectives[1]]).collect();
        front.sort_by(|a, b| a[0].total_cmp(&b[0]));
        // area between the front and (1.1, 1.1); the true front has 0.8767
        let edges = front.iter().map(|point| point[0]).skip(1).chain([1.1]);
        let area: f64 =
            front.iter().zip(edges).map(|(point, edge)| (edge - point[0]) * (1.1 - point[1]).max(0.0)).sum();
        assert!((0.86..0.8768).contains(&area), "{area}");
    }
}
