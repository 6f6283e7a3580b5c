//! Checks model text before the engine parses it, and refuses what could harm the server.
//!
//! The scan is stricter than the engine: a count must be a plain number, a path must stay in the model's folder. Elements
//! that it does not know are left to the engine.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node, ParsingOptions};

use crate::{
    asset::{self, Budget},
    error::ModelError,
    limits::Limits,
    source::{TextFile, read_text},
};

mod markup;
mod reservations;

use self::reservations::Reservations;

/// Elements that load code, or whole models that would escape the scan.
const UNSUPPORTED: [&str; 4] = ["extension", "plugin", "attach", "model"];

/// Maximum number of folders for asset files: each file is looked for in all of them.
const MAX_FOLDERS: u64 = 16;
/// Maximum number of nodes of the parsed text per allowed element: comments and texts are nodes as well.
const NODES_PER_ELEMENT: u64 = 10;

/// Attributes of any element that name a folder.
const FOLDERS: [&str; 3] = ["meshdir", "texturedir", "assetdir"];

/// What a scan accepted.
pub(crate) struct Accepted {
    /// The main file, then the included ones.
    pub(crate) texts: Vec<TextFile>,
    /// Meshes and other large files.
    pub(crate) assets: Vec<PathBuf>,
}

/// Scans `main` and the files it includes.
pub(crate) fn accept(main: TextFile, folder: Option<&Path>, limits: &Limits) -> Result<Accepted, ModelError> {
    let mut scan = Scan {
        main: main.path.clone(),
        limits,
        folder,
        text_bytes: 0,
        elements: 0,
        included: Vec::new(),
        folders: vec![String::new()],
        assets: Vec::new(),
        budget: Budget::default(),
        reservations: Reservations::default(),
    };
    scan.text(&main, Context { multiplicity: 1, depth: 0, include_depth: 0, in_default: false })?;
    at_most(&scan.main, "number of values it reserves memory for", scan.reservations.total(), limits.values_in_all)?;
    let mut assets = Vec::with_capacity(scan.assets.len());
    for reference in &scan.assets {
        assets.push(asset::check(reference, folder, &scan.folders, &mut scan.budget, limits)?);
    }
    let mut texts = vec![main];
    texts.append(&mut scan.included);
    Ok(Accepted { texts, assets })
}

struct Scan<'a> {
    /// Path of the main file.
    main: String,
    limits: &'a Limits,
    /// Folder of the main file; paths are relative to it, including those in included files.
    folder: Option<&'a Path>,
    text_bytes: u64,
    elements: u64,
    included: Vec<TextFile>,
    /// Folders that asset files may be in, relative to the model's.
    folders: Vec<String>,
    assets: Vec<asset::Reference>,
    budget: Budget,
    reservations: Reservations,
}

/// Position of the scan in the document.
#[derive(Clone, Copy)]
struct Context {
    /// How many copies the engine will make of an element here.
    multiplicity: u64,
    depth: u32,
    include_depth: u32,
    /// Inside of `<default>`: elements make nothing themselves, but set values for others.
    in_default: bool,
}

