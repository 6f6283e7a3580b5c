//! Indices into the engine's arrays, and names for the values in them.

use std::ops::Range;

use crate::{
    id::{ActuatorId, BodyId, GeomId, JointId},
    model::{Model, at},
};

impl Model {
    pub(crate) fn actuator_ctrl_index(&self, actuator: ActuatorId) -> usize {
        at(self.compiled().actuator_ctrladr()[actuator.index()])
    }

    pub(crate) fn actuator_ctrl_range(&self, actuator: ActuatorId) -> Range<usize> {
        let start = self.actuator_ctrl_index(actuator);
        start..start + at(self.compiled().actuator_ctrlnum()[actuator.index()])
    }

    pub(crate) fn actuator_out_index(&self, actuator: ActuatorId) -> usize {
        at(self.compiled().actuator_outadr()[actuator.index()])
    }

    pub(crate) fn actuator_act_range(&self, actuator: ActuatorId) -> Range<usize> {
        let start = at(self.compiled().actuator_actadr()[actuator.index()]);
        start..start + at(self.compiled().actuator_actnum()[actuator.index()])
    }

    pub(crate) fn mocap_index(&self, body: BodyId) -> Option<usize> {
        usize::try_from(self.compiled().body_mocapid()[body.index()]).ok()
    }

    pub(crate) fn name_of_position(&self, index: usize) -> String {
        self.joints()
            .find(|j| self.joint_qpos_range(*j).contains(&index))
            .map_or_else(unnamed(index), |j| self.joint_description(j))
    }

    pub(crate) fn name_of_velocity(&self, index: usize) -> String {
        self.joints()
            .find(|j| self.joint_dof_range(*j).contains(&index))
            .map_or_else(unnamed(index), |j| self.joint_description(j))
    }

    pub(crate) fn name_of_activation(&self, index: usize) -> String {
        self.name_of_actuator(index, |a| self.actuator_act_range(a))
    }

    pub(crate) fn name_of_control(&self, index: usize) -> String {
        self.name_of_actuator(index, |a| self.actuator_ctrl_range(a))
    }

    pub(crate) fn name_of_mocap(&self, index: usize) -> String {
        let body = self.bodies().find(|b| self.mocap_index(*b) == Some(index)).map(|b| self.body_name(b));
        body.filter(|name| !name.is_empty()).map_or_else(unnamed(index), str::to_owned)
    }

    fn name_of_actuator(&self, index: usize, range: impl Fn(ActuatorId) -> Range<usize>) -> String {
        let Some(actuator) = self.actuators().find(|a| range(*a).contains(&index)) else { return unnamed(index)() };
        match self.actuator_name(actuator) {
            "" => self.actuator_joint(actuator).map_or_else(unnamed(index), |joint| self.joint_description(joint)),
            name => name.to_owned(),
        }
    }

    /// Name of a joint, or of its body if it has none.
    fn joint_description(&self, joint: JointId) -> String {
        match (self.joint_name(joint), self.body_name(self.joint_body(joint))) {
            ("", "") => unnamed(joint.index())(),
            ("", body) => body.to_owned(),
            (name, _) => name.to_owned(),
        }
    }

    /// The body of the same name in another model.
    pub(crate) fn matching_body(&self, body: BodyId, other: &Self) -> Option<BodyId> {
        other.body_named(self.body_name(body))
    }

    /// The joint of the same name in another model; an unnamed one matches by its index in its body.
    pub(crate) fn matching_joint(&self, joint: JointId, other: &Self) -> Option<JointId> {
        let name = self.joint_name(joint);
        if !name.is_empty() {
            return other.joint_named(name);
        }
        let body = self.joint_body(joint);
        let index = self.body_joints(body).position(|j| j == joint)?;
        other.body_joints(self.matching_body(body, other)?).nth(index).filter(|j| other.joint_name(*j).is_empty())
    }

    /// The geom of the same name in another model; an unnamed one matches by its index in its body.
    pub(crate) fn matching_geom(&self, geom: GeomId, other: &Self) -> Option<GeomId> {
        let name = self.geom_name(geom);
        if !name.is_empty() {
            return other.geom_named(name);
        }
        let body = self.geom_body(geom);
        let index = self.body_geoms(body).position(|g| g == geom)?;
        other.body_geoms(self.matching_body(body, other)?).nth(index).filter(|g| other.geom_name(*g).is_empty())
    }

    /// The actuator of the same name in another model.
    pub(crate) fn matching_actuator(&self, actuator: ActuatorId, other: &Self) -> Option<ActuatorId> {
        other.actuator_named(self.actuator_name(actuator))
    }
}

fn unnamed(index: usize) -> impl Fn() -> String {
    move || format!("number {index}")
}
