//! A plain floor.

use physics::{Limits, Source};

use crate::error::EnvError;

/// An endless floor under a grey sky. Time step and air are those of the soccer fields.
const FLOOR: &str = r#"<mujoco model="floor">
  <compiler angle="radian"/>
  <option timestep="0.005" density="1.2" viscosity="2e-05"/>
  <asset>
    <texture name="floor" type="2d" builtin="checker" width="256" height="256" rgb1="0.74 0.75 0.76" rgb2="0.68 0.69 0.71"/>
    <material name="floor" texture="floor" texrepeat="1 1" texuniform="true" specular="0.1" reflectance="0"/>
  </asset>
  <worldbody>
    <light name="sun" type="directional" pos="0 0 30" dir="-0.3 0.4 -1" diffuse="0.55 0.55 0.5" castshadow="false"/>
    <geom name="floor" type="plane" size="20 20 0.1" material="floor"/>
  </worldbody>
</mujoco>"#;

pub(super) fn floor() -> Result<Source, EnvError> {
    Ok(Source::from_text("floor", FLOOR, &Limits::default())?)
}
