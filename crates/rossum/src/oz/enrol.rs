//! `rossum oz enrol`: faces get names.

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

/// Most bytes of a picture.
const MAX_PICTURE: u64 = 64 << 20;

/// Options of `rossum oz enrol`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Take a few pictures of each person, from the front and with different faces: \
    `rossum oz snapshot` saves what the robot sees itself. The largest face in each picture counts. A scenario points to \
    the file with `names` in [oz], and the robot reads it when it is started. The file holds numbers that describe the \
    faces, not the pictures; treat it as personal data all the same.")]
pub(crate) struct EnrolOptions {
    /// Whose face it is
    name: String,
    /// PNG or JPEG files
    #[arg(required = true, value_name = "PICTURE")]
    pictures: Vec<PathBuf>,
    /// The file of names to add it to; it is made if it is not there
    #[arg(long, value_name = "FILE")]
    names: PathBuf,
}

pub(super) fn run(options: &EnrolOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let EnrolOptions { name, pictures, names: file } = options;
    ensure!(
        pictures.len() <= MAX_SAMPLES,
        "{} pictures were given; a name has {MAX_SAMPLES} at most, and later ones would replace the first",
        pictures.len()
    );
    let mut names = if file.exists() { Names::load(file)? } else { Names::new() };
    let folder = puppet::fetched_folder("faces").context("neither ROSSUM_CACHE nor HOME is set")?;
    let (mut detector, embedder) = networks(&folder)?;
    for path in pictures {
        let (face, embedding) =
            look(&mut detector, &embedder, path).with_context(|| format!("{} cannot be used", path.display()))?;
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
            "the networks that find and know faces are missing; run `scripts/fetch-puppet faces` ({}: {source})",
            path.display()
        ),
        other => anyhow::Error::new(other).context("the networks that find and know faces cannot be used"),
    })
}

fn look(detector: &mut Detector, embedder: &Embedder, path: &Path) -> anyhow::Result<(FaceDetection, Embedding)> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_PICTURE + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= MAX_PICTURE, "it has more than {MAX_PICTURE} bytes");
    let image = Image::read(&bytes)?;
    let face = largest(detector.detect(&image)).context("there is no face in it")?;
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
    fn the_largest_face_counts() {
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
    fn what_is_missing_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", networks(folder.path()).err().unwrap());
        assert!(error.contains("run `scripts/fetch-puppet faces`"), "{error}");
    }
}
