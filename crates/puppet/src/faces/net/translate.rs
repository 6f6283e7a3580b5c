//! Translates a TensorFlow Lite model into an executable plan.
//!
//! TensorFlow Lite stores images as `[1, height, width, channels]` and filters as `[out, height, width, in]`; here channels

use std::collections::BTreeMap;

use super::plan::{Network, Plan, Result, Value};
use super::planes::Shape;
use super::tflite::{Model, Operator, OperatorKind, Tensor};

/// Translates a model for inputs of this height and width, which may differ from those in the file, because the network is
/// fully convolutional.
pub(in crate::faces) fn translate(bytes: &[u8], height: usize, width: usize) -> Result<Network> {
    let file = Model::read(bytes)?;
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
    file: &'a Model<'a>,
    /// Outputs of the operators so far, by tensor.
    values: BTreeMap<usize, Value>,
}

impl Translation<'_> {
    fn value(&self, tensor: usize) -> Result<Value> {
        self.values.get(&tensor).copied().ok_or_else(|| format!("tensor {tensor} is used before it is computed"))
    }

    /// A constant tensor, or the constant input of a dequantisation.
    fn constant(&self, tensor: usize) -> Result<&Tensor<'_>> {
        let direct = &self.file.tensors[tensor];
        if direct.numbers.is_some() {
            return Ok(direct);
        }
        let source = self.file.operators.iter().find(|operator| operator.outputs == [tensor]);
        match source {
            Some(Operator { kind: OperatorKind::Dequantize, inputs, .. }) if inputs.len() == 1 => {
                let source = &self.file.tensors[inputs[0]];
                if source.numbers.is_some() {
                    Ok(source)
                } else {
                    Err("dequantisation of a tensor that is not constant".into())
                }
            }
            _ => Err(format!("tensor {tensor} is not constant")),
        }
    }

    fn step(&mut self, plan: &mut Plan, operator: &Operator) -> Result<()> {
        let value = match (operator.kind, &operator.inputs[..]) {
            // constants are dequantised where they are used
            (OperatorKind::Dequantize, _) => return Ok(()),
            (OperatorKind::Convolve, &[from, weights, bias]) => {
                self.convolve(plan, operator, [from, weights, bias], false)?
            }
            (OperatorKind::ConvolveDepthwise, &[from, weights, bias]) => {
                self.convolve(plan, operator, [from, weights, bias], true)?
            }
            (OperatorKind::MaxPool, &[from]) => {
                let window = [operator.option(4, 0)?, operator.option(3, 0)?];
                if (window, steps(operator, 2)?, operator.option_byte(5, 0)?) != ([2, 2], 2, 0) {
                    return Err(format!("unsupported window {window:?}"));
                }
                plan.max_pool(self.value(from)?)?
            }
            (OperatorKind::Add, &[left, right]) => {
                let sum = plan.add(self.value(left)?, self.value(right)?)?;
                activated(plan, sum, operator.option_byte(0, 0)?)?
            }
            (OperatorKind::Relu, &[from]) => {
                let uses = self.file.operators.iter().flat_map(|other| &other.inputs).filter(|&&input| input == from);
                if uses.count() != 1 || self.file.outputs.contains(&from) {
                    return Err("the input of a ReLU has other uses".into());
                }
                plan.relu(self.value(from)?)?
            }
            (OperatorKind::Pad, &[from, pads]) => {
                let pads = self.integers(pads)?;
                let [0, 0, 0, 0, 0, 0, 0, channels] = pads[..] else {
                    return Err(format!("unsupported padding {pads:?}"));
                };
                plan.pad(self.value(from)?, channels)?
            }
            (OperatorKind::ResizeBilinear, &[from, size]) => {
                let (before, after) = (&self.file.tensors[from].shape, self.integers(size)?);
                // only the half-pixel alignment is supported
                let centres = operator.option_byte(2, 0)? == 0 && operator.option_byte(3, 0)? == 1;
                if !matches!(before[..], [1, height, width, _] if centres && after == [2 * height, 2 * width]) {
                    return Err(format!("unsupported resize from {before:?} to {after:?}"));
                }
                plan.double(self.value(from)?)?
            }
            // the order of the values does not change
            (OperatorKind::Reshape, &[from] | &[from, _]) => self.value(from)?,
            (_, inputs) => return Err(format!("{} inputs", inputs.len())),
        };
        let [output] = operator.outputs[..] else { return Err(format!("{} outputs", operator.outputs.len())) };
        self.values.insert(output, value);
        Ok(())
    }

    fn integers(&self, tensor: usize) -> Result<Vec<usize>> {
        let numbers = self.constant(tensor)?.numbers.ok_or("not a constant")?.integers()?;
        numbers.into_iter().map(|number| usize::try_from(number).map_err(|_| "a negative number".into())).collect()
    }

    fn convolve(&self, plan: &mut Plan, operator: &Operator, from: [usize; 3], depthwise: bool) -> Result<Value> {
        let [from, weights, bias] = from;
        let (from, weights) = (self.value(from)?, self.constant(weights)?);
        let bias = self.constant(bias)?.numbers.ok_or("not a constant")?.floats()?;
        let numbers = weights.numbers.ok_or("not a constant")?.floats()?;
        let [first, height, width, last] = weights.shape[..] else {
            return Err("weights do not have four axes".into());
        };
        let (activation, dilation) = if depthwise { (4, [5, 6]) } else { (3, [4, 5]) };
        if operator.option(dilation[0], 1)? != 1 || operator.option(dilation[1], 1)? != 1 {
            return Err("dilated convolutions are not supported".into());
        }
        // channels come last in a filter; for depthwise convolutions so do the filters, and `first` is 1
        let mut transposed = Vec::with_capacity(numbers.len());
        for filter in 0..first {
            for channel in 0..last {
                let pixels = (0..height * width).map(|pixel| (filter * height * width + pixel) * last + channel);
                transposed.extend(pixels.map(|at| numbers[at]));
            }
        }
        let value = match (depthwise, [height, width], steps(operator, height)?) {
            (true, [3, 3], step @ 1..=2) if first == 1 => plan.depthwise(from, &transposed, &bias, step == 2)?,
            (false, [1, 1], 1) => plan.pointwise(from, &transposed, &bias)?,
            (false, [3, 3], 2) => plan.convolve(from, &transposed, &bias)?,
            (_, window, step) => return Err(format!("unsupported window {window:?} with stride {step}")),
        };
        activated(plan, value, operator.option_byte(activation, 0)?)
    }
}

/// The stride, which must be the same in both directions with `SAME` padding. A window of one pixel needs no padding.
fn steps(operator: &Operator, window: usize) -> Result<i32> {
    let (right, down) = (operator.option(1, 0)?, operator.option(2, 0)?);
    match operator.option_byte(0, 0)? {
        padding if right == down && (padding == 0 || window == 1) => Ok(right),
        padding => Err(format!("unsupported strides {right} and {down} with padding {padding}")),
    }
}

fn activated(plan: &mut Plan, value: Value, activation: u8) -> Result<Value> {
    match activation {
        0 => Ok(value),
        1 => plan.relu(value),
        other => Err(format!("unsupported activation {other}")),
    }
}
