//! Eigenvalues and eigenvectors of symmetric matrices, by the Jacobi method.

/// Maximum number of sweeps over all pairs of axes; about ten suffice for hundreds of axes.
const MAX_SWEEPS: usize = 60;

/// Eigenvalues of a symmetric matrix, and its eigenvectors as the columns of a matrix. Matrices are in row-major order with
/// `size` columns.
///
/// The Jacobi method is slower than others for large matrices, but accurate for small eigenvalues as well.
pub fn decompose(matrix: &[f64], size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut left = matrix.to_vec();
    let mut vectors = vec![0.0; size * size];
    for axis in 0..size {
        vectors[axis * size + axis] = 1.0;
    }
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                if let Some(rotation) = rotation(&left, size, p, q) {
                    rotate_columns(&mut left, size, [p, q], rotation);
                    rotate_rows(&mut left, size, [p, q], rotation);
                    rotate_columns(&mut vectors, size, [p, q], rotation);
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..size).map(|axis| left[axis * size + axis]).collect(), vectors)
}

/// Cosine and sine of the rotation that makes the entry at `p`, `q` vanish; `None` if it is negligible.
fn rotation(matrix: &[f64], size: usize, p: usize, q: usize) -> Option<[f64; 2]> {
    let [pp, qq, pq] = [matrix[p * size + p], matrix[q * size + q], matrix[p * size + q]];
    if pq.abs() <= f64::EPSILON * (pp.abs() * qq.abs()).sqrt() || pq.abs() < f64::MIN_POSITIVE || !pq.is_finite() {
        return None;
    }
    let theta = (qq - pp) / (2.0 * pq);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    Some([cosine, tangent * cosine])
}

fn rotate_columns(matrix: &mut [f64], size: usize, [p, q]: [usize; 2], [cosine, sine]: [f64; 2]) {
    for row in matrix.chunks_exact_mut(size) {
        let (a, b) = (row[p], row[q]);
        row[p] = cosine * a - sine * b;
        row[q] = sine * a + cosine * b;
    }
}

fn rotate_rows(matrix: &mut [f64], size: usize, [p, q]: [usize; 2], [cosine, sine]: [f64; 2]) {
    let (upper, lower) = matrix.split_at_mut(q * size);
    let (row_p, row_q) = (&mut upper[p * size..][..size], &mut lower[..size]);
    for (x, y) in row_p.iter_mut().zip(row_q) {
        let (a, b) = (*x, *y);
        *x = cosine * a - sine * b;
        *y = sine * a + cosine * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(matrix: &[f64], size: usize, expected: &[f64]) {
        let (values, vectors) = decompose(matrix, size);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for (value, expected) in sorted.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{sorted:?}");
        }
        for i in 0..size {
            for j in 0..size {
                // the matrix again, from its parts
                let entry: f64 = (0..size).map(|k| vectors[i * size + k] * values[k] * vectors[j * size + k]).sum();
                assert!((entry - matrix[i * size + j]).abs() < 1e-9, "{i} {j}: {entry}");
            }
        }
    }

    #[test]
    fn known_matrices() {
        check(&[], 0, &[]);
        check(&[3.0], 1, &[3.0]);
        check(&[2.0, 1.0, 1.0, 2.0], 2, &[1.0, 3.0]);
        check(&[0.0, 0.0, 0.0, 0.0], 2, &[0.0, 0.0]);
        check(&[2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0], 3, &[2.0 - 2f64.sqrt(), 2.0, 2.0 + 2f64.sqrt()]);
    }

    #[test]
    fn second_differences_of_forty_points() {
        let size = 40;
        let entry = |i: usize, j: usize| [2.0, -1.0].get(i.abs_diff(j)).copied().unwrap_or(0.0);
        let matrix: Vec<f64> = (0..size * size).map(|index| entry(index / size, index % size)).collect();
        let angle = |k| std::f64::consts::PI * f64::from(k) / 82.0;
        let expected: Vec<f64> = (1..=40).map(|k| 4.0 * angle(k).sin().powi(2)).collect();
        check(&matrix, size, &expected);
    }
}
