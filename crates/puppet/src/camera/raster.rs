//! A triangle rasteriser with a depth buffer.

use glam::Vec3;

/// Distance of the near clipping plane, in m.
pub(super) const NEAR: f32 = 0.02;
/// How far triangles extend over their edges, in pixels, so that neighbours leave no gaps.
const OVERLAP: f32 = 1e-3;
/// Smaller triangles are not drawn, in pixels.
const LEAST_AREA: f32 = 1e-6;

/// A vertex in the camera frame (x forward, y left, z up, in m) with values to interpolate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex<const N: usize> {
    pub(super) point: Vec3,
    pub(super) values: [f32; N],
}

/// A vertex projected onto the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScreenVertex<const N: usize> {
    /// Pixels from the left and from the top.
    x: f32,
    y: f32,
    /// 1 / depth, in 1/m.
    nearness: f32,
    values: [f32; N],
}

/// Colour and depth buffer.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Focal length, in pixels.
    pub(super) focal: f32,
    pub(super) rgb: Vec<[u8; 3]>,
    /// 1 / depth, in 1/m; 0 for the sky.
    pub(super) nearness: Vec<f32>,
}

/// A value that varies linearly over the screen.
#[derive(Clone, Copy)]
struct Gradient {
    start: f32,
    along_x: f32,
    along_y: f32,
}

impl Gradient {
    /// From the values at the vertices of a triangle, whose doubled area is `area`.
    fn through<const N: usize>(spots: &[ScreenVertex<N>; 3], values: [f32; 3], area: f32) -> Self {
        let [a, b, c] = spots;
        let (to_b, to_c) = (values[1] - values[0], values[2] - values[0]);
        let along_x = (to_b * (c.y - a.y) - to_c * (b.y - a.y)) / area;
        let along_y = (to_c * (b.x - a.x) - to_b * (c.x - a.x)) / area;
        Self { start: values[0] - along_x * a.x - along_y * a.y, along_x, along_y }
    }

    fn at(&self, x: f32, y: f32) -> f32 {
        self.start + self.along_x * x + self.along_y * y
    }
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let pixels = width * height;
        Self { width, height, focal: 1.0, rgb: vec![[0; 3]; pixels], nearness: vec![0.0; pixels] }
    }

    /// Slopes of the ray through the centre of a pixel: to the left and up, per m forward.
    pub(super) fn ray(&self, x: usize, y: usize) -> [f32; 2] {
        let left = (self.width as f32 / 2.0 - x as f32 - 0.5) / self.focal;
        let up = (self.height as f32 / 2.0 - y as f32 - 0.5) / self.focal;
        [left, up]
    }

    /// Projects a vertex in front of the camera. With `perspective`, its values are divided by the depth, for
    /// perspective-correct interpolation.
    pub(super) fn project<const N: usize>(&self, vertex: &Vertex<N>, perspective: bool) -> ScreenVertex<N> {
        let nearness = 1.0 / vertex.point.x;
        let x = self.width as f32 / 2.0 - self.focal * vertex.point.y * nearness;
        let y = self.height as f32 / 2.0 - self.focal * vertex.point.z * nearness;
        let values = if perspective { vertex.values.map(|value| value * nearness) } else { vertex.values };
        ScreenVertex { x, y, nearness, values }
    }

    /// Draws a triangle that may extend behind the camera.
    pub(super) fn clipped<const N: usize>(
        &mut self,
        vertices: &[Vertex<N>; 3],
        perspective: bool,
        keep_depth: bool,
        paint: &impl Fn(&mut [u8; 3], f32, [f32; N]),
    ) {
        let mut spots = [None; 4];
        let mut count = 0;
        let mut push = |vertex: &Vertex<N>| {
            spots[count] = Some(self.project(vertex, perspective));
            count += 1;
        };
        for (index, from) in vertices.iter().enumerate() {
            let to = &vertices[(index + 1) % 3];
            if from.point.x >= NEAR {
                push(from);
            }
            if (from.point.x >= NEAR) != (to.point.x >= NEAR) {
                let part = (NEAR - from.point.x) / (to.point.x - from.point.x);
                let mut point = from.point.lerp(to.point, part);
                point.x = NEAR;
                let mixed = |i: usize| from.values[i] + part * (to.values[i] - from.values[i]);
                push(&Vertex { point, values: std::array::from_fn(mixed) });
            }
        }
        let [Some(first), second, third, fourth] = spots else { return };
        for (b, c) in [(second, third), (third, fourth)] {
            if let (Some(b), Some(c)) = (b, c) {
                self.triangle(&[first, b, c], keep_depth, paint);
            }
        }
    }

    /// Draws a triangle that is entirely in front of the camera, unless it faces away. `paint` is called for each visible
    /// pixel with 1 / depth and the interpolated values.
    pub(super) fn triangle<const N: usize>(
        &mut self,
        spots: &[ScreenVertex<N>; 3],
        keep_depth: bool,
        paint: &impl Fn(&mut [u8; 3], f32, [f32; N]),
    ) {
        let [a, b, c] = spots;
        let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        // counter-clockwise triangles have a negative area, as y points down
        if area.is_nan() || area > -LEAST_AREA {
            return;
        }
        let (top, bottom) = (a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
        let rows = first_centre(top, self.height)..first_centre(bottom, self.height);
        if rows.is_empty() {
            return;
        }
        let nearness = Gradient::through(spots, [a.nearness, b.nearness, c.nearness], area);
        let values: [Gradient; N] =
            std::array::from_fn(|i| Gradient::through(spots, [a.values[i], b.values[i], c.values[i]], area));
        let edges = Edges::of(spots);
        for row in rows {
            let y = row as f32 + 0.5;
            let (left, right) = edges.span(y);
            let (from, to) = (first_centre(left - OVERLAP, self.width), first_centre(right + OVERLAP, self.width));
            if from >= to {
                continue;
            }
            let start = row * self.width;
            let (Some(pixels), Some(depths)) =
                (self.rgb.get_mut(start + from..start + to), self.nearness.get_mut(start + from..start + to))
            else {
                continue;
            };
            let x = from as f32 + 0.5;
            let mut near = nearness.at(x, y);
            let mut mixed = values.map(|slope| slope.at(x, y));
            for (pixel, depth) in pixels.iter_mut().zip(depths) {
                if near > *depth {
                    paint(pixel, near, mixed);
                    if keep_depth {
                        *depth = near;
                    }
                }
                near += nearness.along_x;
                mixed.iter_mut().zip(&values).for_each(|(value, slope)| *value += slope.along_x);
            }
        }
    }
}

