//! Makes a network that can be run of one for TensorFlow Lite.
//!
//! There a picture is `[1, height, width, channels]` and a filter `[out, height, width, in]`, here the channels come first.

use std::collections::BTreeMap;

use super::plan::{Network, Plan, Result, Value};
use super::planes::Shape;
use super::tflite::{File, Kind, Operator, Tensor};

/// The network in the bytes of a file, for pictures of another height and width than it was made for: its windows move
/// over any picture. What comes out of it has a value for each channel, row and column.
pub(in crate::faces) fn translate(bytes: &[u8], height: usize, width: usize) -> Result<Network> {
    let file = File::read(bytes)?;
    let [input] = file.inputs[..] else { return Err(format!("{} inputs", file.inputs.len())) };
    let [1, _, _, channels] = file.tensors[input].shape[..] else {
        return Err(format!("an input of {:?}", file.tensors[input].shape));
    };
    let (mut plan, value) = Plan::new(Shape { channels, height, width })?;
    let mut translation = Translation { values: BTreeMap::from([(input, value)]), file: &file };
    for operator in &file.operators {
        translation.step(&mut plan, operator).map_err(|reason| format!("{reason} ({:?})", operator.kind))?;
    }
    let outputs = file.outputs.iter().map(|&output| translation.value(output)).collect::<Result<Vec<_>>>()?;
    plan.finish(&outputs)
}

struct Translation<'a> {
    file: &'a File<'a>,
    /// What the operators so far give, by tensor.
    values: BTreeMap<usize, Value>,
}

impl Translation<'_> {
    fn value(&self, tensor: usize) -> Result<Value> {
        self.values.get(&tensor).copied().ok_or_else(|| format!("tensor {tensor} is used before it is there"))
    }

    /// A tensor that is a constant, itself or before it was made real numbers.
    fn constant(&self, tensor: usize) -> Result<&Tensor<'_>> {
        let direct = &self.file.tensors[tensor];
        if direct.numbers.is_some() {
            return Ok(direct);
        }
        let source = self.file.operators.iter().find(|operator| operator.outputs == [tensor]);
        match source {
            Some(Operator { kind: Kind::Dequantize, inputs, .. }) if inputs.len() == 1 => {
                let source = &self.file.tensors[inputs[0]];
                if source.numbers.is_some() { Ok(source) } else { Err("no constant is made real".into()) }
            }
            _ => Err(format!("tensor {tensor} is no constant")),
        }
    }

    fn step(&mut self, plan: &mut Plan, operator: &Operator) -> Result<()> {
        let value = match (operator.kind, &operator.inputs[..]) {
            // constants are made real numbers where they are used
            (Kind::Dequantize, _) => return Ok(()),
            (Kind::Convolve, &[from, weights, bias]) => self.convolve(plan, operator, [from, weights, bias], false)?,
            (Kind::ConvolveDepthwise, &[from, weights, bias]) => {
                self.convolve(plan, operator, [from, weights, bias], true)?
            }
            (Kind::MaxPool, &[from]) => {
                let window = [operator.option(4, 0)?, operator.option(3, 0)?];
                if (window, steps(operator, 2)?, operator.option_byte(5, 0)?) != ([2, 2], 2, 0) {
                    return Err(format!("a window of {window:?}"));
                }
                plan.max_pool(self.value(from)?)?
            }
            (Kind::Add, &[left, right]) => {
                let sum = plan.add(self.value(left)?, self.value(right)?)?;
                activated(plan, sum, operator.option_byte(0, 0)?)?
            }
            (Kind::Relu, &[from]) => {
                let uses = self.file.operators.iter().flat_map(|other| &other.inputs).filter(|&&input| input == from);
                if uses.count() != 1 || self.file.outputs.contains(&from) {
                    return Err("what is rectified is also used as it was".into());
                }
                plan.relu(self.value(from)?)?
            }
            (Kind::Pad, &[from, pads]) => {
                let pads = self.integers(pads)?;
                let [0, 0, 0, 0, 0, 0, 0, channels] = pads[..] else { return Err(format!("zeros {pads:?}")) };
                plan.pad(self.value(from)?, channels)?
            }
            (Kind::ResizeBilinear, &[from, size]) => {
                let (before, after) = (&self.file.tensors[from].shape, self.integers(size)?);
                // the older ways to align pixels
                let centres = operator.option_byte(2, 0)? == 0 && operator.option_byte(3, 0)? == 1;
                if !matches!(before[..], [1, height, width, _] if centres && after == [2 * height, 2 * width]) {
                    return Err(format!("{before:?} becomes {after:?}"));
                }
                plan.double(self.value(from)?)?
            }
            // the order of the numbers stays
            (Kind::Reshape, &[from] | &[from, _]) => self.value(from)?,
            (_, inputs) => return Err(format!("{} inputs", inputs.len())),
        };
        let [output] = operator.outputs[..] else { return Err(format!("{} outputs", operator.outputs.len())) };
        self.values.insert(output, value);
        Ok(())
    }

    fn integers(&self, tensor: usize) -> Result<Vec<usize>> {
        let numbers = self.constant(tensor)?.numbers.ok_or("no constant")?.integers()?;
        numbers.into_iter().map(|number| usize::try_from(number).map_err(|_| "a negative number".into())).collect()
    }

    fn convolve(&self, plan: &mut Plan, operator: &Operator, from: [usize; 3], depthwise: bool) -> Result<Value> {
        let [from, weights, bias] = from;
        let (from, weights) = (self.value(from)?, self.constant(weights)?);
        let bias = self.constant(bias)?.numbers.ok_or("no constant")?.floats()?;
        let numbers = weights.numbers.ok_or("no constant")?.floats()?;
        let [first, height, width, last] = weights.shape[..] else { return Err("weights without four axes".into()) };
        let (activation, dilation) = if depthwise { (4, [5, 6]) } else { (3, [4, 5]) };
        if operator.option(dilation[0], 1)? != 1 || operator.option(dilation[1], 1)? != 1 {
            return Err("a window with holes".into());
        }
        // a filter's channels come last, and so do the filters if each channel has its own: then `first` is one
        let mut turned = Vec::with_capacity(numbers.len());
        for filter in 0..first {
            for channel in 0..last {
                let pixels = (0..height * width).map(|pixel| (filter * height * width + pixel) * last + channel);
                turned.extend(pixels.map(|at| numbers[at]));
            }
        }
        let value = match (depthwise, [height, width], steps(operator, height)?) {
            (true, [3, 3], step @ 1..=2) if first == 1 => plan.depthwise(from, &turned, &bias, step == 2)?,
            (false, [1, 1], 1) => plan.pointwise(from, &turned, &bias)?,
            (false, [3, 3], 2) => plan.convolve(from, &turned, &bias)?,
            (_, window, step) => return Err(format!("a window of {window:?} with steps of {step}")),
        };
        activated(plan, value, operator.option_byte(activation, 0)?)
    }
}

/// How far the windows move, down as to the right, with zeros around the picture as needed. A window of one pixel needs
/// none.
fn steps(operator: &Operator, window: usize) -> Result<i32> {
    let (right, down) = (operator.option(1, 0)?, operator.option(2, 0)?);
    match operator.option_byte(0, 0)? {
        padding if right == down && (padding == 0 || window == 1) => Ok(right),
        padding => Err(format!("steps of {right} and {down} with padding {padding}")),
    }
}

fn activated(plan: &mut Plan, value: Value, activation: u8) -> Result<Value> {
    match activation {
        0 => Ok(value),
        1 => plan.relu(value),
        other => Err(format!("activation {other}")),
    }
}