impl Scan<'_> {
    fn text(&mut self, file: &TextFile, context: Context) -> Result<(), ModelError> {
        self.text_bytes = self.text_bytes.saturating_add(file.text.len() as u64);
        at_most(&file.path, "model text in bytes", self.text_bytes, self.limits.text_bytes)?;
        let not_xml = |reason: String| ModelError::NotXml { file: file.path.clone(), reason };
        if file.text.contains('\0') {
            return Err(not_xml("it contains a zero character".to_owned()));
        }
        markup::check(&file.path, &file.text, self.limits)?;
        let nodes = self.limits.elements.saturating_mul(NODES_PER_ELEMENT);
        let nodes_limit = u32::try_from(nodes).unwrap_or(u32::MAX);
        let options = ParsingOptions { allow_dtd: false, nodes_limit, ..ParsingOptions::default() };
        let document = Document::parse_with_options(&file.text, options).map_err(|error| match error {
            roxmltree::Error::NodesLimitReached => {
                let what = "number of elements, texts and comments".to_owned();
                ModelError::OverLimit { file: file.path.clone(), what, amount: nodes + 1, limit: nodes }
            }
            error => not_xml(error.to_string()),
        })?;
        self.element(file, document.root_element(), context)
    }

    fn element(&mut self, file: &TextFile, node: Node<'_, '_>, context: Context) -> Result<(), ModelError> {
        at_most(&file.path, "nesting of elements", context.depth.into(), self.limits.depth.into())?;
        let tag = node.tag_name().name();
        let attributes = Attributes { file, node, tag };
        if UNSUPPORTED.contains(&tag) {
            return Err(attributes.unsupported(tag));
        }
        let made = context.multiplicity.saturating_mul(self.made_by(&attributes)?);
        self.elements = self.elements.saturating_add(made);
        at_most(&file.path, "number of elements after expansion", self.elements, self.limits.elements)?;
        self.check_numbers(&attributes, made)?;
        self.reservations.add_element(&attributes, made, context.in_default, self.limits)?;
        self.check_paths(&attributes)?;

        let repeats = if tag == "replicate" { attributes.product("count")?.unwrap_or(1).max(1) } else { 1 };
        let inside = Context {
            multiplicity: context.multiplicity.saturating_mul(repeats),
            depth: context.depth + 1,
            in_default: context.in_default || tag == "default",
            ..context
        };
        if tag == "include" {
            self.include(&attributes, inside)?;
        }
        node.children().filter(Node::is_element).try_for_each(|child| self.element(file, child, inside))
    }

    /// Number of elements that the engine makes of this one, its children not counted.
    fn made_by(&self, attributes: &Attributes<'_, '_, '_>) -> Result<u64, ModelError> {
        /// Assumed for a `flexcomp` without a count.
        const FLEX_DEFAULT: u64 = 1_000;
        Ok(match attributes.tag {
            "composite" => attributes.product("count")?.unwrap_or(1),
            "flexcomp" => {
                let grid = attributes.product("count")?.unwrap_or(FLEX_DEFAULT);
                let cells = attributes.product("cellcount")?.unwrap_or(1);
                let points = attributes.words("point") / 3;
                grid.max(cells).max(points)
            }
            _ => 1,
        }
        .max(1))
    }

    /// Checks counts that make the engine allocate memory or compute for long; `made` is the number of copies of the element.
    fn check_numbers(&mut self, attributes: &Attributes<'_, '_, '_>, made: u64) -> Result<(), ModelError> {
        let limits = self.limits;
        match attributes.tag {
            "size" => {
                if let Some(memory) = attributes.node.attribute("memory") {
                    let bytes = parse_memory(memory).ok_or_else(|| attributes.bad_number("memory", memory))?;
                    attributes.at_most("memory", bytes, limits.memory_bytes)?;
                }
                for attribute in attributes.node.attributes().filter(|a| a.name() != "memory") {
                    let count = attributes.count(attribute.name())?.unwrap_or(0);
                    attributes.at_most(attribute.name(), count, limits.values)?;
                }
            }
            "option" => {
                for name in ["iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations"] {
                    attributes.at_most(name, attributes.product(name)?.unwrap_or(0), limits.iterations)?;
                }
                let points = attributes.product("sdf_initpoints")?.unwrap_or(0);
                attributes.at_most("sdf_initpoints", points, limits.iterations)?;
            }
            "texture" if attributes.node.attribute("builtin").is_some_and(|b| b != "none") => {
                let width = attributes.product("width")?.unwrap_or(0);
                // a cube or skybox without a height has six square faces
                let height = attributes.product("height")?.unwrap_or_else(|| width.saturating_mul(6));
                // limits count pixels of four channels
                let layers = attributes.product("nchannel")?.unwrap_or(1).div_ceil(4);
                let pixels = width.saturating_mul(height).saturating_mul(layers);
                self.budget.texture_pixels = self.budget.texture_pixels.saturating_add(pixels);
                attributes.at_most("width times height", self.budget.texture_pixels, limits.texture_pixels)?;
            }
            "hfield" => {
                let rows = attributes.product("nrow")?.unwrap_or(0);
                let columns = attributes.product("ncol")?.unwrap_or(0);
                self.budget.hfield_cells = self.budget.hfield_cells.saturating_add(rows.saturating_mul(columns));
                attributes.at_most("nrow times ncol", self.budget.hfield_cells, limits.hfield_cells)?;
            }
            "mesh" => {
                let vertices = attributes.builtin_vertices()?.saturating_mul(made);
                self.budget.mesh_vertices = self.budget.mesh_vertices.saturating_add(vertices);
                attributes.at_most("vertices made by params", self.budget.mesh_vertices, limits.values)?;
            }
            _ => {}
        }
        if attributes.tag == "rangefinder" && attributes.node.attribute("camera").is_some() {
            // casts a ray per pixel and step
            return Err(attributes.unsupported("rangefinder camera"));
        }
        let pixels = attributes.product("resolution")?.unwrap_or(0);
        attributes.at_most("resolution", pixels, limits.texture_pixels)?;
        let vertices = attributes.count("maxhullvert")?.unwrap_or(0);
        attributes.at_most("maxhullvert", vertices, limits.values)
    }

    /// Collects the files and folders an element refers to.
    fn check_paths(&mut self, attributes: &Attributes<'_, '_, '_>) -> Result<(), ModelError> {
        for attribute in attributes.node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            if FOLDERS.contains(&name) {
                let path = attributes.inside_folder(value)?;
                if !self.folders.contains(&path) {
                    self.folders.push(path);
                    let folders = self.folders.len() as u64;
                    at_most(&attributes.file.path, "number of folders of its files", folders, MAX_FOLDERS)?;
                }
            } else if attributes.tag != "include" && (name.starts_with("file") && !value.is_empty()) {
                if self.folder.is_none() {
                    return Err(attributes.file_in_text(value));
                }
                // a URDF package prefix, which the engine strips as well
                let value = value.strip_prefix("package://").unwrap_or(value);
                self.assets.push(asset::Reference {
                    file: attributes.file.path.clone(),
                    element: attributes.tag.to_owned(),
                    path: attributes.inside_folder(value)?,
                });
                let assets = self.assets.len() as u64;
                at_most(&attributes.file.path, "number of files it refers to", assets, self.limits.assets)?;
            }
        }
        Ok(())
    }

    fn include(&mut self, attributes: &Attributes<'_, '_, '_>, context: Context) -> Result<(), ModelError> {
        let value = attributes.node.attribute("file").unwrap_or_default();
        let Some(folder) = self.folder else { return Err(attributes.file_in_text(value)) };
        let relative = attributes.inside_folder(value)?;
        let file = &attributes.file.path;
        let path = resolve(folder, &relative).ok_or_else(|| attributes.outside(value))?;
        let engine_path = folder.join(&relative).to_string_lossy().into_owned();
        let seen = |known: &str| Path::new(known) == path || known == engine_path;
        if seen(&self.main) || self.included.iter().any(|f| seen(&f.path)) {
            return Err(ModelError::IncludedTwice { file: file.clone(), path: value.to_owned() });
        }
        at_most(file, "number of includes", self.included.len() as u64 + 1, self.limits.includes.into())?;
        let depth = context.include_depth + 1;
        at_most(file, "nesting of includes", depth.into(), self.limits.include_depth.into())?;
        let text = read_text(&path, self.limits.text_bytes)?;
        let included = TextFile { path: engine_path, text };
        // before it is scanned, so that a file that includes itself is found
        self.included.push(included.clone());
        self.text(&included, Context { include_depth: depth, ..context })
    }
}

