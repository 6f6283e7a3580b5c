//! Light sensors: brightness of the world's lamps at a site of a robot.
//!
//! A light sensor is a `<user>` sensor at a site, which faces along the site's z axis. Each visible lamp adds
//! `cos(angle) / (1 + d²)`, with the distance `d` in m; a lamp behind an object or behind the sensor adds nothing.

use glam::{DQuat, DVec3};
use physics::{BodyId, Model, SensorId, SensorKind, Sim, SiteId};

use crate::agent::Resident;

/// A light sensor of one model.
#[derive(Clone, Debug)]
pub(crate) struct LightSensor {
    sensor: SensorId,
    site: SiteId,
    /// Root of the robot that carries it, which casts no shadow on it.
    carrier: Option<BodyId>,
    /// Largest reading.
    bound: f64,
}

/// All light sensors of a model.
pub(crate) fn sensors(model: &Model, residents: &[Resident]) -> Vec<LightSensor> {
    let describe = |sensor| {
        let spec = model.sensor(sensor);
        let site = spec.site.filter(|_| spec.kind == SensorKind::User && spec.dim == 1)?;
        let name = model.sensor_name(sensor);
        let robot = residents.iter().find(|resident| name.starts_with(&resident.prefix()));
        let carrier = robot.and_then(|robot| robot.root(model));
        let bound = if spec.cutoff > 0.0 { spec.cutoff } else { f64::INFINITY };
        Some(LightSensor { sensor, site, carrier, bound })
    };
    model.sensors().filter_map(describe).collect()
}

/// Updates the readings of light sensors.
pub(crate) fn update_sensors(sim: &mut Sim, sensors: &[LightSensor]) {
    for LightSensor { sensor, site, carrier, bound } in sensors {
        let brightness: f64 = sim
            .model()
            .lights()
            .map(|light| {
                if sim.light_active(light) { brightness(sim, *site, *carrier, sim.light_position(light)) } else { 0.0 }
            })
            .sum();
        sim.set_sensor(*sensor, &[brightness.min(*bound)]);
    }
}

fn brightness(sim: &Sim, site: SiteId, carrier: Option<BodyId>, lamp: [f64; 3]) -> f64 {
    let pose = sim.site_pose(site);
    let way = DVec3::from(lamp) - DVec3::from(pose.pos);
    let distance = way.length();
    let [w, x, y, z] = pose.quat;
    let facing = (DQuat::from_xyzw(x, y, z, w) * DVec3::Z).dot(way) / distance;
    // for a lamp exactly at the sensor no direction is defined: it counts as dark
    if distance == 0.0 || facing <= 0.0 {
        return 0.0;
    }
    let hidden = sim.ray(pose.pos, (way / distance).into(), carrier).is_some_and(|hit| hit.distance < distance);
    if hidden { 0.0 } else { facing / (1.0 + distance * distance) }
}
