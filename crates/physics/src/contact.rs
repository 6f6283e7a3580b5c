//! Contacts between geoms.

use std::ffi::c_int;

use crate::{engine, id::GeomId, sim::Sim};

/// A contact point of two geoms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two geoms, in the engine's order.
    pub geoms: [GeomId; 2],
    /// Midpoint between the two surfaces, in m, world frame.
    pub pos: [f64; 3],
    /// Unit vector from the first geom towards the second, world frame.
    pub normal: [f64; 3],
    /// Penetration depth, in m; negative if there is a gap.
    pub depth: f64,
    /// Force in the contact's frame, in N: along the normal (not negative), then along the two tangents.
    pub force: [f64; 3],
}

impl Sim {
    /// All contacts of the last evaluated state, in the engine's order, except those of flexible bodies.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.data.contact().iter().enumerate().filter_map(|(index, contact)| {
            let geoms = [GeomId::of(contact.geom[0])?, GeomId::of(contact.geom[1])?];
            let [nx, ny, nz, ..] = contact.frame;
            let force = self.contact_force(index);
            Some(Contact { geoms, pos: contact.pos, normal: [nx, ny, nz], depth: -contact.dist, force })
        })
    }

    fn contact_force(&self, index: usize) -> [f64; 3] {
        let mut wrench = [0.0; 6];
        let index = c_int::try_from(index).unwrap_or(-1);
        // SAFETY: model and data are valid and belong together; the engine checks the index and writes six values
        unsafe { engine::mj_contactForce(self.raw_model(), self.data.ffi(), index, &raw mut wrench) }
        let [normal, first, second, ..] = wrench;
        [normal, first, second]
    }
}
