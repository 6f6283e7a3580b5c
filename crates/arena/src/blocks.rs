//! A coarse index: neighbours share a block, so that most of the world is passed over at once.

use glam::DVec2;

use crate::solid::Bounds;

const PER_BLOCK: usize = 8;

/// Blocks of items that are close to each other.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    bounds: Bounds,
    /// Items and their bounds.
    items: Vec<(Bounds, u32)>,
}

impl Blocks {
    pub(crate) fn new(bounds: impl Iterator<Item = Bounds>) -> Self {
        let mut items: Vec<(Bounds, u32)> = bounds.zip(0..).collect();
        items.sort_by_key(|(bounds, index)| (curve(0.5 * (bounds.min + bounds.max)), *index));
        let blocks = items
            .chunks(PER_BLOCK)
            .map(|items| Block {
                bounds: items.iter().fold(Bounds::NOTHING, |all, (bounds, _)| all.with(*bounds)),
                items: items.to_vec(),
            })
            .collect();
        Self { blocks }
    }

    /// Calls `visit` with the items whose bounds pass the test, in an order that is always the same. A block's bounds
    /// must pass if those of an item in it do.
    #[inline]
    pub(crate) fn visit(&self, passes: impl Fn(&Bounds) -> bool, mut visit: impl FnMut(&Bounds, usize)) {
        for block in self.blocks.iter().filter(|block| passes(&block.bounds)) {
            for (bounds, index) in block.items.iter().filter(|(bounds, _)| passes(bounds)) {
                visit(bounds, *index as usize);
            }
        }
    }
}

/// Position on a curve that visits neighbours one after the other (Morton).
fn curve(point: DVec2) -> u32 {
    let spread = |value: f64| {
        let cell = (value / 25.0 + 64.0).clamp(0.0, 255.0) as u32;
        (0..8).map(|bit| (cell >> bit & 1) << (2 * bit)).sum::<u32>()
    };
    spread(point.x) | spread(point.y) << 1
}
