//! Parses TensorFlow Lite models: FlatBuffers, of which only the required fields are read.
//!
//! A FlatBuffers table starts with the backward offset of its vtable, which holds the offset of each field in the table;
//! fields other than numbers are forward offsets. Every offset is checked against the end of the file.

/// Maximum number of tensors, operators, operator codes or buffers in a file.
const MAX_ITEMS: usize = 4096;
/// Maximum number of axes of a tensor, and of inputs or outputs of an operator.
const MAX_AXES: usize = 8;

/// The error is a human-readable message.
type Result<T> = std::result::Result<T, String>;

/// A supported operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorKind {
    Add,
    Convolve,
    ConvolveDepthwise,
    Dequantize,
    MaxPool,
    Relu,
    Reshape,
    ResizeBilinear,
    Pad,
}

impl OperatorKind {
    fn of(code: i32) -> Result<OperatorKind> {
        Ok(match code {
            0 => OperatorKind::Add,
            3 => OperatorKind::Convolve,
            4 => OperatorKind::ConvolveDepthwise,
            6 => OperatorKind::Dequantize,
            17 => OperatorKind::MaxPool,
            19 => OperatorKind::Relu,
            22 => OperatorKind::Reshape,
            23 => OperatorKind::ResizeBilinear,
            34 => OperatorKind::Pad,
            _ => return Err(format!("unsupported operator {code}")),
        })
    }
}

/// A tensor: a constant, or the output of an operator.
#[derive(Clone, Debug)]
pub(super) struct Tensor<'a> {
    /// Lengths of the axes.
    pub(super) shape: Vec<usize>,
    /// Values of a constant.
    pub(super) numbers: Option<TensorData<'a>>,
}

/// Raw values of a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum TensorData<'a> {
    Floats(&'a [u8]),
    Halves(&'a [u8]),
    Integers(&'a [u8]),
}

impl TensorData<'_> {
    /// The values as floats.
    pub(super) fn floats(&self) -> Result<Vec<f32>> {
        match self {
            TensorData::Floats(bytes) => Ok(words(bytes).map(f32::from_le_bytes).collect()),
            TensorData::Halves(bytes) => Ok(words(bytes).map(|word| half(u16::from_le_bytes(word))).collect()),
            TensorData::Integers(_) => Err("expected floats, found integers".into()),
        }
    }

    /// The values as integers.
    pub(super) fn integers(&self) -> Result<Vec<i32>> {
        match self {
            TensorData::Integers(bytes) => Ok(words(bytes).map(i32::from_le_bytes).collect()),
            _ => Err("expected integers, found floats".into()),
        }
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// Converts a half-precision float.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

/// An operator of the network.
#[derive(Clone, Debug)]
pub(super) struct Operator<'a> {
    pub(super) kind: OperatorKind,
    /// Indices of the input tensors.
    pub(super) inputs: Vec<usize>,
    /// Indices of the output tensors.
    pub(super) outputs: Vec<usize>,
    options: Option<Table<'a>>,
}

impl Operator<'_> {
    /// A whole number among its options, by its place in the file format's list.
    pub(super) fn option(&self, field: usize, default: i32) -> Result<i32> {
        match &self.options {
            Some(table) => table.i32(field, default),
            None => Ok(default),
        }
    }

    /// A byte among its options.
    pub(super) fn option_byte(&self, field: usize, default: u8) -> Result<u8> {
        match &self.options {
            Some(table) => table.u8(field, default),
            None => Ok(default),
        }
    }
}

/// A network as it is in the file.
#[derive(Clone, Debug)]
pub(super) struct Model<'a> {
    pub(super) tensors: Vec<Tensor<'a>>,
    /// All operators, in an order in which they can be run.
    pub(super) operators: Vec<Operator<'a>>,
    /// The tensors that go into the network.
    pub(super) inputs: Vec<usize>,
    /// The tensors that come out of it.
    pub(super) outputs: Vec<usize>,
}

impl<'a> Model<'a> {
    /// Reads the bytes of a file.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Model<'a>> {
        if bytes.get(4..8) != Some(b"TFL3") {
            return Err("it is no network for TensorFlow Lite".into());
        }
        let model = Table::at(bytes, follow(bytes, 0)?)?;
        let kinds = model.tables(1)?.iter().map(|code| code.code()).collect::<Result<Vec<_>>>()?;
        let graph = *model.tables(2)?.first().ok_or("it has no graph")?;
        let buffers = model.tables(4)?;
        let tensors = graph.tables(0)?.iter().map(|table| tensor(table, &buffers)).collect::<Result<Vec<_>>>()?;
        let operators = graph.tables(3)?;
        let operators = operators.iter().map(|table| operator(table, &kinds, tensors.len())).collect::<Result<_>>()?;
        let ends = |field| indices(&graph, field, tensors.len());
        Ok(Model { inputs: ends(1)?, outputs: ends(2)?, tensors, operators })
    }
}

