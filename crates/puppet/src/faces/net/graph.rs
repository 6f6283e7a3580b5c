//! Builds a graph of operators, which rten executes.
//!
//! Every value has the shape `[channels, height, width]`. Shapes are checked while the graph is built, before memory is
//! allocated.

use std::cell::RefCell;
use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};
use rten_tensor::{NdTensor, Tensor};

/// Maximum number of elements of a value: four times the largest one in use.
const MAX_ELEMENTS: usize = 2 << 20;
/// Maximum number of operators.
const MAX_NODES: usize = 1024;
/// Maximum number of multiplications per run. The networks in use have about 3e8.
const MAX_MULTIPLICATIONS: u64 = 2_000_000_000;
/// Maximum window and stride of a convolution or pool.
const MAX_WINDOW: usize = 16;

/// The error is a human-readable message.
pub(super) type Result<T> = std::result::Result<T, String>;

/// An intermediate result.
#[derive(Clone, Debug)]
pub(super) struct Value {
    name: String,
    /// Channels, height, width.
    pub(super) shape: [usize; 3],
}

/// The window of a convolution or pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Height and width.
    pub(super) size: [usize; 2],
    /// Vertical and horizontal stride.
    pub(super) step: [usize; 2],
    /// `SAME` padding with zeros; no padding otherwise.
    pub(super) same: bool,
}

impl Window {
    /// Height and width of the result, and the padding: top, left, bottom, right.
    fn over(&self, shape: [usize; 3]) -> Result<([usize; 2], [i64; 4])> {
        let (mut size, mut pads) = ([0; 2], [0; 4]);
        for axis in 0..2 {
            let (length, window, step) = (shape[axis + 1], self.size[axis], self.step[axis]);
            if !(1..=MAX_WINDOW).contains(&window) || !(1..=MAX_WINDOW).contains(&step) {
                return Err(format!("unsupported window {window} with stride {step}"));
            }
            if self.same {
                size[axis] = length.div_ceil(step);
                let added = ((size[axis] - 1) * step + window).saturating_sub(length);
                pads[axis] = (added / 2) as i64;
                pads[axis + 2] = (added - added / 2) as i64;
            } else {
                let rest = length.checked_sub(window).ok_or("a window is larger than its input")?;
                size[axis] = rest / step + 1;
            }
        }
        Ok((size, pads))
    }
}

/// A graph under construction.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    multiplications: u64,
}

impl Graph {
    /// The input of the graph.
    pub(super) fn input(&self, shape: [usize; 3]) -> Result<Value> {
        checked("input".into(), shape)
    }

    /// A convolution. `weights` has the layout `[out, in, height, width]`.
    pub(super) fn convolve(&mut self, from: &Value, weights: &[f32], bias: &[f32], window: Window) -> Result<Value> {
        let ([height, width], pads) = window.over(from.shape)?;
        let inputs = from.shape[0];
        let filter = inputs * window.size[0] * window.size[1];
        if weights.len() != bias.len() * filter {
            return Err(format!("{} weights for {} filters of {filter} weights", weights.len(), bias.len()));
        }
        if !weights.iter().chain(bias).all(|weight| weight.is_finite()) {
            return Err("a weight is not finite".into());
        }
        self.multiplications += (weights.len() * height) as u64 * width as u64;
        if self.multiplications > MAX_MULTIPLICATIONS {
            return Err("too many multiplications".into());
        }
        let dims = [bias.len(), inputs, window.size[0], window.size[1]];
        let (weights, bias) = (self.floats(&dims, weights), self.floats(&[bias.len()], bias));
        let attributes: [(&str, &[i64]); 3] =
            [("kernel_shape", &integers(window.size)), ("strides", &integers(window.step)), ("pads", &pads)];
        self.node("Conv", &[&from.name, &weights, &bias], &attributes, [dims[0], height, width])
    }

    /// Maximum of each window.
    pub(super) fn max_pool(&mut self, from: &Value, window: Window) -> Result<Value> {
        self.pool("MaxPool", from, window)
    }

    /// Mean of each window.
    pub(super) fn average_pool(&mut self, from: &Value, window: Window) -> Result<Value> {
        self.pool("AveragePool", from, window)
    }

    fn pool(&mut self, operator: &str, from: &Value, window: Window) -> Result<Value> {
        let ([height, width], pads) = window.over(from.shape)?;
        let attributes: [(&str, &[i64]); 3] =
            [("kernel_shape", &integers(window.size)), ("strides", &integers(window.step)), ("pads", &pads)];
        self.node(operator, &[&from.name], &attributes, [from.shape[0], height, width])
    }

    /// Mean of each channel.
    pub(super) fn average(&mut self, from: &Value) -> Result<Value> {
        self.node("GlobalAveragePool", &[&from.name], &[], [from.shape[0], 1, 1])
    }

    /// Replaces negative values by 0.
    pub(super) fn relu(&mut self, from: &Value) -> Result<Value> {
        self.node("Relu", &[&from.name], &[], from.shape)
    }

    /// Sum of two values of the same shape.
    pub(super) fn add(&mut self, left: &Value, right: &Value) -> Result<Value> {
        if left.shape != right.shape {
            return Err(format!("cannot add shapes {:?} and {:?}", left.shape, right.shape));
        }
        self.node("Add", &[&left.name, &right.name], &[], left.shape)
    }

