//! A coarse spatial index: neighbours share a bucket, so that most of the world is skipped at once.

use glam::DVec2;

use crate::solid::Bounds;

const BUCKET_SIZE: usize = 8;

/// Items, grouped into buckets by their position.
#[derive(Debug, Default)]
pub(crate) struct SpatialIndex {
    buckets: Vec<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    bounds: Bounds,
    /// Bounds and index of each item.
    items: Vec<(Bounds, u32)>,
}

impl SpatialIndex {
    pub(crate) fn new(bounds: impl Iterator<Item = Bounds>) -> Self {
        let mut items: Vec<(Bounds, u32)> = bounds.zip(0..).collect();
        items.sort_by_key(|(bounds, index)| (morton_code(0.5 * (bounds.min + bounds.max)), *index));
        let buckets = items
            .chunks(BUCKET_SIZE)
            .map(|items| Bucket {
                bounds: items.iter().fold(Bounds::EMPTY, |all, (bounds, _)| all.union(*bounds)),
                items: items.to_vec(),
            })
            .collect();
        Self { buckets }
    }

    /// Calls `visit` with the items whose bounds pass the test, always in the same order. A bucket's bounds must pass if
    /// those of an item in it do.
    #[inline]
    pub(crate) fn visit(&self, passes: impl Fn(&Bounds) -> bool, mut visit: impl FnMut(&Bounds, usize)) {
        for bucket in self.buckets.iter().filter(|bucket| passes(&bucket.bounds)) {
            for (bounds, index) in bucket.items.iter().filter(|(bounds, _)| passes(bounds)) {
                visit(bounds, *index as usize);
            }
        }
    }
}

/// Position on a Morton curve, on which neighbours in the plane mostly follow each other.
fn morton_code(point: DVec2) -> u32 {
    let spread = |value: f64| {
        let cell = (value / 25.0 + 64.0).clamp(0.0, 255.0) as u32;
        (0..8).map(|bit| (cell >> bit & 1) << (2 * bit)).sum::<u32>()
    };
    spread(point.x) | spread(point.y) << 1
}
