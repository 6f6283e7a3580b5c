//! Memory layout and kernels of the detector.
//!
//! Each channel is a plane of rows, with one zero between rows and rows of zeros above and below. So 3x3 windows need no
//! special cases at the edges, and SIMD kernels can run over a plane from start to end.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

/// Zeros before the padding row at the top.
const FRONT: usize = 1;
/// The length of a plane is a multiple of this: twice the widest SIMD register.
const BLOCK: usize = 32;
/// Output channels computed together.
pub(super) const GROUP: usize = 4;

/// Channels, height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) channels: usize,
    pub(super) height: usize,
    pub(super) width: usize,
}

impl Shape {
    fn pitch(&self) -> usize {
        self.width + 1
    }

    /// Elements of a plane, including what kernels read past its end.
    fn plane(&self) -> usize {
        (FRONT + (self.height + 2) * self.pitch() + 1 + BLOCK).next_multiple_of(BLOCK)
    }

    /// Elements of all planes.
    pub(super) fn numbers(&self) -> usize {
        self.channels * self.plane()
    }

    /// Offset of a row in a plane.
    fn row(&self, y: usize) -> usize {
        FRONT + (y + 1) * self.pitch()
    }

    /// Clears the padding, and negative values if `relu`.
    fn finish(&self, plane: &mut [f32], relu: bool) {
        plane[..self.row(0)].fill(0.0);
        plane[self.row(self.height)..].fill(0.0);
        for y in 0..self.height {
            plane[self.row(y) + self.width] = 0.0;
        }
        if relu {
            for number in plane {
                *number = number.max(0.0);
            }
        }
    }
}

/// Copies dense values into padded planes.
pub(super) fn spread(numbers: &[f32], shape: Shape, planes: &mut [f32]) {
    let pictures = numbers.chunks_exact(shape.height * shape.width);
    for (plane, picture) in planes.chunks_exact_mut(shape.plane()).zip(pictures) {
        for (y, row) in picture.chunks_exact(shape.width).enumerate() {
            plane[shape.row(y)..][..shape.width].copy_from_slice(row);
        }
        shape.finish(plane, false);
    }
}

/// Copies padded planes into dense values.
pub(super) fn gather(planes: &[f32], shape: Shape) -> Vec<f32> {
    let planes = planes.chunks_exact(shape.plane()).take(shape.channels);
    planes
        .flat_map(|plane| (0..shape.height).flat_map(move |y| &plane[shape.row(y)..][..shape.width]))
        .copied()
        .collect()
}

/// im2col for a 3x3 window with stride 2: nine planes for each input plane.
pub(super) fn unfold(from: &[f32], shape: Shape, to: &mut [f32], half: Shape) {
    for (index, plane) in to.chunks_exact_mut(half.plane()).enumerate() {
        let source = &from[index / 9 * shape.plane()..][..shape.plane()];
        let (down, right) = (index % 9 / 3, index % 3);
        for y in 0..half.height {
            let row = &source[shape.row(2 * y + down) + right..];
            for (number, pair) in plane[half.row(y)..][..half.width].iter_mut().zip(row.chunks(2)) {
                *number = pair[0];
            }
        }
        half.finish(plane, false);
    }
}

/// 2x2 maximum pooling.
pub(super) fn max_pool(from: &[f32], shape: Shape, to: &mut [f32], half: Shape) {
    for (source, plane) in from.chunks_exact(shape.plane()).zip(to.chunks_exact_mut(half.plane())) {
        for y in 0..half.height {
            let upper = source[shape.row(2 * y)..][..shape.width].chunks_exact(2);
            let lower = source[shape.row(2 * y + 1)..][..shape.width].chunks_exact(2);
            for (number, (a, b)) in plane[half.row(y)..][..half.width].iter_mut().zip(upper.zip(lower)) {
                *number = a[0].max(a[1]).max(b[0].max(b[1]));
            }
        }
        half.finish(plane, false);
    }
}

/// Bilinear upsampling by 2 with half-pixel centres.
pub(super) fn double(from: &[f32], shape: Shape, to: &mut [f32], large: Shape) {
    let mut blend = vec![0.0; shape.width];
    for (source, plane) in from.chunks_exact(shape.plane()).zip(to.chunks_exact_mut(large.plane())) {
        for y in 0..large.height {
            // three quarters of the nearer row, one quarter of the other
            let near = y / 2;
            let far = if y % 2 == 0 { near.saturating_sub(1) } else { (near + 1).min(shape.height - 1) };
            let near = &source[shape.row(near)..][..shape.width];
            let far = &source[shape.row(far)..][..shape.width];
            for (number, (near, far)) in blend.iter_mut().zip(near.iter().zip(far)) {
                *number = 0.75 * near + 0.25 * far;
            }
            let row = &mut plane[large.row(y)..][..large.width];
            for (x, pair) in row.chunks_exact_mut(2).enumerate() {
                let (left, right) = (blend[x.saturating_sub(1)], blend[(x + 1).min(blend.len() - 1)]);
                pair[0] = 0.75 * blend[x] + 0.25 * left;
                pair[1] = 0.75 * blend[x] + 0.25 * right;
            }
        }
        large.finish(plane, false);
    }
}

