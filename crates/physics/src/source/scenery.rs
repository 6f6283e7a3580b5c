//! The world that a model's author built around a robot: what of a model is left without its bodies.

use std::ops::Range;

use roxmltree::{Document, Node};

use super::Source;
use crate::{error::ModelError, limits::Limits};

/// Sections of a model that refer to bodies.
const ABOUT_BODIES: [&str; 8] =
    ["actuator", "sensor", "tendon", "equality", "contact", "keyframe", "deformable", "extension"];

impl Source {
    /// The model without its bodies: options, and the geoms, lights and cameras of the world itself. As a base with the whole
    /// model attached to it, it makes the world that the file describes.
    ///
    /// Included files, and assets that are read from files, are left out.
    ///
    /// # Errors
    /// If what is left is not a valid source. It is not compiled here.
    pub fn scenery(&self, limits: &Limits) -> Result<Self, ModelError> {
        let not_xml = |e: roxmltree::Error| ModelError::NotXml { file: self.name().to_owned(), reason: e.to_string() };
        let document = Document::parse(self.text()).map_err(not_xml)?;
        let mut cuts = Vec::new();
        for section in document.root_element().children() {
            find_cuts(section, &mut cuts);
        }
        let mut text = self.text().to_owned();
        // from the back, so that the positions stay valid
        cuts.into_iter().rev().for_each(|cut| text.replace_range(cut, ""));
        Self::from_text(self.name(), &text, limits)
    }
}

fn find_cuts(section: Node<'_, '_>, cuts: &mut Vec<Range<usize>>) {
    match section.tag_name().name() {
        "include" => cuts.push(section.range()),
        name if ABOUT_BODIES.contains(&name) => cuts.push(section.range()),
        "worldbody" => {
            let with_bodies =
                section.children().filter(|child| child.descendants().any(|node| node.has_tag_name("body")));
            cuts.extend(with_bodies.map(|child| child.range()));
        }
        "asset" => {
            let files = section.children().filter(|asset| asset.attributes().any(|a| a.name().starts_with("file")));
            cuts.extend(files.map(|asset| asset.range()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assembly, Attachment, Pose, Sim};

    const ANT: &str = r#"<mujoco model="creature">
        <compiler angle="degree"/><option integrator="RK4" timestep="0.01"/>
        <default><geom friction="1 0.5 0.5"/></default>
        <asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/><mesh name="m" file="m.stl"/></asset>
        <worldbody>
          <light pos="0 0 1"/><geom name="floor" type="plane" size="40 40 40" conaffinity="1"/>
          <body name="torso" pos="0 0 0.6"><freejoint/><geom type="sphere" size="0.25"/>
            <body pos="0.3 0 0"><joint name="hip" axis="0 1 0" range="-30 30"/><geom type="capsule" size="0.08" fromto="0 0 0 0.4 0 0"/></body>
          </body>
          <frame pos="1 0 0"><body name="ball" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/></body></frame>
        </worldbody>
        <actuator><motor joint="hip" gear="150"/></actuator>
      </mujoco>"#;

    #[test]
    fn scenery_and_model_make_the_world_of_the_file() {
        let whole = ANT.replace(r#"<mesh name="m" file="m.stl"/>"#, "");
        let source = Source::from_text("creature", &whole, &Limits::default()).unwrap();
        let base = source.scenery(&Limits::default()).unwrap();
        for (word, stays) in
            [("floor", true), ("RK4", true), ("light", true), ("torso", false), ("ball", false), ("motor", false)]
        {
            assert_eq!(base.text().contains(word), stays, "{word}");
        }
        let attachment = Attachment { prefix: "it:".to_owned(), source: source.clone(), pose: Pose::IDENTITY };
        let assembled = Assembly { attachments: vec![attachment], ..Assembly::new(base) };
        let mut assembled = Sim::new(assembled.compile().unwrap()).unwrap();
        let mut alone = Sim::new(Assembly::new(source).compile().unwrap()).unwrap();
        for _ in 0..300 {
            for sim in [&mut assembled, &mut alone] {
                let motor = sim.model().actuators().next().unwrap();
                sim.set_ctrl(motor, (sim.time() * 5.0).sin());
                sim.step().unwrap();
            }
        }
        assert_eq!(assembled.qpos(), alone.qpos());
        assert!(assembled.contacts().count() > 0, "it stands on its own floor");
    }

    #[test]
    fn assets_from_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("creature.xml");
        std::fs::write(&file, ANT).unwrap();
        std::fs::write(folder.path().join("m.stl"), [0; 84]).unwrap();
        let source = Source::from_file(&file, &Limits::default()).unwrap();
        let scenery = source.scenery(&Limits::default()).unwrap();
        assert!(!scenery.text().contains("mesh") && scenery.text().contains("texture"), "{}", scenery.text());
    }
}
