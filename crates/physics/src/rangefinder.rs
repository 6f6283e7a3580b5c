//! Rangefinders.
//!
//! The engine tests the ray of each rangefinder against every geom of the world. Their range is a metre or so, and a robot
//! has several of them on one body: here, the geoms near that body are selected once, and the rays are tested against
//! those only.

use std::ffi::c_int;

use mujoco_rs::{
    mujoco_c::{mjtDisableBit, mjtSensor},
    wrappers::{MjData, MjModel},
};

use crate::{
    id::{BodyId, GeomId, SensorId, SiteId},
    model::Model,
    ray::{Ray, Scene},
    sensor::SensorKind,
};

/// The rangefinders that are evaluated here rather than by the engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rangefinders {
    groups: Vec<SensorGroup>,
    /// Reused buffer for the geoms near a body.
    near: Vec<GeomId>,
}

/// The rangefinders of one body.
#[derive(Clone, Debug)]
struct SensorGroup {
    body: BodyId,
    /// Largest distance from the body's origin that they can measure, in m.
    reach: f64,
    rangefinders: Vec<Rangefinder>,
}

#[derive(Clone, Debug)]
struct Rangefinder {
    sensor: SensorId,
    site: SiteId,
    /// Index of its value in the sensor data.
    value: usize,
    /// In m; infinite without a cutoff.
    range: f64,
}

impl Rangefinders {
    pub(crate) fn of(model: &Model) -> Self {
        let mut sensors = Self::default();
        let compiled = model.compiled();
        // left to the engine: rays that hit flexible bodies, and delayed sensors
        if compiled.ffi().nflex > 0 || compiled.ffi().nhistory > 0 {
            return sensors;
        }
        for sensor in model.sensors().filter(|sensor| model.sensor_kind(*sensor) == SensorKind::Rangefinder) {
            let spec = model.sensor(sensor);
            let Some(site) = spec.site.filter(|_| spec.dim == 1) else { continue };
            let body = BodyId(compiled.site_bodyid()[site.index()].cast_unsigned());
            let range = if spec.cutoff > 0.0 { spec.cutoff } else { f64::INFINITY };
            let offset = compiled.site_pos()[site.index()].iter().map(|v| v * v).sum::<f64>().sqrt();
            let rangefinder = Rangefinder { sensor, site, value: model.sensor_range(sensor).start, range };
            match sensors.groups.iter_mut().find(|group| group.body == body) {
                Some(group) => {
                    group.reach = group.reach.max(range + offset);
                    group.rangefinders.push(rangefinder);
                }
                None => {
                    sensors.groups.push(SensorGroup { body, reach: range + offset, rangefinders: vec![rangefinder] })
                }
            }
        }
        sensors
    }

    /// Makes user sensors of them in the model, so that the engine does not evaluate them.
    pub(crate) fn disable_in(&self, model: &mut MjModel) {
        let kinds = model.ffi().sensor_type;
        for rangefinder in self.groups.iter().flat_map(|group| &group.rangefinders) {
            // SAFETY: the sensor exists, and a user sensor needs nothing that a rangefinder lacks
            unsafe { *kinds.add(rangefinder.sensor.index()) = mjtSensor::mjSENS_USER as c_int };
        }
    }

    /// Measures: each value becomes the distance of the nearest geom within range, or -1 if there is none.
    pub(crate) fn measure(&mut self, data: &mut MjData<Box<MjModel>>) {
        // a model may have its sensors switched off
        if data.model_opt().disableflags & mjtDisableBit::mjDSBL_SENSOR as c_int != 0 {
            return;
        }
        for group in &self.groups {
            let scene = Scene::of(data);
            let middle = data.xpos()[group.body.index()];
            let bodies = data.model().geom_bodyid();
            self.near.clear();
            self.near.extend((0..bodies.len()).map(|index| GeomId(index as u32)).filter(|geom| {
                // rays ignore the geoms of their own body
                bodies[geom.index()].cast_unsigned() != group.body.0
                    && scene.is_near(*geom, middle, group.reach)
                    && scene.is_visible(*geom)
            }));
            for rangefinder in &group.rangefinders {
                let scene = Scene::of(data);
                let [_, _, x, _, _, y, _, _, z] = data.site_xmat()[rangefinder.site.index()];
                let ray = Ray { origin: data.site_xpos()[rangefinder.site.index()], direction: [x, y, z] };
                let hit = scene.first(self.near.iter().copied(), &ray, rangefinder.range);
                data.sensordata_mut()[rangefinder.value] = hit.map_or(-1.0, |hit| hit.distance);
            }
        }
    }
}
