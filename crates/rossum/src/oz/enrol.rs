//! `rossum oz enrol`: adds a face to the file of names.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, ensure};
use puppet::{
    camera::Image,
    faces::{Detector, Embedder, Embedding, FaceDetection, FacesError, MAX_SAMPLES, Names},
};

/// Maximum size of a picture, in bytes.
const MAX_PICTURE: u64 = 64 << 20;

/// Options of `rossum oz enrol`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Use a few frontal pictures of each person with different facial expressions; \
    `rossum oz snapshot` saves an image of the robot's own camera. Only the largest face in each picture is used. Set \
    `names` in the scenario's [oz] section to the file; it is read when the server starts. The file contains face \
    embeddings instead of pictures, but is still personal data.")]
pub(crate) struct EnrolOptions {
    /// Name of the person
    name: String,
    /// PNG or JPEG files
    #[arg(required = true, value_name = "PICTURE")]
    pictures: Vec<PathBuf>,
    /// File of names to add the face to; created if it does not exist
    #[arg(long, value_name = "FILE")]
    names: PathBuf,
}

pub(super) fn run(options: &EnrolOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let EnrolOptions { name, pictures, names: file } = options;
    ensure!(pictures.len() <= MAX_SAMPLES, "too many pictures ({}): at most {MAX_SAMPLES} per name", pictures.len());
    let mut names = if file.exists() { Names::load(file)? } else { Names::new() };
    let folder = puppet::fetched_folder("faces").context("ROSSUM_CACHE, XDG_CACHE_HOME and HOME are not set")?;
    let (mut detector, embedder) = networks(&folder)?;
    for path in pictures {
        let (face, embedding) =
            embed(&mut detector, &embedder, path).with_context(|| format!("failed to enrol {}", path.display()))?;
        if let Some(other) = names.name_of(&embedding).filter(|other| other != name) {
            writeln!(out, "{}: looks like {other}", path.display())?;
        }
        names.enrol(name, &embedding)?;
        writeln!(out, "{}: a face at {:+.2} {:+.2} ({:.2})", path.display(), face.x, face.y, face.confidence)?;
    }
    names.save(file)?;
    writeln!(out, "{} has {}", file.display(), names.iter().collect::<Vec<_>>().join(", "))?;
    Ok(())
}

fn networks(folder: &Path) -> anyhow::Result<(Detector, Embedder)> {
    let load = || -> Result<_, FacesError> { Ok((Detector::load(folder)?, Embedder::load(folder)?)) };
    load().map_err(|error| match error {
        FacesError::Read { path, source } => anyhow!(
            "the face recognition models are missing; run `scripts/fetch-puppet faces` ({}: {source})",
            path.display()
        ),
        other => anyhow::Error::new(other).context("failed to load the face recognition models"),
    })
}

fn embed(detector: &mut Detector, embedder: &Embedder, path: &Path) -> anyhow::Result<(FaceDetection, Embedding)> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_PICTURE + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= MAX_PICTURE, "larger than {MAX_PICTURE} bytes");
    let image = Image::read(&bytes)?;
    let face = largest(detector.detect(&image)).context("no face found")?;
    let embedding = embedder.embed(&image, &face)?;
    Ok((face, embedding))
}

fn largest(faces: Vec<FaceDetection>) -> Option<FaceDetection> {
    faces.into_iter().max_by(|a, b| (a.width * a.height).total_cmp(&(b.width * b.height)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_face_is_used() {
        let found = |side: f32| FaceDetection {
            confidence: 1.0 - side,
            x: 0.0,
            y: 0.0,
            width: side,
            height: side,
            eyes: None,
            mouth: None,
        };
        assert_eq!(largest(vec![found(0.1), found(0.4), found(0.2)]), Some(found(0.4)));
        assert_eq!(largest(Vec::new()), None);
    }

    #[test]
    fn missing_models_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", networks(folder.path()).err().unwrap());
        assert!(error.contains("run `scripts/fetch-puppet faces`"), "{error}");
    }
}
