//! Distance sensors.
//!
//! The engine sends the ray of each at every geom of the world. But they look no further than a metre or so, and a robot
//! has several of them on one body: here the geoms near that body are found once, and the rays look at those alone.

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

/// The distance sensors of a world that are not left to the engine.
#[derive(Debug, Default)]
pub(crate) struct DistanceSensors {
    heads: Vec<Head>,
    /// Room for the geoms near a body.
    near: Vec<GeomId>,
}

/// A body with distance sensors.
#[derive(Debug)]
struct Head {
    body: BodyId,
    /// How far its sensors can see from the body's frame, in m.
    reach: f64,
    eyes: Vec<Eye>,
}

#[derive(Debug)]
struct Eye {
    sensor: SensorId,
    site: SiteId,
    /// Where its value is among the sensors' values.
    value: usize,
    /// How far it can see, in m.
    range: f64,
}

impl DistanceSensors {
    pub(crate) fn of(model: &Model) -> Self {
        let mut sensors = Self::default();
        let compiled = model.compiled();
        // the engine's own rays see flexible things, and the past is its business
        if compiled.ffi().nflex > 0 || compiled.ffi().nhistory > 0 {
            return sensors;
        }
        for sensor in model.sensors().filter(|sensor| model.sensor_kind(*sensor) == SensorKind::Rangefinder) {
            let spec = model.sensor(sensor);
            let Some(site) = spec.site.filter(|_| spec.dim == 1) else { continue };
            let body = BodyId(compiled.site_bodyid()[site.index()].cast_unsigned());
            let range = if spec.cutoff > 0.0 { spec.cutoff } else { f64::INFINITY };
            let offset = compiled.site_pos()[site.index()].iter().map(|v| v * v).sum::<f64>().sqrt();
            let eye = Eye { sensor, site, value: model.sensor_range(sensor).start, range };
            match sensors.heads.iter_mut().find(|head| head.body == body) {
                Some(head) => {
                    head.reach = head.reach.max(range + offset);
                    head.eyes.push(eye);
                }
                None => sensors.heads.push(Head { body, reach: range + offset, eyes: vec![eye] }),
            }
        }
        sensors
    }

    /// Has the engine leave these sensors alone.
    pub(crate) fn take_over(&self, model: &mut MjModel) {
        let kinds = model.ffi().sensor_type;
        for eye in self.heads.iter().flat_map(|head| &head.eyes) {
            // SAFETY: the sensor exists, and one of the new kind needs nothing that this one has not
            unsafe { *kinds.add(eye.sensor.index()) = mjtSensor::mjSENS_USER as c_int };
        }
    }

    /// Reads the sensors: the distance of the nearest geom within range, -1 where there is none.
    pub(crate) fn read(&mut self, data: &mut MjData<Box<MjModel>>) {
        // a model may have all of its sensors switched off
        if data.model_opt().disableflags & mjtDisableBit::mjDSBL_SENSOR as c_int != 0 {
            return;
        }
        for head in &self.heads {
            let scene = Scene::of(data);
            let middle = data.xpos()[head.body.index()];
            let bodies = data.model().geom_bodyid();
            self.near.clear();
            self.near.extend((0..bodies.len()).map(|index| GeomId(index as u32)).filter(|geom| {
                // a body does not see itself
                bodies[geom.index()].cast_unsigned() != head.body.0
                    && scene.is_near(*geom, middle, head.reach)
                    && scene.is_visible(*geom)
            }));
            for eye in &head.eyes {
                let scene = Scene::of(data);
                let [_, _, x, _, _, y, _, _, z] = data.site_xmat()[eye.site.index()];
                let ray = Ray { origin: data.site_xpos()[eye.site.index()], direction: [x, y, z] };
                let hit = scene.first(self.near.iter().copied(), &ray, eye.range);
                data.sensordata_mut()[eye.value] = hit.map_or(-1.0, |hit| hit.distance);
            }
        }
    }
}
