//! Loads additional robots for soccer from a folder.

use std::{collections::BTreeMap, fs, path::Path};

use ::session::soccer::Models;
use library::ModelKind;
use physics::{Assembly, Attachment, Limits, Pose, Source};

/// Reads the robots in a folder, `<name>.xml` or `<name>/robot.xml`, and compiles each once: better at start-up than when
/// an agent joins. The error is human-readable.
pub(super) fn read(folder: Option<&Path>) -> Result<Models, String> {
    let Some(folder) = folder else { return Ok(Models::default()) };
    let models = read_folder(folder)?;
    let ground = library::named_model(ModelKind::Field, "flat").map_err(|error| error.to_string())?;
    for (name, source) in &models {
        let mut world = Assembly::new(ground.clone());
        world.attachments.push(Attachment { prefix: format!("{name}:"), source: source.clone(), pose: Pose::IDENTITY });
        world.compile().map_err(|error| error.to_string())?;
    }
    Ok(Models(models))
}

fn read_folder(folder: &Path) -> Result<BTreeMap<String, Source>, String> {
    let unreadable =
        |error: std::io::Error| format!("failed to read the models folder `{}`: {error}", folder.display());
    let mut models = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let file = if path.is_dir() { path.join("robot.xml") } else { path.clone() };
        if file.extension().is_some_and(|kind| kind == "xml") && file.is_file() {
            let source = Source::from_file(&file, &Limits::default()).map_err(|error| error.to_string())?;
            models.insert(name.to_owned(), source);
        }
    }
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROBOT: &str =
        r#"<mujoco><worldbody><body name="torso"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#;

    #[test]
    fn robots_of_a_folder_are_known_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain.xml"), ROBOT).unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("deep/robot.xml"), ROBOT).unwrap();
        fs::create_dir(folder.path().join("empty")).unwrap();
        fs::write(folder.path().join("notes.txt"), "not a robot").unwrap();
        let models = read(Some(folder.path())).unwrap();
        for name in ["plain", "deep", "T1"] {
            assert!(models.named(name).is_ok(), "{name}");
        }
        for name in ["empty", "notes", "plain.xml", "deep/robot", "../plain", "/etc/passwd", ""] {
            let error = models.named(name).unwrap_err().to_string();
            assert!(error.starts_with("unknown robot"), "{name}: {error}");
        }
    }

    #[test]
    fn an_invalid_model_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("broken.xml"), "<mujoco").unwrap();
        assert!(read(Some(folder.path())).unwrap_err().contains("broken.xml"));
        let ghost = r#"<mujoco><worldbody><body name="torso"><freejoint/></body></worldbody></mujoco>"#;
        fs::write(folder.path().join("broken.xml"), ghost).unwrap();
        assert!(read(Some(folder.path())).unwrap_err().contains("broken"));
        assert!(read(Some(&folder.path().join("missing"))).unwrap_err().contains("missing"));
    }
}