fn tensor<'a>(table: &Table<'a>, buffers: &[Table<'a>]) -> Result<Tensor<'a>> {
    let shape = table.i32s(0)?;
    if shape.len() > MAX_AXES {
        return Err(format!("tensor has {} axes", shape.len()));
    }
    let shape: Vec<usize> = shape
        .iter()
        .map(|&length| usize::try_from(length).map_err(|_| "negative length"))
        .collect::<std::result::Result<_, _>>()?;
    let buffer = table.i32(2, 0)?;
    let buffer = usize::try_from(buffer).ok().and_then(|at| buffers.get(at)).ok_or("tensor without a buffer")?;
    let bytes = buffer.bytes(0)?;
    if bytes.is_empty() {
        return Ok(Tensor { shape, numbers: None });
    }
    let (size, numbers) = match table.u8(1, 0)? {
        0 => (4, TensorData::Floats(bytes)),
        1 => (2, TensorData::Halves(bytes)),
        2 => (4, TensorData::Integers(bytes)),
        kind => return Err(format!("unsupported tensor type {kind}")),
    };
    let length = shape.iter().try_fold(size, |product: usize, &length| product.checked_mul(length));
    if length != Some(bytes.len()) {
        return Err(format!("constant of shape {shape:?} has {} bytes", bytes.len()));
    }
    Ok(Tensor { shape, numbers: Some(numbers) })
}

fn operator<'a>(table: &Table<'a>, kinds: &[i32], tensors: usize) -> Result<Operator<'a>> {
    let kind = usize::try_from(table.i32(0, 0)?).ok().and_then(|at| kinds.get(at));
    let (inputs, outputs) = (indices(table, 1, tensors)?, indices(table, 2, tensors)?);
    if inputs.len().max(outputs.len()) > MAX_AXES {
        return Err("operator has too many inputs or outputs".into());
    }
    let kind = OperatorKind::of(*kind.ok_or("operator without a code")?)?;
    Ok(Operator { kind, inputs, outputs, options: table.table(4)? })
}

fn indices(table: &Table, field: usize, tensors: usize) -> Result<Vec<usize>> {
    let inside = |index: &i32| usize::try_from(*index).ok().filter(|&index| index < tensors);
    table
        .i32s(field)?
        .iter()
        .map(|index| inside(index).ok_or_else(|| format!("tensor {index} is out of range")))
        .collect()
}

/// `N` bytes at an offset.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let rest = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    rest.copied().ok_or_else(|| format!("the file ends before byte {at}"))
}

/// The target of the forward offset stored at `at`.
fn follow(bytes: &[u8], at: usize) -> Result<usize> {
    let way = u32::from_le_bytes(bytes_at(bytes, at)?) as usize;
    at.checked_add(way).ok_or_else(|| "offset out of range".into())
}

#[derive(Clone, Copy, Debug)]
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    fields: &'a [u8],
}

impl<'a> Table<'a> {
    fn at(bytes: &'a [u8], at: usize) -> Result<Table<'a>> {
        let back = i64::from(i32::from_le_bytes(bytes_at(bytes, at)?));
        let list = usize::try_from(at as i64 - back).map_err(|_| "table without a vtable")?;
        let length = usize::from(u16::from_le_bytes(bytes_at(bytes, list)?));
        let fields = list.checked_add(length).and_then(|end| bytes.get(list..end)).and_then(|list| list.get(4..));
        Ok(Table { bytes, at, fields: fields.ok_or("vtable extends beyond the file")? })
    }

    /// Offset of a field, if present.
    fn field(&self, field: usize) -> Result<Option<usize>> {
        match self.fields.as_chunks::<2>().0.get(field).map(|word| u16::from_le_bytes(*word)) {
            None | Some(0) => Ok(None),
            Some(place) => Ok(Some(self.at + usize::from(place))),
        }
    }

    fn u8(&self, field: usize, default: u8) -> Result<u8> {
        Ok(match self.field(field)? {
            Some(at) => u8::from_le_bytes(bytes_at(self.bytes, at)?),
            None => default,
        })
    }

    fn i32(&self, field: usize, default: i32) -> Result<i32> {
        Ok(match self.field(field)? {
            Some(at) => i32::from_le_bytes(bytes_at(self.bytes, at)?),
            None => default,
        })
    }

    fn table(&self, field: usize) -> Result<Option<Table<'a>>> {
        self.field(field)?.map(|at| Table::at(self.bytes, follow(self.bytes, at)?)).transpose()
    }

    /// Offset and bytes of a vector with items of `size` bytes.
    fn list(&self, field: usize, size: usize) -> Result<(usize, &'a [u8])> {
        let Some(at) = self.field(field)? else { return Ok((0, &[])) };
        let at = follow(self.bytes, at)?;
        let length = u32::from_le_bytes(bytes_at(self.bytes, at)?) as usize;
        let start = at + 4;
        let end = length.checked_mul(size).and_then(|length| length.checked_add(start));
        let items = end.and_then(|end| self.bytes.get(start..end));
        Ok((start, items.ok_or("vector extends beyond the file")?))
    }

    fn bytes(&self, field: usize) -> Result<&'a [u8]> {
        Ok(self.list(field, 1)?.1)
    }

    fn i32s(&self, field: usize) -> Result<Vec<i32>> {
        let (_, items) = self.list(field, 4)?;
        if items.len() > 4 * MAX_ITEMS {
            return Err("vector is too long".into());
        }
        Ok(words(items).map(i32::from_le_bytes).collect())
    }

    fn tables(&self, field: usize) -> Result<Vec<Table<'a>>> {
        let (start, items) = self.list(field, 4)?;
        let count = items.len() / 4;
        if count > MAX_ITEMS {
            return Err("vector is too long".into());
        }
        (0..count).map(|index| Table::at(self.bytes, follow(self.bytes, start + 4 * index)?)).collect()
    }

    /// Operator code; the first field holds codes that fit into a byte, the fourth all codes.
    fn code(&self) -> Result<i32> {
        Ok(self.i32(3, 0)?.max(i32::from(self.u8(0, 0)?)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Model, half};

    proptest! {
        #[test]
        fn any_bytes_parse_or_fail(mut bytes in proptest::collection::vec(prop_oneof![0u8..40, any::<u8>()], 8..400)) {
            bytes[4..8].copy_from_slice(b"TFL3");
            // a root offset that is usually within the file
            bytes[1..4].fill(0);
            let _ = Model::read(&bytes);
        }
    }

    #[test]
    fn half_precision_floats_are_converted() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x8000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), number, "{bits:#06x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