    /// Pads with zeros after the last channel, row and column to this shape.
    pub(super) fn pad(&mut self, from: &Value, shape: [usize; 3]) -> Result<Value> {
        let mut pads = [0; 8];
        for axis in 0..3 {
            let added = shape[axis].checked_sub(from.shape[axis]).ok_or("padding to a smaller shape")?;
            pads[axis + 5] = added as i64;
        }
        let pads = self.integers(&pads);
        self.node("Pad", &[&from.name, &pads], &[], shape)
    }

    /// Builds a network with these outputs.
    pub(super) fn finish(self, input: &Value, outputs: &[&Value]) -> Result<Network> {
        let graph = GraphProto {
            node: self.nodes,
            initializer: self.constants,
            input: vec![described(input)],
            output: outputs.iter().map(|output| described(output)).collect(),
            value_info: Vec::new(),
        };
        let model = ModelProto {
            ir_version: Some(8),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto { domain: None, version: Some(17) }],
            ..ModelProto::default()
        };
        let bytes = model.write_buf().map_err(|error| error.to_string())?;
        let mut options = ModelOptions::with_all_ops();
        let model = options.prepack_weights(true).load(bytes).map_err(|error| error.to_string())?;
        let input_id = model.node_id(&input.name).map_err(|error| error.to_string())?;
        let ids = outputs.iter().map(|output| model.node_id(&output.name));
        let outputs = ids.collect::<std::result::Result<_, _>>().map_err(|error| error.to_string())?;
        let threads = Arc::new(ThreadPool::with_num_threads(1));
        Ok(Network { model, input: input_id, shape: input.shape, outputs, threads })
    }

    fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, &[i64])],
        shape: [usize; 3],
    ) -> Result<Value> {
        if self.nodes.len() == MAX_NODES {
            return Err("too many operators".into());
        }
        let value = checked(format!("value{}", self.nodes.len()), shape)?;
        self.nodes.push(NodeProto {
            name: Some(value.name.clone()),
            input: inputs.iter().map(|&name| name.into()).collect(),
            output: vec![value.name.clone()],
            op_type: Some(operator.into()),
            attribute: attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
            ..NodeProto::default()
        });
        Ok(value)
    }

    fn floats(&mut self, dims: &[usize], numbers: &[f32]) -> String {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(dims.iter().map(|&length| length as i64).collect(), DataType::FLOAT, bytes)
    }

    fn integers(&mut self, numbers: &[i64]) -> String {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(vec![numbers.len() as i64], DataType::INT64, bytes)
    }

    fn constant(&mut self, dims: Vec<i64>, kind: DataType, bytes: Vec<u8>) -> String {
        let name = format!("constant{}", self.constants.len());
        self.constants.push(TensorProto {
            dims,
            data_type: Some(kind),
            raw_data: Some(RefCell::new(bytes)),
            name: Some(name.clone()),
            ..TensorProto::default()
        });
        name
    }
}

fn integers(numbers: [usize; 2]) -> [i64; 2] {
    numbers.map(|number| number as i64)
}

fn checked(name: String, shape: [usize; 3]) -> Result<Value> {
    let numbers = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    match numbers {
        Some(1..=MAX_ELEMENTS) => Ok(Value { name, shape }),
        _ => Err(format!("invalid shape {shape:?}")),
    }
}

fn attribute(name: &str, numbers: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        ints: numbers.to_vec(),
        r#type: Some(AttributeType::INTS),
        ..AttributeProto::default()
    }
}

fn described(value: &Value) -> ValueInfoProto {
    let [channels, height, width] = value.shape.map(|length| length as i64);
    let dim = |length| Dimension { dim_value: Some(length), dim_param: None };
    let shape = TensorShapeProto { dim: [1, channels, height, width].map(dim).into() };
    let tensor = TypeProtoTensor { elem_type: Some(DataType::FLOAT), shape: Some(shape) };
    ValueInfoProto {
        name: Some(value.name.clone()),
        r#type: Some(TypeProto { tensor_type: Some(tensor), sequence: None }),
    }
}

/// An executable network, which runs on one core.
pub(in crate::faces) struct Network {
    model: Model,
    input: NodeId,
    shape: [usize; 3],
    outputs: Vec<NodeId>,
    threads: Arc<ThreadPool>,
}

impl Network {
    /// Runs the network on a planar image and returns its outputs.
    pub(in crate::faces) fn run(&self, picture: Vec<f32>) -> Result<Vec<Vec<f32>>> {
        let [channels, height, width] = self.shape;
        if picture.len() != channels * height * width {
            return Err(format!("input of {} values", picture.len()));
        }
        let picture = NdTensor::from_data([1, channels, height, width], picture);
        let mut options = RunOptions::default();
        options.thread_pool = Some(self.threads.clone());
        let outputs = self
            .model
            .run(vec![(self.input, picture.into())], &self.outputs, Some(options))
            .map_err(|error| error.to_string())?;
        outputs
            .into_iter()
            .map(|output| {
                let output: Tensor<f32> = output.try_into().map_err(|_| "an output is not a float tensor")?;
                Ok(output.into_data())
            })
            .collect()
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("shape", &self.shape).finish_non_exhaustive()
    }
}
