//! The execution plan of the detector: built operator by operator with all shapes checked, then run repeatedly in memory
//! that is allocated once.

use rten_simd::SimdOp;

use super::planes::{self, Depthwise, GROUP, Pointwise, Shape};

/// Maximum number of elements of a value: about four times the largest one in use.
const MAX_ELEMENTS: usize = 8 << 20;
/// Maximum number of elements of all buffers: about ten times what is needed.
const MAX_MEMORY: usize = 32 << 20;
/// Maximum number of steps.
const MAX_STEPS: usize = 1024;
/// Maximum number of multiplications per run; the detector has about 2e8.
const MAX_MULTIPLICATIONS: usize = 2_000_000_000;

/// The error is a human-readable message.
pub(super) type Result<T> = std::result::Result<T, String>;

/// An intermediate result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    index: usize,
    /// Shape as seen by operators. It may have more channels than are stored; the rest are zero.
    pub(super) shape: Shape,
}

#[derive(Debug)]
enum Operation {
    Unfold,
    Pointwise { weights: Vec<f32>, bias: Vec<f32> },
    Depthwise { weights: Vec<f32>, bias: Vec<f32> },
    MaxPool,
    Double,
    Add { long: usize },
}

#[derive(Debug)]
struct Step {
    operation: Operation,
    from: usize,
    to: usize,
    relu: bool,
}

/// A plan under construction.
#[derive(Debug)]
pub(super) struct Plan {
    /// Stored shape of each value.
    shapes: Vec<Shape>,
    steps: Vec<Step>,
    multiplications: usize,
}

impl Plan {
    /// A plan for inputs of this shape, and its input value.
    pub(super) fn new(shape: Shape) -> Result<(Plan, Value)> {
        let plan = Plan { shapes: vec![checked(shape)?], steps: Vec::new(), multiplications: 0 };
        Ok((plan, Value { index: 0, shape }))
    }

    /// A 1x1 convolution. `weights` has the layout `[out, in]`.
    pub(super) fn pointwise(&mut self, from: Value, weights: &[f32], bias: &[f32]) -> Result<Value> {
        let inputs = self.stored(from)?.channels;
        if bias.is_empty() || weights.len() != inputs * bias.len() {
            return Err(format!("{} weights for {inputs} input and {} output channels", weights.len(), bias.len()));
        }
        self.work(weights, bias, from.shape)?;
        let groups = bias.len().div_ceil(GROUP);
        let mut grouped = vec![0.0; groups * GROUP * inputs];
        for (index, weight) in weights.iter().enumerate() {
            let (output, input) = (index / inputs, index % inputs);
            grouped[(output / GROUP * inputs + input) * GROUP + output % GROUP] = *weight;
        }
        let shape = Shape { channels: bias.len(), ..from.shape };
        let mut bias = bias.to_vec();
        bias.resize(groups * GROUP, 0.0);
        self.step(Operation::Pointwise { weights: grouped, bias }, from, shape)
    }

    /// A 3x3 depthwise convolution with stride 1 or 2.
    pub(super) fn depthwise(&mut self, from: Value, weights: &[f32], bias: &[f32], halves: bool) -> Result<Value> {
        let shape = self.stored(from)?;
        if weights.len() != 9 * shape.channels || bias.len() != shape.channels {
            return Err(format!("{} weights for {} channels", weights.len(), shape.channels));
        }
        self.work(weights, bias, shape)?;
        let result = if halves { half(shape)? } else { shape };
        self.step(Operation::Depthwise { weights: weights.to_vec(), bias: bias.to_vec() }, from, result)
    }

    /// A 3x3 convolution with stride 2.
    pub(super) fn convolve(&mut self, from: Value, weights: &[f32], bias: &[f32]) -> Result<Value> {
        let shape = half(self.stored(from)?)?;
        let unfolded = Shape { channels: 9 * shape.channels, ..shape };
        let unfolded = self.step(Operation::Unfold, from, unfolded)?;
        self.pointwise(unfolded, weights, bias)
    }

    /// 2x2 maximum pooling with stride 2.
    pub(super) fn max_pool(&mut self, from: Value) -> Result<Value> {
        let shape = half(self.stored(from)?)?;
        self.step(Operation::MaxPool, from, shape)
    }

    /// Bilinear upsampling by 2.
    pub(super) fn double(&mut self, from: Value) -> Result<Value> {
        let Shape { channels, height, width } = self.stored(from)?;
        let shape = Shape { channels, height: 2 * height, width: 2 * width };
        self.step(Operation::Double, from, shape)
    }

    /// Appends zero channels. The result can only be used in a sum.
    pub(super) fn pad(&mut self, from: Value, channels: usize) -> Result<Value> {
        let channels = from.shape.channels.checked_add(channels).ok_or("too many channels")?;
        let shape = checked(Shape { channels, ..from.shape })?;
        Ok(Value { shape, ..from })
    }

