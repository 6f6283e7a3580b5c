//! Boxes around faces: how they are read from what the network says, and how many for one face become one.

/// Numbers the network gives for each place: the box, then six points, two each.
pub(super) const NUMBERS: usize = 16;
/// Boxes that overlap by more, as a part of both, are of one face.
const SAME: f32 = 0.3;
/// The largest score that is told from certainty.
const MAX_SCORE: f32 = 80.0;

/// A box around a face, in pixels of whatever it was found in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// How certain it is a face, 0 to 1.
    pub(super) confidence: f32,
    /// Centre and size of the box, then x and y of the eyes, the nose, the mouth and the ears.
    pub(super) numbers: [f32; NUMBERS],
}

impl Candidate {
    /// Left, upper, right and lower edge.
    pub(super) fn edges(&self) -> [f32; 4] {
        let [x, y, width, height, ..] = self.numbers;
        [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0]
    }

    /// The same in pixels that are `scale` times as large, moved.
    pub(super) fn placed(mut self, scale: f32, left: f32, top: f32) -> Candidate {
        for (index, number) in self.numbers.iter_mut().enumerate() {
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

/// The part of both boxes together that they share, 0 to 1.
pub(super) fn overlap(a: [f32; 4], b: [f32; 4]) -> f32 {
    let shared = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0) * (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let area = |edges: [f32; 4]| (edges[2] - edges[0]).max(0.0) * (edges[3] - edges[1]).max(0.0);
    let all = area(a) + area(b) - shared;
    if all > 0.0 { shared / all } else { 0.0 }
}

/// The boxes in what the network says of a picture, for each place of a grid of so many columns, `step` pixels apart.
/// `numbers` and `scores` have a plane for each number.
pub(super) fn decode(numbers: &[f32], scores: &[f32], columns: usize, step: usize, least: f32) -> Vec<Candidate> {
    let places = scores.len();
    if columns == 0 || numbers.len() != NUMBERS * places {
        return Vec::new();
    }
    let read = |place: usize| {
        let confidence = 1.0 / (1.0 + (-scores[place].clamp(-MAX_SCORE, MAX_SCORE)).exp());
        let own = std::array::from_fn(|index| numbers[index * places + place]);
        let middle = |index: usize| (index as f32 + 0.5) * step as f32;
        Candidate { confidence, numbers: own }.placed(1.0, middle(place % columns), middle(place / columns))
    };
    let sound = |candidate: &Candidate| {
        candidate.confidence >= least
            && candidate.numbers.iter().all(|number| number.is_finite())
            && candidate.numbers[2] > 0.0
            && candidate.numbers[3] > 0.0
    };
    (0..places).map(read).filter(sound).collect()
}

/// One box for each face, the most certain first: the mean of all that overlap with the most certain one, each weighted
/// with how certain it is.
pub(super) fn merge(mut candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    candidates.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut merged = Vec::new();
    while let Some(&best) = candidates.first()
        && merged.len() < most
    {
        let (same, others): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .enumerate()
            .partition(|(index, other)| *index == 0 || overlap(best.edges(), other.edges()) > SAME);
        let total: f32 = same.iter().map(|(_, other)| other.confidence).sum();
        let mean = |index: usize| {
            let sum: f32 = same.iter().map(|(_, other)| other.confidence * other.numbers[index]).sum();
            sum / total
        };
        merged.push(Candidate { confidence: best.confidence, numbers: std::array::from_fn(mean) });
        candidates = others.into_iter().map(|(_, other)| other).collect();
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(confidence: f32, x: f32, y: f32, side: f32) -> Candidate {
        let mut numbers = [0.0; NUMBERS];
        numbers[..4].copy_from_slice(&[x, y, side, side]);
        Candidate { confidence, numbers }
    }

    #[test]
    fn boxes_share_a_part() {
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
    fn many_boxes_for_one_face_become_their_mean() {
        let boxes =
            vec![candidate(0.6, 12.0, 10.0, 10.0), candidate(0.9, 10.0, 10.0, 10.0), candidate(0.7, 50.0, 50.0, 10.0)];
        let merged = merge(boxes, 16);
        assert_eq!(merged.len(), 2);
        assert_eq!((merged[0].confidence, merged[1].confidence), (0.9, 0.7));
        assert!((merged[0].numbers[0] - (0.6 * 12.0 + 0.9 * 10.0) / 1.5).abs() < 1e-5);
        assert_eq!(merged[1].numbers[0], 50.0);
        let many = (0..40).map(|index| candidate(0.8, 20.0 * index as f32, 0.0, 10.0)).collect();
        assert_eq!(merge(many, 16).len(), 16);
    }

    #[test]
    fn a_box_is_where_its_place_is() {
        let mut numbers = vec![0.0; NUMBERS * 4];
        let mut scores = vec![-200.0; 4];
        scores[3] = 2.0;
        // the box of the last place: one to the left, 20 by 30; its first point three below
        for (index, number) in [(0, -1.0), (2, 20.0), (3, 30.0), (5, 3.0)] {
            numbers[4 * index + 3] = number;
        }
        let found = decode(&numbers, &scores, 2, 50, 0.5);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].numbers[..6], [74.0, 75.0, 20.0, 30.0, 75.0, 78.0]);
        assert!((found[0].confidence - 0.880_797).abs() < 1e-5);
        assert_eq!(found[0].placed(2.0, 10.0, 20.0).numbers[..6], [158.0, 170.0, 40.0, 60.0, 160.0, 176.0]);
        numbers[4 * 2 + 3] = f32::NAN;
        assert!(decode(&numbers, &scores, 2, 50, 0.5).is_empty(), "not a number");
        assert!(decode(&numbers, &scores[1..], 2, 50, 0.5).is_empty(), "another length");
    }
}
