//! The sky, and planes, which are intersected with each pixel's ray instead of being drawn as triangles.

use std::ops::Range;

use glam::Vec3;

use super::raster::Canvas;

/// Number of sky shades from straight down to straight up.
const SHADES: usize = 512;
/// Sky colours by the ray's slope, components 0 to 255: straight down, below the horizon, above it, straight up.
const SKY: [(f32, [f32; 3]); 4] = [
    (-1.0, [150.0, 150.0, 150.0]),
    (-0.02, [196.0, 202.0, 208.0]),
    (0.02, [222.0, 233.0, 243.0]),
    (1.0, [112.0, 160.0, 220.0]),
];
/// Colour that an infinite plane fades into.
const HORIZON: [f32; 3] = [209.0, 217.0, 225.0];
/// Distance at which an infinite plane has faded by half, in m.
const HALF_FADE: f32 = 90.0;
/// Side of the checkerboard squares on planes, in m.
const SQUARE: f32 = 0.5;
/// How much darker every second square is, as a fraction of its brightness.
const SQUARE_CONTRAST: f32 = 0.045;
/// Distance from which the squares fade, in m; they would flicker where they are smaller than pixels.
const SQUARE_FADE: f32 = 6.0;
/// A camera closer to the plane than this, in m, does not see it.
const LEAST_HEIGHT: f32 = 1e-6;
/// Added before truncating to whole squares, because casts round towards 0.
const SQUARE_BIAS: f32 = 65_536.0;

/// The sky, as a table over the slope of the ray.
#[derive(Debug)]
pub(super) struct Sky {
    shades: Vec<[u8; 3]>,
}

impl Sky {
    pub(super) fn new() -> Self {
        let shade = |index: usize| {
            let height = 2.0 * index as f32 / (SHADES - 1) as f32 - 1.0;
            let between = SKY.windows(2).find(|pair| height <= pair[1].0).unwrap_or(&SKY[2..]);
            let ((low, below), (high, above)) = (between[0], between[1]);
            let part = ((height - low) / (high - low)).clamp(0.0, 1.0);
            [0, 1, 2].map(|i| (below[i] + part * (above[i] - below[i])) as u8)
        };
        Self { shades: (0..SHADES).map(shade).collect() }
    }

    /// Fills the whole canvas; `up` is the world's z axis in the camera's frame.
    pub(super) fn draw(&self, canvas: &mut Canvas, up: Vec3) {
        canvas.nearness.fill(0.0);
        let scale = (SHADES - 1) as f32 / 2.0;
        for row in 0..canvas.height {
            let [left, height] = canvas.ray(0, row);
            let mut slope = (up.dot(Vec3::new(1.0, left, height)) + 1.0) * scale;
            let step = -up.y / canvas.focal * scale;
            let shade = |slope: f32| self.shades[(slope.max(0.0) as usize).min(SHADES - 1)];
            let pixels = &mut canvas.rgb[row * canvas.width..(row + 1) * canvas.width];
            if (step * pixels.len() as f32).abs() < 0.5 {
                pixels.fill(shade(slope));
                continue;
            }
            for pixel in pixels {
                *pixel = shade(slope);
                slope += step;
            }
        }
    }
}

/// A plane in the camera frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// A point on the plane, in m.
    pub(super) centre: Vec3,
    /// Axes; the third is the normal.
    pub(super) axes: [Vec3; 3],
    /// Half lengths along the first two axes, in m; 0 means infinite.
    pub(super) half_sizes: [f32; 2],
    /// Colour, components 0 to 1.
    pub(super) rgb: [f32; 3],
    /// 0 (transparent) to 1 (opaque).
    pub(super) opacity: f32,
}

