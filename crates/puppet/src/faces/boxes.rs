//! Bounding boxes: decoding the output of the detector, and non-maximum suppression.

/// Values per anchor in the network's output: the box (4), and six keypoints (2 each).
pub(super) const VALUES: usize = 16;
/// Boxes with a larger intersection over union belong to the same face.
const MIN_OVERLAP: f32 = 0.3;
/// Scores are clamped to this absolute value.
const MAX_SCORE: f32 = 80.0;

/// A bounding box with keypoints, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Confidence, 0 to 1.
    pub(super) confidence: f32,
    /// Centre and size of the box, then x and y of eyes, nose, mouth and ears.
    pub(super) values: [f32; VALUES],
}

impl Candidate {
    /// Left, top, right and bottom edge.
    pub(super) fn edges(&self) -> [f32; 4] {
        let [x, y, width, height, ..] = self.values;
        [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0]
    }

    /// Scales all coordinates, then translates them.
    pub(super) fn transformed(mut self, scale: f32, left: f32, top: f32) -> Candidate {
        for (index, number) in self.values.iter_mut().enumerate() {
            let offset = match index {
                2 | 3 => 0.0,
                _ if index % 2 == 0 => left,
                _ => top,
            };
            *number = *number * scale + offset;
        }
        self
    }
}

/// Intersection over union of two boxes, 0 to 1.
pub(super) fn overlap(a: [f32; 4], b: [f32; 4]) -> f32 {
    let shared = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0) * (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let area = |edges: [f32; 4]| (edges[2] - edges[0]).max(0.0) * (edges[3] - edges[1]).max(0.0);
    let all = area(a) + area(b) - shared;
    if all > 0.0 { shared / all } else { 0.0 }
}

/// Decodes the network's output for a grid of anchors with `columns` columns, `step` pixels apart. `values` has a plane per
/// value, `scores` a single one. Boxes with a confidence below `least` are dropped.
pub(super) fn decode(values: &[f32], scores: &[f32], columns: usize, step: usize, least: f32) -> Vec<Candidate> {
    let anchors = scores.len();
    if columns == 0 || values.len() != VALUES * anchors {
        return Vec::new();
    }
    let read = |anchor: usize| {
        let confidence = 1.0 / (1.0 + (-scores[anchor].clamp(-MAX_SCORE, MAX_SCORE)).exp());
        let own = std::array::from_fn(|index| values[index * anchors + anchor]);
        let middle = |index: usize| (index as f32 + 0.5) * step as f32;
        Candidate { confidence, values: own }.transformed(1.0, middle(anchor % columns), middle(anchor / columns))
    };
    let is_valid = |candidate: &Candidate| {
        candidate.confidence >= least
            && candidate.values.iter().all(|number| number.is_finite())
            && candidate.values[2] > 0.0
            && candidate.values[3] > 0.0
    };
    (0..anchors).map(read).filter(is_valid).collect()
}

/// Merges overlapping boxes into their confidence-weighted mean. Returns at most `most` boxes, sorted by descending
/// confidence.
pub(super) fn merge(mut candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    candidates.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut merged = Vec::new();
    while let Some(&best) = candidates.first()
        && merged.len() < most
    {
        let (same, others): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .enumerate()
            .partition(|(index, other)| *index == 0 || overlap(best.edges(), other.edges()) > MIN_OVERLAP);
        let total: f32 = same.iter().map(|(_, other)| other.confidence).sum();
        let mean = |index: usize| {
            let sum: f32 = same.iter().map(|(_, other)| other.confidence * other.values[index]).sum();
            sum / total
        };
        merged.push(Candidate { confidence: best.confidence, values: std::array::from_fn(mean) });
        candidates = others.into_iter().map(|(_, other)| other).collect();
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(confidence: f32, x: f32, y: f32, side: f32) -> Candidate {
        let mut values = [0.0; VALUES];
        values[..4].copy_from_slice(&[x, y, side, side]);
        Candidate { confidence, values }
    }

    #[test]
    fn overlap_is_intersection_over_union() {
        for (a, b, part) in [
            ([0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0], 1.0),
            ([0.0, 0.0, 2.0, 2.0], [1.0, 0.0, 3.0, 2.0], 1.0 / 3.0),
            ([0.0, 0.0, 2.0, 2.0], [2.0, 2.0, 3.0, 3.0], 0.0),
            ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], 0.0),
        ] {
            assert!((overlap(a, b) - part).abs() < 1e-6, "{a:?} {b:?}");
        }
    }

    #[test]
    fn overlapping_boxes_become_their_mean() {
        let boxes =
            vec![candidate(0.6, 12.0, 10.0, 10.0), candidate(0.9, 10.0, 10.0, 10.0), candidate(0.7, 50.0, 50.0, 10.0)];
        let merged = merge(boxes, 16);
        assert_eq!(merged.len(), 2);
        assert_eq!((merged[0].confidence, merged[1].confidence), (0.9, 0.7));
        assert!((merged[0].values[0] - (0.6 * 12.0 + 0.9 * 10.0) / 1.5).abs() < 1e-5);
        assert_eq!(merged[1].values[0], 50.0);
        let many = (0..40).map(|index| candidate(0.8, 20.0 * index as f32, 0.0, 10.0)).collect();
        assert_eq!(merge(many, 16).len(), 16);
    }

    #[test]
    fn boxes_are_relative_to_their_anchor() {
        let mut values = vec![0.0; VALUES * 4];
        let mut scores = vec![-200.0; 4];
        scores[3] = 2.0;
        // the last anchor: one pixel to the left, 20 by 30; its first keypoint three pixels below
        for (index, number) in [(0, -1.0), (2, 20.0), (3, 30.0), (5, 3.0)] {
            values[4 * index + 3] = number;
        }
        let found = decode(&values, &scores, 2, 50, 0.5);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values[..6], [74.0, 75.0, 20.0, 30.0, 75.0, 78.0]);
        assert!((found[0].confidence - 0.880_797).abs() < 1e-5);
        assert_eq!(found[0].transformed(2.0, 10.0, 20.0).values[..6], [158.0, 170.0, 40.0, 60.0, 160.0, 176.0]);
        values[4 * 2 + 3] = f32::NAN;
        assert!(decode(&values, &scores, 2, 50, 0.5).is_empty(), "not a number");
        assert!(decode(&values, &scores[1..], 2, 50, 0.5).is_empty(), "another length");
    }
}
