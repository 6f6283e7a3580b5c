//! Checks the mesh, texture, height field and skin files of a model: existence, location and size.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use crate::{
    error::ModelError,
    limits::Limits,
    scan::{at_most, resolve},
};

/// A file that a model refers to.
pub(crate) struct Reference {
    /// The file that refers to it.
    pub(crate) file: String,
    /// Tag of the element that refers to it.
    pub(crate) element: String,
    /// Path relative to one of the model's folders, without `..`.
    pub(crate) path: String,
}

/// Totals over all assets of a model.
#[derive(Default)]
pub(crate) struct Budget {
    pub(crate) bytes: u64,
    pub(crate) texture_pixels: u64,
    pub(crate) hfield_cells: u64,
    /// Vertices of meshes that the engine generates from parameters.
    pub(crate) mesh_vertices: u64,
}

/// Finds the file in one of `folders` (relative to `root`) and adds it to the budget. Returns its path.
pub(crate) fn check(
    reference: &Reference,
    root: Option<&Path>,
    folders: &[String],
    budget: &mut Budget,
    limits: &Limits,
) -> Result<PathBuf, ModelError> {
    let Reference { file, element, path } = reference;
    let Some(root) = root else { return Err(ModelError::FileInText { file: file.clone(), path: path.clone() }) };
    let found = find(reference, root, folders)?;
    let size = fs::metadata(&found).map(|about| about.len()).unwrap_or(u64::MAX);
    at_most(file, &format!("size of {path} in bytes"), size, limits.asset_file_bytes)?;
    budget.bytes = budget.bytes.saturating_add(size);
    at_most(file, "size of all its meshes and textures in bytes", budget.bytes, limits.asset_bytes)?;
    let pixels = png_pixels(&found).unwrap_or(size / 4);
    match element.as_str() {
        "texture" => {
            budget.texture_pixels = budget.texture_pixels.saturating_add(pixels);
            at_most(file, "number of texture pixels", budget.texture_pixels, limits.texture_pixels)
        }
        "hfield" => {
            budget.hfield_cells = budget.hfield_cells.saturating_add(pixels);
            at_most(file, "number of height field cells", budget.hfield_cells, limits.hfield_cells)
        }
        // a vertex takes about 16 bytes in any format, and becomes a body
        "flexcomp" => at_most(file, &format!("number of points in {path}"), size / 16, limits.elements),
        _ => Ok(()),
    }?;
    Ok(found)
}

/// The engine searches the folder of its settings, with or without the path's own folders; `folders` has all of them.
fn find(reference: &Reference, root: &Path, folders: &[String]) -> Result<PathBuf, ModelError> {
    let Reference { file, path, .. } = reference;
    let bare = path.rsplit('/').next().unwrap_or(path);
    for folder in folders {
        for name in [path, bare] {
            let relative = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let named = resolve(root, &relative)
                .ok_or_else(|| ModelError::OutsideFolder { file: file.clone(), path: path.clone() })?;
            if named.is_file() {
                return Ok(named);
            }
        }
    }
    Err(ModelError::Unreadable {
        file: root.join(path).display().to_string(),
        reason: format!("{file} refers to it, but it does not exist"),
    })
}

/// Width times height from a PNG file's header; `None` for other files.
fn png_pixels(path: &Path) -> Option<u64> {
    let mut header = [0; 24];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let (signature, rest) = header.split_at(8);
    if signature != b"\x89PNG\r\n\x1a\n" {
        return None;
    }
    let number = |at: usize| rest.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes).map(u64::from);
    // after the length and type of the first chunk
    Some(number(8)?.saturating_mul(number(12)?))
}
