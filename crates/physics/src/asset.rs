//! Mesh, texture, height field and skin files: that they exist, where they are and how large they are.

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
    /// The text that refers to it.
    pub(crate) file: String,
    /// The element that does.
    pub(crate) element: String,
    /// Path relative to one of the model's folders; does not climb.
    pub(crate) path: String,
}

/// What all assets of a model take together.
#[derive(Default)]
pub(crate) struct Budget {
    pub(crate) bytes: u64,
    pub(crate) texture_pixels: u64,
    pub(crate) hfield_cells: u64,
    /// Of meshes the engine makes from parameters.
    pub(crate) mesh_vertices: u64,
}

/// Finds the file in one of `folders` (relative to `root`) and adds it to the budget.
pub(crate) fn check(
    reference: &Reference,
    root: Option<&Path>,
    folders: &[String],
    budget: &mut Budget,
    limits: &Limits,
) -> Result<(), ModelError> {
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
        // a vertex takes some 16 bytes in any of the formats, and becomes a body
        "flexcomp" => at_most(file, &format!("number of points in {path}"), size / 16, limits.elements),
        _ => Ok(()),
    }
}

/// The engine looks in the folder its settings name, or drops the path's own folders first; either way it is one of
/// these.
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
        reason: format!("{file} refers to it, but there is no such file"),
    })
}

/// Width times height, from a PNG file's first bytes.
fn png_pixels(path: &Path) -> Option<u64> {
    let mut header = [0; 24];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let (signature, rest) = header.split_at(8);
    if signature != b"\x89PNG\r\n\x1a\n" {
        return None;
    }
    let number = |at: usize| rest.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes).map(u64::from);
    // chunk length and type come first
    Some(number(8)?.saturating_mul(number(12)?))
}
