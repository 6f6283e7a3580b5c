//! Makes a network that can be run of one for TensorFlow Lite.
//!
//! There a picture is `[1, height, width, channels]` and a filter `[out, height, width, in]`, here the channels come first.

use std::collections::BTreeMap;

use super::graph::{Graph, Network, Result, Value, Window};
use super::tflite::{File, Kind, Operator, Tensor};

/// The network in the bytes of a file. What comes out of it has a value for each channel, row and column.
pub(in crate::faces) fn translate(bytes: &[u8]) -> Result<Network> {
    let file = File::read(bytes)?;
    let [input] = file.inputs[..] else { return Err(format!("{} inputs", file.inputs.len())) };
    let [1, height, width, channels] = file.tensors[input].shape[..] else {
        return Err(format!("an input of {:?}", file.tensors[input].shape));
    };
    let mut graph = Graph::default();
    let input_value = graph.input([channels, height, width])?;
    let mut translation = Translation { values: BTreeMap::from([(input, input_value.clone())]), file: &file };
    for operator in &file.operators {
        translation.step(&mut graph, operator).map_err(|reason| format!("{reason} ({:?})", operator.kind))?;
    }
    let outputs = file.outputs.iter().map(|&output| translation.value(output)).collect::<Result<Vec<_>>>()?;
    graph.finish(&input_value, &outputs)
}

struct Translation<'a> {
    file: &'a File<'a>,
    /// What the operators so far give, by tensor.
    values: BTreeMap<usize, Value>,
}

impl Translation<'_> {
    fn value(&self, tensor: usize) -> Result<&Value> {
        self.values.get(&tensor).ok_or_else(|| format!("tensor {tensor} is used before it is there"))
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

    fn step(&mut self, graph: &mut Graph, operator: &Operator) -> Result<()> {
        let value = match (operator.kind, &operator.inputs[..]) {
            // constants are made real numbers where they are used
            (Kind::Dequantize, _) => return Ok(()),
            (Kind::Convolve, &[from, weights, bias]) => self.convolve(graph, operator, [from, weights, bias], false)?,
            (Kind::ConvolveDepthwise, &[from, weights, bias]) => {
                self.convolve(graph, operator, [from, weights, bias], true)?
            }
            (Kind::MaxPool, &[from]) => {
                let size = [operator.option(4, 0)?, operator.option(3, 0)?];
                let pooled = graph.max_pool(self.value(from)?, window(operator, size)?)?;
                activated(graph, pooled, operator.option_byte(5, 0)?)?
            }
            (Kind::Add, &[left, right]) => {
                let sum = graph.add(self.value(left)?, self.value(right)?)?;
                activated(graph, sum, operator.option_byte(0, 0)?)?
            }
            (Kind::Relu, &[from]) => graph.relu(self.value(from)?)?,
            (Kind::Pad, &[from, pads]) => self.pad(graph, from, pads)?,
            (Kind::ResizeBilinear, &[from, size]) => {
                // the older ways to align pixels
                if operator.option_byte(2, 0)? != 0 || operator.option_byte(3, 0)? == 0 {
                    return Err("pixels are not aligned by their centres".into());
                }
                let [height, width] = self.integers(size)?[..] else { return Err("a size without two axes".into()) };
                graph.resize(self.value(from)?, height, width)?
            }
            // the order of the numbers stays
            (Kind::Reshape, &[from] | &[from, _]) => self.value(from)?.clone(),
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

    fn convolve(&self, graph: &mut Graph, operator: &Operator, from: [usize; 3], depthwise: bool) -> Result<Value> {
        let [from, weights, bias] = from;
        let (from, weights) = (self.value(from)?, self.constant(weights)?);
        let bias = self.constant(bias)?.numbers.ok_or("no constant")?.floats()?;
        let numbers = weights.numbers.ok_or("no constant")?.floats()?;
        let [first, height, width, last] = weights.shape[..] else { return Err("weights without four axes".into()) };
        let size = [i32::try_from(height).unwrap_or(0), i32::try_from(width).unwrap_or(0)];
        let window = window(operator, size)?;
        let (activation, dilation) = if depthwise { (4, [5, 6]) } else { (3, [4, 5]) };
        if operator.option(dilation[0], 1)? != 1 || operator.option(dilation[1], 1)? != 1 {
            return Err("a window with holes".into());
        }
        let mut turned = Vec::with_capacity(numbers.len());
        // a filter's channels come last, and so do the filters if each channel has its own: then `first` is one
        for filter in 0..first {
            for channel in 0..last {
                let pixels = (0..height * width).map(|pixel| (filter * height * width + pixel) * last + channel);
                turned.extend(pixels.map(|at| numbers[at]));
            }
        }
        if depthwise && first != 1 {
            return Err("weights of several filters for each channel".into());
        }
        let value = graph.convolve(from, &turned, &bias, window, depthwise)?;
        activated(graph, value, operator.option_byte(activation, 0)?)
    }

    fn pad(&self, graph: &mut Graph, from: usize, pads: usize) -> Result<Value> {
        let (from, pads) = (self.value(from)?, self.integers(pads)?);
        let [0, 0, 0, down, 0, right, 0, channels] = pads[..] else { return Err(format!("zeros {pads:?}")) };
        let added = |axis: usize, more: usize| from.shape[axis].checked_add(more).ok_or("too many zeros");
        graph.pad(from, [added(0, channels)?, added(1, down)?, added(2, right)?])
    }
}

fn window(operator: &Operator, size: [i32; 2]) -> Result<Window> {
    let positive = |number: i32| usize::try_from(number).map_err(|_| "a negative window".to_string());
    let same = match operator.option_byte(0, 0)? {
        0 => true,
        1 => false,
        padding => return Err(format!("padding {padding}")),
    };
    Ok(Window {
        size: [positive(size[0])?, positive(size[1])?],
        step: [positive(operator.option(2, 0)?)?, positive(operator.option(1, 0)?)?],
        same,
    })
}

fn activated(graph: &mut Graph, value: Value, activation: u8) -> Result<Value> {
    match activation {
        0 => Ok(value),
        1 => graph.relu(&value),
        other => Err(format!("activation {other}")),
    }
}
