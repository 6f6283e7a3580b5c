//! Model text that has been read and checked.

mod scenery;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::UNIX_EPOCH,
};

use xxhash_rust::xxh3::Xxh3;

use crate::{
    assembly::visuals::VisualCache,
    error::ModelError,
    limits::Limits,
    scan::{self, Accepted},
    vet::Use,
};

/// A model in MJCF or URDF that has passed the scan. Cheap to clone.
///
/// The text, with all included files, is kept as it was scanned. Meshes and other large files are read from disk when the
/// model is compiled; they must be in the model's folder or below it.
#[derive(Clone, Debug)]
pub struct Source(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    /// The file it was read from, if any.
    path: Option<PathBuf>,
    /// The main file, then the included ones.
    files: Vec<TextFile>,
    /// Meshes and other large files.
    assets: Vec<PathBuf>,
    visual_cache: VisualCache,
    /// Whether it passed [`vet`](crate::vet) as a base, and attached to one.
    passed: [OnceLock<()>; 2],
}

/// One file of model text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextFile {
    /// Path that the engine uses for it.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Reads and scans a model file (`.xml` or `.urdf`) with all included files, and checks the files it refers to.
    ///
    /// # Errors
    /// If a file cannot be read, is not XML, refers to anything outside the model's folder, or exceeds a limit.
    pub fn from_file(path: &Path, limits: &Limits) -> Result<Self, ModelError> {
        let shown = path.display().to_string();
        let unreadable = |reason: String| ModelError::Unreadable { file: shown.clone(), reason };
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        if !matches!(kind.as_str(), "xml" | "urdf") {
            return Err(unreadable("its extension is neither .xml nor .urdf".to_owned()));
        }
        let path = path.canonicalize().map_err(|e| unreadable(e.to_string()))?;
        let text = read_text(&path, limits.text_bytes)?;
        let folder = path.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("model").to_owned();
        let engine_path = path.to_str().ok_or_else(|| unreadable("its path is not UTF-8".to_owned()))?.to_owned();
        let main = TextFile { path: engine_path, text };
        let accepted = scan::accept(main, Some(&folder), limits)?;
        Ok(Self::of(name, Some(path), accepted))
    }

    /// Scans self-contained model text: it must not refer to any file. `name` appears in messages.
    ///
    /// # Errors
    /// If the text is not XML, refers to a file, or exceeds a limit.
    pub fn from_text(name: &str, text: &str, limits: &Limits) -> Result<Self, ModelError> {
        let main =
            TextFile { path: format!("{}.xml", name.replace(['/', '\\', ':', '\0'], "_")), text: text.to_owned() };
        let accepted = scan::accept(main, None, limits)?;
        Ok(Self::of(name.to_owned(), None, accepted))
    }

    fn of(name: String, path: Option<PathBuf>, Accepted { texts, assets }: Accepted) -> Self {
        let (visual_cache, passed) = (VisualCache::default(), Default::default());
        Self(Arc::new(Inner { name, path, files: texts, assets, visual_cache, passed }))
    }

    /// The name of the model in messages: the file name without its extension, or the name given with the text.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The absolute path it was read from; `None` for self-contained text.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The text of the main file, without included files.
    pub fn text(&self) -> &str {
        self.0.files.first().map_or("", |file| file.text.as_str())
    }

    /// Hash of everything it is compiled from. Meshes and other large files are distinguished by path, size and modification
    /// time.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        let mut add = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for file in &self.0.files {
            add(file.path.as_bytes());
            add(file.text.as_bytes());
        }
        for path in &self.0.assets {
            add(path.as_os_str().as_encoded_bytes());
            let about = fs::metadata(path).ok();
            let changed = about.as_ref().and_then(|about| about.modified().ok()?.duration_since(UNIX_EPOCH).ok());
            add(&about.map_or(0, |about| about.len()).to_le_bytes());
            add(&changed.unwrap_or_default().as_nanos().to_le_bytes());
        }
        hash.digest()
    }

    /// Whether it passed [`vet`](crate::vet) for this use.
    pub(crate) fn passed(&self, used: Use<'_>) -> &OnceLock<()> {
        let [base, attached] = &self.0.passed;
        if used == Use::Base { base } else { attached }
    }

    /// The main file, then the included ones.
    pub(crate) fn text_files(&self) -> &[TextFile] {
        &self.0.files
    }

    /// The visuals that have been computed so far.
    pub(crate) fn visual_cache(&self) -> &VisualCache {
        &self.0.visual_cache
    }

    /// Whether both are clones of one source, or have the same path and text.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let (Inner { path, files, .. }, other) = (&*self.0, &*other.0);
        std::ptr::eq(&raw const *self.0, other) || (*path == other.path && *files == other.files)
    }
}

/// Reads a text file of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, ModelError> {
    let file = path.display().to_string();
    let unreadable = |reason: String| ModelError::Unreadable { file: file.clone(), reason };
    let about = fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
    if !about.is_file() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    if about.len() > limit {
        return Err(ModelError::OverLimit { file, what: "its size in bytes".to_owned(), amount: about.len(), limit });
    }
    let bytes = fs::read(path).map_err(|e| unreadable(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| ModelError::NotXml { file, reason: "it is not UTF-8 text".to_owned() })
}
