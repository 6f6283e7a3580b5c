//! Crops and scales images to the input of a network.
//!
//! The result is planar (channel by channel). Pixels outside the image are black.

use crate::camera::Image;

/// Maximum number of samples per output pixel along each axis.
const MAX_SAMPLES: usize = 8;

/// An axis-aligned area, which may extend beyond the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    /// Left edge, in image pixels.
    pub(super) left: f32,
    /// Top edge, in image pixels.
    pub(super) top: f32,
    /// Image pixels per output pixel.
    pub(super) step: f32,
}

/// Whether the image is not empty and its size matches its data.
pub(super) fn is_valid(image: &Image) -> bool {
    let bytes = image.width.checked_mul(image.height).and_then(|pixels| pixels.checked_mul(3));
    !image.rgb.is_empty() && bytes == Some(image.rgb.len())
}

/// Scales an area to `size` (width and height) with an area filter. Values are -1 (black) to 1 (white).
pub(super) fn shrink(image: &Image, area: Area, size: [usize; 2]) -> Vec<f32> {
    let [width, height] = size;
    let columns = covers(area.left, area.step, width, image.width);
    let rows = covers(area.top, area.step, height, image.height);
    let mut planes = vec![-1.0; 3 * width * height];
    // weighted sum of the image rows covered by one output row
    let mut sums = vec![0.0f32; 3 * image.width];
    let scale = 2.0 / (255.0 * area.step * area.step);
    for (y, rows) in rows.iter().enumerate() {
        sums.fill(0.0);
        for (row, weight) in rows.pixels() {
            let bytes = &image.rgb[3 * image.width * row..][..3 * image.width];
            for (sum, &byte) in sums.iter_mut().zip(bytes) {
                *sum += weight * f32::from(byte);
            }
        }
        for (x, columns) in columns.iter().enumerate() {
            let mut pixel = [0.0; 3];
            for (column, weight) in columns.pixels() {
                for (channel, sum) in pixel.iter_mut().enumerate() {
                    *sum += weight * sums[3 * column + channel];
                }
            }
            for (channel, sum) in pixel.into_iter().enumerate() {
                planes[(channel * height + y) * width + x] = sum * scale - 1.0;
            }
        }
    }
    planes
}

/// Halves a planar image of three channels and `size` (width and height).
pub(super) fn halve(planes: &[f32], size: [usize; 2]) -> Vec<f32> {
    let rows = planes.chunks_exact(2 * size[0]).map(|rows| rows.split_at(size[0]));
    rows.flat_map(|(upper, lower)| {
        let pairs = upper.chunks_exact(2).zip(lower.chunks_exact(2));
        pairs.map(|(a, b)| (a[0] + a[1] + b[0] + b[1]) / 4.0)
    })
    .collect()
}

/// The image pixels `first..end` covered by one output pixel; the first and the last one may be covered in part.
#[derive(Clone, Copy, Debug)]
struct Cover {
    first: usize,
    end: usize,
    low: f32,
    high: f32,
}

impl Cover {
    fn pixels(self) -> impl Iterator<Item = (usize, f32)> {
        (self.first..self.end).map(move |pixel| {
            let (start, end) = (self.low.max(pixel as f32), self.high.min(pixel as f32 + 1.0));
            (pixel, (end - start).max(0.0))
        })
    }
}