/// The first pixel whose centre is not before `edge`.
fn first_centre(edge: f32, count: usize) -> usize {
    // casts round towards 0 and saturate
    let position = (edge + 0.5).max(0.0);
    let whole = position as usize;
    (if position > whole as f32 { whole } else { whole.saturating_sub(1) }).min(count)
}

/// The edges of a triangle, sorted from top to bottom.
struct Edges {
    /// From the top vertex to the bottom one, from the top to the middle one, and from the middle to the bottom one.
    long: Edge,
    upper: Edge,
    lower: Edge,
}

/// An edge, from its upper end down.
struct Edge {
    x: f32,
    y: f32,
    /// Pixels to the right for each pixel down.
    slope: f32,
}

impl Edge {
    fn between<const N: usize>(upper: &ScreenVertex<N>, lower: &ScreenVertex<N>) -> Self {
        let height = lower.y - upper.y;
        let slope = if height > 0.0 { (lower.x - upper.x) / height } else { 0.0 };
        Self { x: upper.x, y: upper.y, slope }
    }

    fn at(&self, y: f32) -> f32 {
        self.x + (y - self.y) * self.slope
    }
}

impl Edges {
    fn of<const N: usize>(spots: &[ScreenVertex<N>; 3]) -> Self {
        let [mut top, mut middle, mut bottom] = [&spots[0], &spots[1], &spots[2]];
        if top.y > middle.y {
            (top, middle) = (middle, top);
        }
        if middle.y > bottom.y {
            (middle, bottom) = (bottom, middle);
        }
        if top.y > middle.y {
            (top, middle) = (middle, top);
        }
        Self {
            long: Edge::between(top, bottom),
            upper: Edge::between(top, middle),
            lower: Edge::between(middle, bottom),
        }
    }

    /// Left and right end of the triangle at `y`, which lies between its top and bottom.
    fn span(&self, y: f32) -> (f32, f32) {
        let (a, b) = (self.long.at(y), if y < self.lower.y { self.upper.at(y) } else { self.lower.at(y) });
        (a.min(b), a.max(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_count_from_their_centres() {
        for (edge, expected) in
            [(-3.0, 0), (0.0, 0), (0.4, 0), (0.5, 0), (0.6, 1), (1.5, 1), (1.51, 2), (9.9, 8), (f32::INFINITY, 8)]
        {
            assert_eq!(first_centre(edge, 8), expected, "{edge}");
        }
        assert_eq!(first_centre(f32::NAN, 8), 0);
    }

    fn vertex(x: f32, y: f32, z: f32) -> Vertex<0> {
        Vertex { point: Vec3::new(x, y, z), values: [] }
    }

    fn painted(vertices: [[f32; 3]; 3]) -> usize {
        let mut canvas = Canvas::new(40, 30);
        canvas.focal = 20.0;
        let vertices = vertices.map(|[x, y, z]| vertex(x, y, z));
        canvas.clipped(&vertices, false, true, &|pixel, _, _| *pixel = [255; 3]);
        canvas.rgb.iter().filter(|pixel| **pixel == [255; 3]).count()
    }

    #[test]
    fn triangles_are_culled_and_clipped() {
        let front = [[2.0, 0.5, -0.5], [2.0, -0.5, -0.5], [2.0, 0.5, 0.5]];
        // half of 10 x 10 pixels, with those on the diagonal
        assert!((45..=55).contains(&painted(front)), "{}", painted(front));
        assert_eq!(painted([front[0], front[2], front[1]]), 0);
        assert_eq!(painted(front.map(|[x, y, z]| [-x, y, z])), 0);
        // the ground, from under the camera to far ahead
        assert!(painted([[-50.0, 50.0, -1.0], [-50.0, -50.0, -1.0], [90.0, 0.0, -1.0]]) > 400);
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            painted([[2.0, bad, -0.5], front[1], front[2]]);
            painted([[bad, 0.5, -0.5], front[1], front[2]]);
        }
    }

    /// Two triangles with a common edge cover every pixel.
    #[test]
    fn there_are_no_gaps() {
        let mut canvas = Canvas::new(64, 64);
        canvas.focal = 30.0;
        let quad =
            [[1.0, 2.0, -2.1], [1.0, -2.0, -1.9], [1.0, -2.2, 2.0], [1.0, 1.9, 2.0]].map(|[x, y, z]| vertex(x, y, z));
        for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
            canvas.clipped(&[quad[a], quad[b], quad[c]], false, true, &|pixel, _, _| *pixel = [255; 3]);
        }
        assert!(canvas.rgb.iter().all(|pixel| *pixel == [255; 3]));
    }
}