    /// Sum of two values of the same shape.
    pub(super) fn add(&mut self, left: Value, right: Value) -> Result<Value> {
        if left.shape != right.shape {
            return Err(format!("cannot add shapes {:?} and {:?}", left.shape, right.shape));
        }
        let (short, long) = if self.stored(left).is_ok() { (right, left) } else { (left, right) };
        let shape = self.stored(long)?;
        self.step(Operation::Add { long: long.index }, short, shape)
    }

    /// Replaces negative values by 0 in place, so the value must not have other uses.
    pub(super) fn relu(&mut self, value: Value) -> Result<Value> {
        let step = self.steps.iter_mut().find(|step| step.to == value.index);
        match step {
            Some(Step { operation: Operation::Unfold | Operation::MaxPool | Operation::Double, .. }) | None => {
                Err("ReLU of an unsupported operation".into())
            }
            Some(step) => {
                step.relu = true;
                Ok(value)
            }
        }
    }

    /// Allocates the buffers and builds a network with these outputs.
    pub(super) fn finish(self, outputs: &[Value]) -> Result<Network> {
        let outputs =
            outputs.iter().map(|&output| self.stored(output).map(|_| output.index)).collect::<Result<Vec<_>>>()?;
        // a buffer is reused after the last use of its value
        let mut last_use = vec![0; self.shapes.len()];
        for (index, step) in self.steps.iter().enumerate() {
            last_use[step.from] = index;
            if let Operation::Add { long } = step.operation {
                last_use[long] = index;
            }
        }
        for &output in &outputs {
            last_use[output] = usize::MAX;
        }
        let mut taken: Vec<(usize, usize)> = vec![(last_use[0], self.shapes[0].numbers())];
        let mut buffers = vec![0; self.shapes.len()];
        for (index, step) in self.steps.iter().enumerate() {
            let numbers = self.shapes[step.to].numbers();
            let is_free = |buffer: &(usize, usize)| buffer.0 < index && buffer.1 >= numbers;
            let buffer = taken.iter().position(is_free).unwrap_or_else(|| {
                taken.push((0, numbers));
                taken.len() - 1
            });
            taken[buffer].0 = last_use[step.to].max(index);
            buffers[step.to] = buffer;
        }
        if taken.iter().map(|buffer| buffer.1).sum::<usize>() > MAX_MEMORY {
            return Err("too much memory required".into());
        }
        let memory = taken.iter().map(|buffer| vec![0.0; buffer.1]).collect();
        Ok(Network { plan: self, outputs, buffers, memory })
    }

    fn stored(&self, value: Value) -> Result<Shape> {
        let stored = self.shapes[value.index];
        if stored == value.shape { Ok(stored) } else { Err("padded channels are used other than in a sum".into()) }
    }

    fn work(&mut self, weights: &[f32], bias: &[f32], shape: Shape) -> Result<()> {
        if !weights.iter().chain(bias).all(|weight| weight.is_finite()) {
            return Err("a weight is not finite".into());
        }
        let own = weights.len().checked_mul(shape.height * shape.width);
        let all = own.and_then(|own| own.checked_add(self.multiplications));
        self.multiplications = all.filter(|&all| all <= MAX_MULTIPLICATIONS).ok_or("too many multiplications")?;
        Ok(())
    }

    fn step(&mut self, operation: Operation, from: Value, shape: Shape) -> Result<Value> {
        if self.steps.len() == MAX_STEPS {
            return Err("too many steps".into());
        }
        let to = self.shapes.len();
        self.shapes.push(checked(shape)?);
        self.steps.push(Step { operation, from: from.index, to, relu: false });
        Ok(Value { index: to, shape })
    }
}

fn checked(shape: Shape) -> Result<Shape> {
    let lengths = [shape.channels, shape.height, shape.width];
    // so that no product below overflows
    if lengths.iter().any(|&length| length == 0 || length > MAX_ELEMENTS / 256) || shape.numbers() > MAX_ELEMENTS {
        return Err(format!("invalid shape {lengths:?}"));
    }
    Ok(shape)
}

fn half(shape: Shape) -> Result<Shape> {
    let Shape { channels, height, width } = shape;
    if height % 2 != 0 || width % 2 != 0 {
        return Err(format!("cannot halve {height} x {width}"));
    }
    Ok(Shape { channels, height: height / 2, width: width / 2 })
}

/// An executable network.
#[derive(Debug)]
pub(in crate::faces) struct Network {
    plan: Plan,
    outputs: Vec<usize>,
    buffers: Vec<usize>,
    memory: Vec<Vec<f32>>,
}

