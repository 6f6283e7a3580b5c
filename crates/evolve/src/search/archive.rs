//! The archive of MAP-Elites (Mouret and Clune 2015): the best solution in each cell of a grid.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A behaviour measure, divided into cells of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Lower end of the first cell.
    pub low: f64,
    /// Upper end of the last cell.
    pub high: f64,
    /// Number of cells, at least 1.
    pub cells: usize,
}

impl Axis {
    /// The cell of a value; values outside fall into the first or last cell.
    fn cell(&self, value: f64) -> usize {
        let fraction = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        // `as` saturates: a negative value or NaN becomes 0
        ((fraction * self.cells as f64) as usize).min(self.cells - 1)
    }
}

/// The best solution of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elite<T> {
    cell: Vec<usize>,
    /// Its fitness.
    pub fitness: f64,
    /// The solution.
    pub solution: T,
}

/// The best solution of each cell of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archive<T> {
    axes: Vec<Axis>,
    /// Sorted by cell, for binary search and a canonical order.
    elites: Vec<Elite<T>>,
}

impl<T> Archive<T> {
    /// An empty archive.
    pub fn new(axes: Vec<Axis>) -> Self {
        Self { axes, elites: Vec::new() }
    }

    /// Adds a solution if its cell is empty or has a worse one; returns whether it did. Missing measures count as the
    /// lowest.
    pub fn add(&mut self, solution: T, fitness: f64, measures: &[f64]) -> bool {
        let measures = measures.iter().copied().chain(std::iter::repeat(f64::MIN));
        let cell: Vec<usize> = self.axes.iter().zip(measures).map(|(axis, value)| axis.cell(value)).collect();
        match self.elites.binary_search_by(|elite| elite.cell.cmp(&cell)) {
            Ok(index) if self.elites[index].fitness >= fitness => return false,
            Ok(index) => self.elites[index] = Elite { cell, fitness, solution },
            Err(index) => self.elites.insert(index, Elite { cell, fitness, solution }),
        }
        true
    }

    /// A uniformly drawn elite; `None` if the archive is empty.
    pub fn sample(&self, rng: &mut ChaCha8Rng) -> Option<&Elite<T>> {
        if self.elites.is_empty() { None } else { self.elites.get(rng.random_range(0..self.elites.len())) }
    }

    /// All elites, sorted by cell.
    pub fn elites(&self) -> &[Elite<T>] {
        &self.elites
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.cells).product()
    }

    /// Fraction of the cells that have an elite.
    pub fn coverage(&self) -> f64 {
        self.elites.len() as f64 / self.cells() as f64
    }

    /// QD score: the sum of the elites' fitness minus `offset`, which should be the worst possible fitness.
    pub fn qd_score(&self, offset: f64) -> f64 {
        self.elites.iter().map(|elite| elite.fitness - offset).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_cells() {
        let axis = Axis { low: -1.0, high: 1.0, cells: 4 };
        let cases = [(-1.0, 0), (-0.51, 0), (-0.5, 1), (0.0, 2), (0.99, 3), (1.0, 3), (7.0, 3), (-7.0, 0)];
        for (value, expected) in cases {
            assert_eq!(axis.cell(value), expected, "{value}");
        }
        for (odd, expected) in [(f64::MIN, 0), (f64::MAX, 3), (f64::NAN, 0)] {
            assert_eq!(axis.cell(odd), expected, "{odd}");
        }
    }

    #[test]
    fn a_cell_keeps_its_best() {
        let axis = Axis { low: 0.0, high: 1.0, cells: 2 };
        let mut archive = Archive::new(vec![axis, axis]);
        let steps = [
            ("first", 1.0, vec![0.1, 0.1], true, 1),
            ("as good", 1.0, vec![0.2, 0.2], false, 1),
            ("better", 2.0, vec![0.2, 0.2], true, 1),
            ("elsewhere", -5.0, vec![0.9, 0.1], true, 2),
            ("too short", 3.0, vec![0.9], true, 2),
            ("too long", 0.0, vec![0.9, 0.9, 0.9], true, 3),
        ];
        for (name, fitness, measures, added, elites) in steps {
            assert_eq!(archive.add(name, fitness, &measures), added, "{name}");
            assert_eq!(archive.elites().len(), elites, "{name}");
        }
        assert_eq!((archive.coverage(), archive.qd_score(-10.0)), (0.75, 35.0));
    }
}