/// The attributes of one element.
struct Attributes<'a, 'd, 'i> {
    file: &'a TextFile,
    node: Node<'d, 'i>,
    tag: &'a str,
}

impl Attributes<'_, '_, '_> {
    /// Product of a list of numbers, each counted as at least 1; `None` if there is no such attribute.
    fn product(&self, name: &str) -> Result<Option<u64>, ModelError> {
        let Some(value) = self.node.attribute(name) else { return Ok(None) };
        value
            .split_ascii_whitespace()
            .try_fold(1_u64, |product, word| {
                // digits only, since the engine may read a sign, a hexadecimal number or a fraction differently
                let plain = word.bytes().all(|b| b.is_ascii_digit());
                let number = word.parse::<u64>().ok().filter(|_| plain).ok_or_else(|| self.bad_number(name, value))?;
                Ok(product.saturating_mul(number.max(1)))
            })
            .map(Some)
    }

    /// Like [`product`](Self::product), but also `None` if it is empty or -1, which means "as many as needed".
    fn count(&self, name: &str) -> Result<Option<u64>, ModelError> {
        let value = self.node.attribute(name).map_or("", str::trim);
        if value.is_empty() || value == "-1" { Ok(None) } else { self.product(name) }
    }

    /// Upper bound of the vertices that the engine makes from a mesh's `builtin` and `params`; shapes that take longer to
    /// compute count as more.
    fn builtin_vertices(&self) -> Result<u64, ModelError> {
        let params = self.list("params")?;
        let builtin = self.node.attribute("builtin").map_or("none", str::trim);
        if builtin != "none" && params.iter().any(|p| *p < 0.0) {
            // the engine does not check them all
            return Err(self.bad_number("params", self.node.attribute("params").unwrap_or_default()));
        }
        let size = |index: usize| params.get(index).copied().unwrap_or(0.0);
        // a grid has one more line than it has cells
        let grid = |a: f64, b: f64| (a + 1.0) * (b + 1.0);
        let vertices = match builtin {
            "none" => 0.0,
            // each subdivision makes four triangles of one
            "sphere" => 10.0 * 4_f64.powf(size(0)) + 2.0,
            // five sides of a cube and the cap
            "hemisphere" => 6.0 * grid(size(0), size(0)),
            // a cone has few, but its hull takes as long as if it had a grid of them
            "cone" | "supersphere" | "supertorus" => grid(size(0), size(0)),
            "wedge" | "plate" => grid(size(0), size(1)),
            _ => params.iter().map(|p| p.max(1.0)).product::<f64>().powi(2),
        };
        // saturates
        Ok(vertices as u64)
    }

    fn list(&self, name: &str) -> Result<Vec<f64>, ModelError> {
        let value = self.node.attribute(name).unwrap_or_default();
        let words = value.split_ascii_whitespace();
        words
            .map(|w| w.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| self.bad_number(name, value)))
            .collect()
    }

    fn words(&self, name: &str) -> u64 {
        self.node.attribute(name).map_or(0, |value| value.split_ascii_whitespace().count() as u64)
    }

    fn at_most(&self, name: &str, amount: u64, limit: u64) -> Result<(), ModelError> {
        at_most(&self.file.path, &format!("{name} of <{}>", self.tag), amount, limit)
    }

    fn bad_number(&self, name: &str, value: &str) -> ModelError {
        let attribute = format!("{name} of <{}>", self.tag);
        ModelError::BadNumber { file: self.file.path.clone(), attribute, value: value.to_owned() }
    }

    fn unsupported(&self, element: &str) -> ModelError {
        ModelError::Unsupported { file: self.file.path.clone(), element: element.to_owned() }
    }

    fn file_in_text(&self, path: &str) -> ModelError {
        ModelError::FileInText { file: self.file.path.clone(), path: path.to_owned() }
    }

    fn outside(&self, path: &str) -> ModelError {
        ModelError::OutsideFolder { file: self.file.path.clone(), path: path.to_owned() }
    }

    /// The path, if it is relative and stays in the folder. Colons and backslashes are refused: they could mean a scheme, a
    /// drive or a parent folder.
    fn inside_folder(&self, path: &str) -> Result<String, ModelError> {
        let climbs = path.split('/').any(|part| part == "..");
        if path.starts_with('/') || path.contains(['\\', ':']) || climbs {
            return Err(self.outside(path));
        }
        Ok(path.trim_end_matches('/').to_owned())
    }
}

/// The canonical path of a file below `folder`; `None` if a link points outside of it. The path of a missing file is returned
/// as it is: reading it reports the error.
pub(crate) fn resolve(folder: &Path, relative: &str) -> Option<PathBuf> {
    let named = folder.join(relative);
    match (named.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder).then_some(path),
        _ => Some(named),
    }
}

pub(crate) fn at_most(file: &str, what: &str, amount: u64, limit: u64) -> Result<(), ModelError> {
    if amount <= limit {
        return Ok(());
    }
    Err(ModelError::OverLimit { file: file.to_owned(), what: what.to_owned(), amount, limit })
}

/// Parses a memory size of MJCF, in bytes: digits and an optional K, M, G, T, P or E. -1 means "as much as needed".
fn parse_memory(text: &str) -> Option<u64> {
    let text = text.trim();
    if text == "-1" {
        return Some(0);
    }
    let unit = "KMGTPE".find(|c| text.to_ascii_uppercase().ends_with(c));
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|_| plain)?;
    Some(unit.map_or(number, |power| number.saturating_mul(1 << (10 * (power + 1)))))
}

#[cfg(test)]
mod tests;