fn covers(start: f32, step: f32, size: usize, limit: usize) -> Vec<Cover> {
    let edge = |index: usize| (start + step * index as f32).clamp(0.0, limit as f32);
    (0..size)
        .map(|index| {
            let (low, high) = (edge(index), edge(index + 1));
            Cover { first: low as usize, end: (high.ceil() as usize).min(limit), low, high }
        })
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RotatedSquare {
    /// Centre, in image pixels.
    pub(super) centre: [f32; 2],
    /// Vector along the upper edge from left to right, in image pixels.
    pub(super) right: [f32; 2],
}

/// Samples a rotated square at `size` x `size` pixels, subtracts `mean` and divides by 255.
pub(super) fn crop(image: &Image, square: RotatedSquare, size: usize, mean: [f32; 3]) -> Vec<f32> {
    let [right_x, right_y] = square.right.map(|way| way / size as f32);
    let samples = (right_x.hypot(right_y).ceil() as usize).clamp(1, MAX_SAMPLES);
    let mut planes = vec![0.0; 3 * size * size];
    let offset =
        |index: usize, sample: usize| index as f32 + (sample as f32 + 0.5) / samples as f32 - size as f32 / 2.0;
    for y in 0..size {
        for x in 0..size {
            let mut pixel = [0.0; 3];
            for sample in 0..samples * samples {
                let (along, down) = (offset(x, sample % samples), offset(y, sample / samples));
                let at_x = square.centre[0] + right_x * along - right_y * down;
                let at_y = square.centre[1] + right_y * along + right_x * down;
                add(image, at_x - 0.5, at_y - 0.5, &mut pixel);
            }
            for (channel, sum) in pixel.into_iter().enumerate() {
                let value = sum / (samples * samples) as f32;
                planes[(channel * size + y) * size + x] = (value - mean[channel]) / 255.0;
            }
        }
    }
    planes
}

/// Adds the bilinear sample at a position.
fn add(image: &Image, x: f32, y: f32, pixel: &mut [f32; 3]) {
    let (left, top) = (x.floor(), y.floor());
    let (beside, below) = (x - left, y - top);
    for (row, weight_y) in [(top, 1.0 - below), (top + 1.0, below)] {
        for (column, weight_x) in [(left, 1.0 - beside), (left + 1.0, beside)] {
            if row >= 0.0 && column >= 0.0 && (row as usize) < image.height && (column as usize) < image.width {
                let at = 3 * (row as usize * image.width + column as usize);
                for (sum, &byte) in pixel.iter_mut().zip(&image.rgb[at..at + 3]) {
                    *sum += weight_x * weight_y * f32::from(byte);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red grows to the right, green downwards.
    fn ramp(width: usize, height: usize) -> Image {
        let mut image = Image::new(width, height);
        for (index, pixel) in image.rgb.chunks_exact_mut(3).enumerate() {
            pixel.copy_from_slice(&[(index % width) as u8, (index / width) as u8, 100]);
        }
        image
    }

    #[test]
    fn scaling_uses_an_area_filter() {
        let image = ramp(60, 40);
        for (left, step, size, at, red, green) in [
            (0.0, 4.0, [10, 10], (0, 0), 1.5, 1.5),
            (0.0, 2.5, [16, 12], (3, 4), 8.2, 10.8),
            (20.0, 1.0, [40, 30], (7, 9), 27.0, 9.0),
            (10.5, 1.0, [40, 40], (7, 9), 17.5, 9.0),
        ] {
            let planes = shrink(&image, Area { left, top: 0.0, step }, size);
            let of = |channel: usize| (planes[(channel * size[1] + at.1) * size[0] + at.0] + 1.0) * 127.5;
            assert!((of(0) - red).abs() < 1e-3, "from {left}, {step}: red {} is not {red}", of(0));
            assert!((of(1) - green).abs() < 1e-3, "from {left}, {step}: green {} is not {green}", of(1));
            assert!((of(2) - 100.0).abs() < 1e-3, "from {left}, {step}: blue {}", of(2));
        }
    }

    #[test]
    fn halving_equals_scaling_by_two() {
        let image = ramp(60, 40);
        let shrunk = |step, size| shrink(&image, Area { left: -2.0, top: 3.0, step }, size);
        let (half, at_once) = (halve(&shrunk(1.5, [44, 20]), [44, 20]), shrunk(3.0, [22, 10]));
        assert_eq!(half.len(), at_once.len());
        assert!(half.iter().zip(&at_once).all(|(a, b)| (a - b).abs() < 1e-4));
    }

    #[test]
    fn outside_is_black() {
        let image = ramp(60, 40);
        let planes = shrink(&image, Area { left: 0.0, top: -10.0, step: 1.0 }, [60, 60]);
        assert_eq!(planes[5], -1.0, "above");
        assert!(planes[10 * 60 + 5] > -1.0, "the first row");
        let planes = crop(&image, RotatedSquare { centre: [-100.0, 0.0], right: [10.0, 0.0] }, 4, [0.0; 3]);
        assert!(planes.iter().all(|&value| value == 0.0));
    }

    #[test]
    fn rotated_squares_are_sampled() {
        let image = ramp(60, 40);
        for (right, size, red, green) in [
            ([20.0, 0.0], 20, (20.0, 29.0), (10.0, 10.0)),
            ([0.0, 20.0], 20, (39.0, 39.0), (10.0, 19.0)),
            ([-20.0, 0.0], 20, (39.0, 30.0), (29.0, 29.0)),
            ([20.0, 0.0], 5, (21.5, 29.5), (11.5, 11.5)),
        ] {
            let planes = crop(&image, RotatedSquare { centre: [30.0, 20.0], right }, size, [0.0; 3]);
            let of = |channel: usize, x: usize| planes[channel * size * size + x] * 255.0;
            // the first pixel of the upper row and one in the middle of it
            let middle = if size == 20 { 9 } else { 2 };
            for (channel, wanted) in [(0, red), (1, green)] {
                assert!((of(channel, 0) - wanted.0).abs() < 1e-3, "{right:?}: {} is not {}", of(channel, 0), wanted.0);
                let (is, wanted) = (of(channel, middle), wanted.1);
                assert!((is - wanted).abs() < 1e-3, "{right:?}: {is} is not {wanted} in the middle");
            }
        }
    }
}
