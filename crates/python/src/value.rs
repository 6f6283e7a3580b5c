//! Values of variables as Python objects.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::{
    Bound, IntoPyObjectExt, Py, PyAny, PyResult, Python,
    types::{PyAnyMethods, PyString},
};
use world::{Value, ValueKind};

use crate::error;

/// The Python object for a value: a number, a `bool`, a `str`, or an array.
pub(crate) fn to_python(py: Python<'_>, value: Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Double(x) | Value::NormalizedDouble(x) => x.into_py_any(py),
        Value::Integer(x) => x.into_py_any(py),
        Value::Boolean(x) => x.into_py_any(py),
        Value::String(text) => text.into_py_any(py),
        Value::Point3D(point) => PyArray1::from_slice(py, &point).into_py_any(py),
        Value::Quaternion(rotation) => PyArray1::from_slice(py, &rotation).into_py_any(py),
        Value::Matrix(rows) => PyArray1::from_slice(py, rows.as_flattened())
            .reshape([3, 3])
            .map(Bound::<PyArray2<f64>>::unbind)?
            .into_py_any(py),
        Value::Range(min, max) => PyArray1::from_slice(py, &[min, max]).into_py_any(py),
        Value::Colour(channels) => PyArray1::from_slice(py, &channels).into_py_any(py),
    }
}

/// A value of this kind, from a Python object. Text is parsed as in scenario files.
pub(crate) fn from_python(kind: ValueKind, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if kind != ValueKind::String && object.is_instance_of::<PyString>() {
        return kind.parse(&object.extract::<String>()?).map_err(error::invalid);
    }
    Ok(match kind {
        ValueKind::Double => Value::Double(object.extract()?),
        ValueKind::NormalizedDouble => Value::NormalizedDouble(object.extract()?),
        ValueKind::Integer => Value::Integer(object.extract()?),
        ValueKind::Boolean => Value::Boolean(object.extract()?),
        ValueKind::String => Value::String(object.extract()?),
        ValueKind::Point3D => Value::Point3D(object.extract()?),
        ValueKind::Quaternion => Value::Quaternion(object.extract()?),
        ValueKind::Matrix => Value::Matrix(object.extract()?),
        ValueKind::Range => {
            let [min, max] = object.extract()?;
            Value::Range(min, max)
        }
        ValueKind::Colour => Value::Colour(object.extract()?),
    })
}