impl Plane {
    /// Draws the plane where it is closer than what has been drawn. `light` scales its brightness.
    pub(super) fn draw(&self, canvas: &mut Canvas, light: f32) {
        let [along, across, normal] = self.axes;
        let below = normal.dot(self.centre);
        // visible from above only
        if below.is_nan() || below > -LEAST_HEIGHT || !self.centre.is_finite() {
            return;
        }
        let places = [along, across].map(|axis| axis.dot(self.centre));
        let is_infinite = self.half_sizes.contains(&0.0);
        let bright = self.rgb.map(|part| part.clamp(0.0, 1.0) * light * 255.0);
        let step = -1.0 / canvas.focal;
        for row in 0..canvas.height {
            let [left, height] = canvas.ray(0, row);
            let ray = Vec3::new(1.0, left, height);
            let near = Ramp { start: normal.dot(ray) / below, step: normal.y * step / below };
            let slopes = [along, across].map(|axis| Ramp { start: axis.dot(ray), step: axis.y * step });
            let columns = self.columns(near, slopes, places, canvas.width);
            let pixels = row * canvas.width + columns.start..row * canvas.width + columns.end;
            let (mut near, mut slopes) = (near.from(columns.start), slopes.map(|slope| slope.from(columns.start)));
            for (pixel, depth) in canvas.rgb[pixels.clone()].iter_mut().zip(&mut canvas.nearness[pixels]) {
                if near.start > *depth {
                    let distance = 1.0 / near.start;
                    let [x, y] = [0, 1].map(|i| slopes[i].start * distance - places[i]);
                    let mut colour = checkerboard(bright, x, y, near.start);
                    if is_infinite {
                        let seen = HALF_FADE * near.start;
                        colour = mix(colour, HORIZON, 1.0 / (1.0 + seen * seen));
                    }
                    if self.opacity < 1.0 {
                        colour = mix(pixel.map(f32::from), colour, self.opacity);
                    } else {
                        *depth = near.start;
                    }
                    *pixel = colour.map(|part| part as u8);
                }
                near.start += near.step;
                slopes.iter_mut().for_each(|slope| slope.start += slope.step);
            }
        }
    }

    /// The columns of a row that the plane covers.
    fn columns(&self, near: Ramp, slopes: [Ramp; 2], places: [f32; 2], width: usize) -> Range<usize> {
        let mut columns = near.where_positive(0..width);
        for i in [0, 1] {
            let half = self.half_sizes[i];
            if half > 0.0 {
                // |slope / near - place| <= half, times near
                for sign in [1.0, -1.0] {
                    let inside = |slope: f32, near: f32| (half + sign * places[i]) * near - sign * slope;
                    let margin =
                        Ramp { start: inside(slopes[i].start, near.start), step: inside(slopes[i].step, near.step) };
                    columns = margin.where_positive(columns);
                }
            }
        }
        columns
    }
}

/// A value that varies linearly along a row.
#[derive(Clone, Copy)]
struct Ramp {
    /// Value at the first pixel.
    start: f32,
    step: f32,
}

impl Ramp {
    /// The same values, starting at another pixel.
    fn from(self, column: usize) -> Self {
        Self { start: self.start + self.step * column as f32, ..self }
    }

    /// The columns at which the value is positive.
    fn where_positive(self, columns: Range<usize>) -> Range<usize> {
        let Range { start, end } = columns;
        // casts saturate, also for values that are not finite
        let root = -self.start / self.step;
        let (start, end) = match self.step {
            step if step > 0.0 => (start.max((root + 1.0).max(0.0) as usize), end),
            step if step < 0.0 => (start, end.min((root.max(-1.0) + 1.0) as usize)),
            _ if self.start > 0.0 => (start, end),
            _ => (start, start),
        };
        start.min(end)..end
    }
}

/// The colour of the checkerboard at a point of the plane, in m.
fn checkerboard(bright: [f32; 3], x: f32, y: f32, near: f32) -> [f32; 3] {
    let whole = |coordinate: f32| (coordinate * (1.0 / SQUARE) + SQUARE_BIAS) as i32;
    if (whole(x) ^ whole(y)) & 1 == 0 {
        return bright;
    }
    let seen = (SQUARE_FADE * near).min(1.0);
    let shade = 1.0 - SQUARE_CONTRAST * seen * seen;
    bright.map(|part| part * shade)
}

fn mix(from: [f32; 3], to: [f32; 3], part: f32) -> [f32; 3] {
    [0, 1, 2].map(|i| from[i] + part * (to[i] - from[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_know_where_they_are_positive() {
        for (start, step, expected) in [
            (1.0, 0.0, 0..10),
            (0.0, 0.0, 0..0),
            (-3.0, 1.0, 4..10),
            (-3.5, 1.0, 4..10),
            (3.5, -1.0, 0..4),
            (5.0, 1.0, 0..10),
            (-1.0, -1.0, 0..0),
            (-99.0, 1.0, 10..10),
            (f32::NAN, 1.0, 0..10),
            (1.0, f32::NAN, 0..10),
        ] {
            assert_eq!(Ramp { start, step }.where_positive(0..10), expected, "{start} {step}");
        }
    }

    #[test]
    fn the_sky_is_brightest_at_the_horizon() {
        let sky = Sky::new();
        let sum = |index: usize| sky.shades[index].iter().map(|part| u32::from(*part)).sum::<u32>();
        assert!(sum(SHADES / 2 + 6) > sum(SHADES - 1) && sum(SHADES / 2 + 6) > sum(0));
    }
}