/// Sum of two values, of which the first may have fewer channels.
pub(super) fn add(short: &[f32], long: &[f32], to: &mut [f32], relu: bool) {
    let floor = if relu { 0.0 } else { f32::NEG_INFINITY };
    let (both, rest) = to.split_at_mut(short.len().min(to.len()));
    for (sum, (a, b)) in both.iter_mut().zip(short.iter().zip(long)) {
        *sum = (a + b).max(floor);
    }
    for (sum, b) in rest.iter_mut().zip(&long[short.len().min(long.len())..]) {
        *sum = b.max(floor);
    }
}

/// A 1x1 convolution.
pub(super) struct Pointwise<'a> {
    pub(super) from: &'a [f32],
    pub(super) shape: Shape,
    /// Layout `[group of output channels, input channel, channel within the group]`.
    pub(super) weights: &'a [f32],
    /// For each channel of all groups, padded to whole groups.
    pub(super) bias: &'a [f32],
    pub(super) to: &'a mut [f32],
    pub(super) relu: bool,
}

impl SimdOp for Pointwise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ops, plane, inputs) = (isa.f32(), self.shape.plane(), self.shape.channels);
        let step = 2 * ops.len();
        for start in (0..plane).step_by(step) {
            for (group, weights) in self.weights.chunks_exact(GROUP * inputs).enumerate() {
                let bias = &self.bias[GROUP * group..][..GROUP];
                let mut sums = [[ops.zero(); 2]; GROUP];
                for (sums, &bias) in sums.iter_mut().zip(bias) {
                    *sums = [ops.splat(bias); 2];
                }
                for (input, weights) in weights.chunks_exact(GROUP).enumerate() {
                    let pixels = &self.from[input * plane + start..][..step];
                    let pixels = [ops.load(&pixels[..ops.len()]), ops.load(&pixels[ops.len()..])];
                    for (sums, &weight) in sums.iter_mut().zip(weights) {
                        let weight = ops.splat(weight);
                        sums[0] = ops.mul_add(pixels[0], weight, sums[0]);
                        sums[1] = ops.mul_add(pixels[1], weight, sums[1]);
                    }
                }
                for (index, sums) in sums.into_iter().enumerate() {
                    // the last group may have fewer channels
                    let at = (GROUP * group + index) * plane + start;
                    if let Some(to) = self.to.get_mut(at..at + step) {
                        ops.store(sums[0], &mut to[..ops.len()]);
                        ops.store(sums[1], &mut to[ops.len()..]);
                    }
                }
            }
        }
        for plane in self.to.chunks_exact_mut(plane) {
            self.shape.finish(plane, self.relu);
        }
    }
}

/// A 3x3 depthwise convolution.
pub(super) struct Depthwise<'a> {
    pub(super) from: &'a [f32],
    pub(super) shape: Shape,
    /// Nine for each channel.
    pub(super) weights: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) to: &'a mut [f32],
    /// Shape of the result, for stride 2.
    pub(super) half: Option<Shape>,
    pub(super) relu: bool,
}

impl SimdOp for Depthwise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (shape, plane) = (self.shape, self.shape.plane());
        let result = self.half.unwrap_or(shape);
        let mut wide = vec![0.0; plane];
        let weights = self.weights.chunks_exact(9).zip(self.bias);
        let planes = self.from.chunks_exact(plane).zip(self.to.chunks_exact_mut(result.plane()));
        for ((source, to), (weights, &bias)) in planes.zip(weights) {
            match self.half {
                // the window is centred at the pixel
                None => {
                    let (start, length) = (shape.row(0), shape.height * shape.pitch());
                    let window = start - shape.pitch() - 1;
                    windows(isa, &source[window..], shape.pitch(), (weights, bias), &mut to[start..], length);
                }
                // the window starts at the pixel: for even sizes, `SAME` padding is at the end only
                Some(half) => {
                    for y in 0..half.height {
                        let source = &source[shape.row(2 * y)..];
                        windows(isa, source, shape.pitch(), (weights, bias), &mut wide, shape.width);
                        let row = &mut to[half.row(y)..][..half.width];
                        for (number, pair) in row.iter_mut().zip(wide.chunks_exact(2)) {
                            *number = pair[0];
                        }
                    }
                }
            }
            result.finish(to, self.relu);
        }
    }
}

/// The weighted sum over the 3x3 window that starts at each pixel. Writes slightly past `length`.
#[inline(always)]
fn windows<I: Isa>(isa: I, from: &[f32], pitch: usize, (weights, bias): (&[f32], f32), to: &mut [f32], length: usize) {
    let ops = isa.f32();
    let mut own = [ops.zero(); 9];
    for (own, &weight) in own.iter_mut().zip(weights) {
        *own = ops.splat(weight);
    }
    let bias = ops.splat(bias);
    for start in (0..length).step_by(ops.len()) {
        let mut sums = [bias, ops.zero(), ops.zero()];
        for (row, sum) in sums.iter_mut().enumerate() {
            let pixels = &from[start + row * pitch..][..ops.len() + 2];
            for column in 0..3 {
                *sum = ops.mul_add(ops.load(&pixels[column..]), own[3 * row + column], *sum);
            }
        }
        let sum = ops.add(ops.add(sums[0], sums[1]), sums[2]);
        ops.store(sum, &mut to[start..]);
    }
}