impl Network {
    /// Runs the network on a planar image and returns its outputs.
    pub(in crate::faces) fn run(&mut self, picture: &[f32]) -> Result<Vec<Vec<f32>>> {
        let shape = self.plan.shapes[0];
        if picture.len() != shape.channels * shape.height * shape.width {
            return Err(format!("input of {} values", picture.len()));
        }
        planes::spread(picture, shape, &mut self.memory[self.buffers[0]][..shape.numbers()]);
        for step in &self.plan.steps {
            let buffer = self.buffers[step.to];
            let mut to = std::mem::take(&mut self.memory[buffer]);
            self.perform(step, &mut to[..self.plan.shapes[step.to].numbers()]);
            self.memory[buffer] = to;
        }
        Ok(self.outputs.iter().map(|&output| planes::gather(self.numbers(output), self.plan.shapes[output])).collect())
    }

    fn numbers(&self, value: usize) -> &[f32] {
        &self.memory[self.buffers[value]][..self.plan.shapes[value].numbers()]
    }

    fn perform(&self, step: &Step, to: &mut [f32]) {
        let (from, shape) = (self.numbers(step.from), self.plan.shapes[step.from]);
        let (result, relu) = (self.plan.shapes[step.to], step.relu);
        match &step.operation {
            Operation::Unfold => planes::unfold(from, shape, to, result),
            Operation::MaxPool => planes::max_pool(from, shape, to, result),
            Operation::Double => planes::double(from, shape, to, result),
            Operation::Add { long } => planes::add(from, self.numbers(*long), to, relu),
            Operation::Pointwise { weights, bias } => Pointwise { from, shape, weights, bias, to, relu }.dispatch(),
            Operation::Depthwise { weights, bias } => {
                let half = (result != shape).then_some(result);
                Depthwise { from, shape, weights, bias, to, half, relu }.dispatch();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(channels: usize, height: usize, width: usize) -> Shape {
        Shape { channels, height, width }
    }

    /// Pseudo-random values, -1 to 1.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|index| ((index * 7919 + seed * 104_729) % 2003) as f32 / 1001.0 - 1.0).collect()
    }

    /// The value at a position, zero outside.
    fn at(numbers: &[f32], shape: Shape, channel: usize, y: isize, x: isize) -> f32 {
        let inside = (0..shape.height as isize).contains(&y) && (0..shape.width as isize).contains(&x);
        if inside { numbers[(channel * shape.height + y as usize) * shape.width + x as usize] } else { 0.0 }
    }

    /// Compares the result of one step with a reference implementation.
    fn check(
        what: &str,
        shape: Shape,
        step: impl Fn(&mut Plan, Value) -> Value,
        wanted: impl Fn(&[f32], usize, isize, isize) -> f32,
    ) {
        let (mut plan, input) = Plan::new(shape).unwrap();
        let output = step(&mut plan, input);
        let mut network = plan.finish(&[output]).unwrap();
        for seed in [1, 2] {
            let picture = numbers(shape.channels * shape.height * shape.width, seed);
            let result = network.run(&picture).unwrap().remove(0);
            let Shape { channels, height, width } = output.shape;
            assert_eq!(result.len(), channels * height * width);
            for (index, &number) in result.iter().enumerate() {
                let (channel, y, x) = (index / (height * width), index / width % height, index % width);
                let wanted = wanted(&picture, channel, y as isize, x as isize);
                assert!(
                    (number - wanted).abs() < 1e-4,
                    "{what} {shape:?}: {number} is not {wanted} at {channel}, {y}, {x}"
                );
            }
        }
    }

    const SHAPES: [(usize, usize, usize); 5] = [(1, 2, 2), (3, 4, 6), (8, 6, 10), (12, 16, 20), (5, 34, 2)];

    #[test]
    fn convolutions_match_their_definition() {
        for (channels, height, width) in SHAPES {
            let from = shape(channels, height, width);
            for outputs in [1, 4, 6] {
                let (weights, bias) = (numbers(outputs * channels, 3), numbers(outputs, 4));
                check(
                    "pointwise",
                    from,
                    |plan, value| plan.pointwise(value, &weights, &bias).unwrap(),
                    |picture, channel, y, x| {
                        let inputs = 0..channels;
                        bias[channel]
                            + inputs
                                .map(|input| weights[channel * channels + input] * at(picture, from, input, y, x))
                                .sum::<f32>()
                    },
                );
                let weights = numbers(9 * outputs * channels, 5);
                check(
                    "convolve",
                    from,
                    |plan, value| plan.convolve(value, &weights, &bias).unwrap(),
                    |picture, channel, y, x| {
                        let all =
                            (0..9 * channels).map(|index| (index / 9, (index % 9 / 3) as isize, (index % 3) as isize));
                        let own = &weights[channel * 9 * channels..];
                        bias[channel]
                            + all
                                .zip(own)
                                .map(|((input, down, right), weight)| {
                                    weight * at(picture, from, input, 2 * y + down, 2 * x + right)
                                })
                                .sum::<f32>()
                    },
                );
            }
            let (weights, bias) = (numbers(9 * channels, 6), numbers(channels, 7));
            for (halves, relu) in [(false, false), (false, true), (true, false), (true, true)] {
                let step = |plan: &mut Plan, value| {
                    let value = plan.depthwise(value, &weights, &bias, halves).unwrap();
                    if relu { plan.relu(value).unwrap() } else { value }
                };
                check("depthwise", from, step, |picture, channel, y, x| {
                    let (y, x) = if halves { (2 * y, 2 * x) } else { (y - 1, x - 1) };
                    let window = (0..9).map(|index| {
                        weights[9 * channel + index]
                            * at(picture, from, channel, y + index as isize / 3, x + index as isize % 3)
                    });
                    let sum = bias[channel] + window.sum::<f32>();
                    if relu { sum.max(0.0) } else { sum }
                });
            }
        }
    }

    #[test]
    fn pools_sums_and_larger_pictures_are_as_their_definition() {
        for (channels, height, width) in SHAPES {
            let from = shape(channels, height, width);
            check(
                "max_pool",
                from,
                |plan, value| plan.max_pool(value).unwrap(),
                |picture, channel, y, x| {
                    let four = [(0, 0), (0, 1), (1, 0), (1, 1)];
                    four.map(|(down, right)| at(picture, from, channel, 2 * y + down, 2 * x + right))
                        .into_iter()
                        .fold(f32::MIN, f32::max)
                },
            );
            check(
                "double",
                from,
                |plan, value| plan.double(value).unwrap(),
                |picture, channel, y, x| {
                    // where the centre of a small pixel is, between the centres of large ones
                    let place = |index: isize, length: usize| {
                        ((index as f32 + 0.5) / 2.0 - 0.5).clamp(0.0, length as f32 - 1.0)
                    };
                    let (y, x) = (place(y, height), place(x, width));
                    let (top, left) = (y.floor(), x.floor());
                    let corner = |down: f32, right: f32| {
                        let (row, column) =
                            ((top + down).min(height as f32 - 1.0), (left + right).min(width as f32 - 1.0));
                        (1.0 - (y - top - down).abs())
                            * (1.0 - (x - left - right).abs())
                            * at(picture, from, channel, row as isize, column as isize)
                    };
                    corner(0.0, 0.0) + corner(0.0, 1.0) + corner(1.0, 0.0) + corner(1.0, 1.0)
                },
            );
            let (weights, bias) = (numbers(channels * (channels + 3), 8), numbers(channels + 3, 9));
            let step = |plan: &mut Plan, value| {
                let padded = plan.pad(value, 3).unwrap();
                let other = plan.pointwise(value, &weights, &bias).unwrap();
                let sum = plan.add(padded, other).unwrap();
                plan.relu(sum).unwrap()
            };
            check("add", from, step, |picture, channel, y, x| {
                let inputs = 0..channels;
                let other = bias[channel]
                    + inputs
                        .map(|input| weights[channel * channels + input] * at(picture, from, input, y, x))
                        .sum::<f32>();
                let own = if channel < channels { at(picture, from, channel, y, x) } else { 0.0 };
                (own + other).max(0.0)
            });
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in [
            shape(0, 2, 2),
            shape(1, 0, 2),
            shape(1 << 40, 2, 2),
            shape(4, 5000, 5000),
            shape(usize::MAX, usize::MAX, usize::MAX),
        ] {
            assert!(Plan::new(bad).is_err(), "{bad:?}");
        }
        let (mut plan, value) = Plan::new(shape(2, 3, 4)).unwrap();
        assert!(plan.pointwise(value, &[1.0; 3], &[1.0]).is_err(), "weights");
        assert!(plan.pointwise(value, &[], &[]).is_err(), "no channels");
        assert!(plan.pointwise(value, &[f32::NAN, 1.0], &[1.0]).is_err(), "not a number");
        assert!(plan.depthwise(value, &[1.0; 18], &[1.0; 2], true).is_err(), "half of three");
        assert!(plan.depthwise(value, &[1.0; 9], &[1.0], false).is_err(), "one channel of two");
        assert!(plan.max_pool(value).is_err() && plan.relu(value).is_err());
        let padded = plan.pad(value, 2).unwrap();
        assert!(plan.add(value, padded).is_err() && plan.double(padded).is_err() && plan.add(padded, padded).is_err());
        assert!(plan.pad(value, usize::MAX).is_err());
        let mut network = plan.finish(&[value]).unwrap();
        assert!(network.run(&[0.0; 23]).is_err());
        assert_eq!(network.run(&[0.5; 24]).unwrap(), [[0.5; 24]]);
    }
}
