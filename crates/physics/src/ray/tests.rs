use std::f64::consts::TAU;

use super::*;
use crate::{Pose, SensorId, testing::sim_of};

/// One of each movable shape, a ground plane, a height field, a transparent geom, and a body with rangefinders.
const SCENE: &str = r#"<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .5 0 0  0 .6 0  0 0 .7"/>
    <hfield name="hills" nrow="3" ncol="3" elevation="0 1 0 1 2 1 0 1 0" size="2 2 .5 .1"/>
  </asset>
  <worldbody>
    <geom name="ground" type="plane" size="20 20 1" pos="0 0 -1"/>
    <geom name="hills" type="hfield" hfield="hills" pos="4 0 -1"/>
    <body name="a"><freejoint/><geom type="sphere" size=".3"/></body>
    <body name="b"><freejoint/><geom type="capsule" size=".1 .4"/></body>
    <body name="c"><freejoint/><geom type="ellipsoid" size=".2 .3 .5"/></body>
    <body name="d"><freejoint/><geom type="cylinder" size=".3 .2"/></body>
    <body name="e"><freejoint/><geom type="box" size=".2 .3 .4"/></body>
    <body name="f"><freejoint/><geom type="mesh" mesh="wedge"/></body>
    <body name="g"><freejoint/><geom type="sphere" size=".5" rgba="1 1 1 0"/></body>
    <body name="head"><freejoint/><geom type="box" size=".1 .1 .1"/>
      <site name="1" pos=".2 0 0" zaxis="1 0 0"/>
      <site name="2" pos="0 .2 0" zaxis="0 1 .2"/>
      <site name="3" zaxis="0 0 -1"/>
      <site name="4" pos="-.2 0 0" zaxis="-1 0 0"/>
      <body pos="0 0 .4"><geom type="sphere" size=".2"/><joint/><site name="5" zaxis="0 1 0"/></body>
    </body>
  </worldbody>
  <sensor>
    <rangefinder site="1"/>
    <rangefinder site="2" cutoff="1.5"/>
    <rangefinder site="3" cutoff="1"/>
    <rangefinder site="4" cutoff="30"/>
    <rangefinder site="5" cutoff="2"/>
  </sensor>
</mujoco>"#;

/// Pseudo-random numbers from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn pose(&mut self) -> Pose {
        let [x, y, z, yaw, tilt] = std::array::from_fn(|_| self.next());
        let turn = Pose::facing(0.0, 0.0, 0.0, yaw * TAU);
        let tilt = Pose { pos: [0.0; 3], quat: [(tilt * TAU).cos(), (tilt * TAU).sin(), 0.0, 0.0] };
        Pose { pos: [2.0 * x, 2.0 * y, z], ..turn.then(&tilt) }
    }
}

fn scattered(sim: &mut Sim, numbers: &mut Numbers) {
    for body in sim.model().bodies() {
        sim.place(body, numbers.pose());
    }
    sim.forward().unwrap();
}

/// The engine's own ray.
fn engine_ray(sim: &Sim, ray: &Ray, exclude: c_int) -> Option<RayHit> {
    let mut geom: c_int = -1;
    // SAFETY: model and data are valid and belong together; the vectors and the geom outlive the call
    let distance = unsafe {
        engine::mj_ray(
            sim.raw_model(),
            sim.data.ffi(),
            &raw const ray.origin,
            &raw const ray.direction,
            ptr::null(),
            true,
            exclude,
            &raw mut geom,
            ptr::null_mut(),
        )
    };
    GeomId::of(geom).filter(|_| distance >= 0.0).map(|geom| RayHit { distance, geom })
}

#[test]
fn rays_agree_with_the_engine() {
    let (mut sim, mut numbers) = (sim_of(SCENE), Numbers(1));
    let mut met = [0; 20];
    for _ in 0..100 {
        scattered(&mut sim, &mut numbers);
        for _ in 0..50 {
            let Pose { pos: origin, .. } = numbers.pose();
            let direction = numbers.pose().turn([0.0, 0.0, 1.0]);
            let expected = engine_ray(&sim, &Ray { origin, direction }, -1);
            let hit = sim.ray(origin, direction, None);
            assert_eq!(hit.map(|hit| hit.geom), expected.map(|hit| hit.geom), "{origin:?} {direction:?}");
            let [ours, theirs] = [hit, expected].map(|hit| hit.map_or(-1.0, |hit| hit.distance));
            assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
            met[hit.map_or(19, |hit| hit.geom.index())] += 1;
        }
    }
    for geom in sim.model().geoms() {
        let is_seen = sim.model().body_name(sim.model().geom_body(geom)) != "g";
        assert_eq!(met[geom.index()] > 0, is_seen, "{geom:?}: {met:?}");
    }
    assert!(met[19] > 0, "some go into the void");
}

#[test]
fn rangefinders_agree_with_the_engine_within_their_range() {
    let (mut sim, mut numbers) = (sim_of(SCENE), Numbers(2));
    let mut counts = [0; 2];
    for round in 0..300 {
        scattered(&mut sim, &mut numbers);
        match round % 3 {
            0 => {}
            1 => sim.step().unwrap(),
            _ => {
                sim.prepare_step(false);
                sim.step().unwrap();
            }
        }
        for sensor in sim.model().sensors() {
            let spec = sim.model().sensor(sensor);
            let [_, _, x, _, _, y, _, _, z] = sim.data.site_xmat()[spec.site.unwrap().index()];
            let ray = Ray { origin: sim.site_pose(spec.site.unwrap()).pos, direction: [x, y, z] };
            let body = sim.data.model().site_bodyid()[spec.site.unwrap().index()];
            let range = if spec.cutoff > 0.0 { spec.cutoff } else { f64::INFINITY };
            let expected = engine_ray(&sim, &ray, body).map(|hit| hit.distance).filter(|distance| *distance < range);
            assert_eq!(sim.sensor(sensor), [expected.unwrap_or(-1.0)], "{sensor:?}, round {round}");
            counts[usize::from(expected.is_some())] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
    assert_eq!(sim.model().sensor_kind(SensorId(0)), crate::SensorKind::Rangefinder, "it still is what it was");
}

#[test]
fn rays_pass_through_signed_distance_fields() {
    let text = "<mujoco><asset><mesh name='m' builtin='sphere' params='2'/></asset><worldbody>\
        <geom type='sdf' mesh='m' pos='2 0 0'/><geom size='1' pos='9 0 0'/>\
        <body><freejoint/><geom size='.1'/><site name='s' zaxis='1 0 0'/></body></worldbody>\
        <sensor><rangefinder site='s'/></sensor></mujoco>";
    let mut sim = Sim::new(crate::Assembly::new(crate::testing::source("sdf", text)).compile().unwrap()).unwrap();
    sim.step().unwrap();
    let [distance] = sim.sensor_values() else { panic!("{:?}", sim.sensor_values()) };
    assert!((*distance - 8.0).abs() < 1e-6, "the ball behind it: {distance}");
}
