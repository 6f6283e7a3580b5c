//! Small models and short ways to build them, for tests.

use crate::{Assembly, Attachment, Limits, Model, ModelError, Pose, Sim, Source};

/// A floor, and nothing on it.
pub(crate) const FLOOR: &str = r#"<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <light name="sun" pos="0 0 3" dir="0 0 -1"/>
    <geom name="floor" type="plane" size="50 50 1"/>
  </worldbody>
</mujoco>"#;

/// A box of 1 kg, 20 cm wide, standing on the ground at its origin.
pub(crate) const BOX: &str = r#"<mujoco>
  <worldbody>
    <body name="box" pos="0 0 0.1">
      <freejoint name="root"/>
      <geom name="shell" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
  </worldbody>
</mujoco>"#;

/// A body with two driven hinges, a filtered actuator, a gyro, a user sensor and visual geoms.
pub(crate) const WALKER: &str = r#"<mujoco>
  <default>
    <joint damping="0.1"/>
    <default class="leg"><geom type="capsule" size="0.03 0.1" mass="0.2"/></default>
  </default>
  <worldbody>
    <body name="torso" pos="0 0 0.5">
      <freejoint/>
      <geom name="torso" type="box" size="0.1 0.1 0.1" mass="2"/>
      <geom name="paint" type="sphere" size="0.2" contype="0" conaffinity="0" mass="0"/>
      <site name="imu"/>
      <body name="left" pos="0 0.1 -0.2">
        <joint name="left" type="hinge" axis="0 1 0" range="-60 60"/>
        <geom name="left" class="leg"/>
      </body>
      <body name="right" pos="0 -0.1 -0.2">
        <joint name="right" type="hinge" axis="0 1 0" actuatorfrcrange="-3 3"/>
        <geom name="right" class="leg"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="left" body2="right"/></contact>
  <actuator>
    <position name="left" joint="left" kp="5" ctrlrange="-1 1" forcerange="-2 2" user="7 8"/>
    <general name="right" joint="right" gainprm="2" dyntype="filter" dynprm="0.1"/>
  </actuator>
  <sensor>
    <gyro name="gyro" site="imu" cutoff="10"/>
    <jointpos name="left_pos" joint="left"/>
    <touch name="touch" site="imu"/>
    <user name="eye" dim="3" user="1"/>
  </sensor>
</mujoco>"#;

pub(crate) fn source(name: &str, text: &str) -> Source {
    Source::from_text(name, text, &Limits::default()).unwrap()
}

pub(crate) fn attachment(prefix: &str, text: &str, pose: Pose) -> Attachment {
    Attachment { prefix: prefix.to_owned(), source: source("part", text), pose }
}

/// The floor with these on it.
pub(crate) fn compile(attachments: &[Attachment]) -> Result<Model, ModelError> {
    Assembly { attachments: attachments.to_vec(), ..Assembly::new(source("floor", FLOOR)) }.compile()
}

pub(crate) fn sim(attachments: &[Attachment]) -> Sim {
    Sim::new(compile(attachments).unwrap()).unwrap()
}

/// A model of this text alone.
pub(crate) fn sim_of(text: &str) -> Sim {
    Sim::new(Assembly::new(source("alone", text)).compile().unwrap()).unwrap()
}
