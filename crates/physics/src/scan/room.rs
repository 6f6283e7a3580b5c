//! Numbers a model has the engine reserve room for, added up over all its elements.
//!
//! A few bytes of text can ask for a great many: each of thousands of sensors may have a hundred thousand values, a
//! default holds for every actuator, and one long `user` list makes that of every other element as long.

use std::collections::BTreeMap;

use super::Attributes;
use crate::{error::ModelError, limits::Limits};

/// What the elements seen so far ask for. Sums are rather too large than too small.
#[derive(Default)]
pub(super) struct Room {
    /// Values asked for element by element.
    outright: u64,
    kinds: BTreeMap<Kind, Made>,
    /// Bodies with all they need, made by `composite` and `flexcomp`.
    generated: u64,
    /// Key frames; each holds a whole state.
    keys: u64,
    /// The most samples or activations that a default gives to every actuator.
    of_default: u64,
}

/// Elements of one kind.
#[derive(Default)]
struct Made {
    number: u64,
    /// Length of the longest `user` list, which is that of them all.
    user: u64,
}

/// Elements that share one length of `user` lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Body,
    Joint,
    Geom,
    Site,
    Camera,
    Tendon,
    /// Actuators and sensors, which have many tags, and whatever has no `user` list.
    Other,
}

impl Kind {
    fn of(tag: &str) -> Self {
        match tag {
            "body" => Self::Body,
            "joint" | "freejoint" => Self::Joint,
            "geom" => Self::Geom,
            "site" => Self::Site,
            "camera" => Self::Camera,
            "spatial" | "fixed" => Self::Tendon,
            _ => Self::Other,
        }
    }

    /// The kind whose `user` lists this attribute of `<size>` is about.
    fn of_size(attribute: &str) -> Option<Self> {
        Some(match attribute.strip_prefix("nuser_")? {
            "body" => Self::Body,
            "jnt" => Self::Joint,
            "geom" => Self::Geom,
            "site" => Self::Site,
            "cam" => Self::Camera,
            "tendon" => Self::Tendon,
            _ => Self::Other,
        })
    }

    /// Values of one such element in a whole state, at most.
    fn state(self) -> u64 {
        match self {
            // a free joint: 7 for its position, 6 for its velocity
            Self::Joint => 13,
            // the pose of a mocap body
            Self::Body => 7,
            // activation and control
            Self::Other => 2,
            Self::Geom | Self::Site | Self::Camera | Self::Tendon => 0,
        }
    }
}

impl Room {
    /// Adds an element that is made this often; refuses a single count above `limits.values`.
    pub(super) fn note(
        &mut self,
        attributes: &Attributes<'_, '_, '_>,
        made: u64,
        in_default: bool,
        limits: &Limits,
    ) -> Result<(), ModelError> {
        let count = |name: &str| -> Result<Option<u64>, ModelError> {
            let count = attributes.count(name)?;
            attributes.at_most(name, count.unwrap_or(0), limits.values)?;
            Ok(count)
        };
        match attributes.tag {
            "size" => return self.note_size(attributes),
            "numeric" => self.add(count("size")?.unwrap_or(0), made),
            "composite" | "flexcomp" => self.generated = self.generated.saturating_add(made),
            "key" => self.keys = self.keys.saturating_add(made),
            tag => {
                let kind = self.kinds.entry(Kind::of(tag)).or_default();
                kind.number = kind.number.saturating_add(if in_default { 0 } else { made });
                kind.user = kind.user.max(attributes.words("user"));
            }
        }
        let width = match attributes.tag {
            // three for each vertex of a mesh, the size of which is not known here
            "tactile" => limits.values,
            _ => {
                /// Values of one contact, when a sensor asks for all there are.
                const CONTACT: u64 = 16;
                let contacts = count("num")?.map_or(1, |num| num.saturating_mul(CONTACT));
                count("dim")?.unwrap_or(1).saturating_mul(contacts)
            }
        };
        let samples = count("nsample")?.unwrap_or(0);
        let activations = count("actdim")?.unwrap_or(0);
        if in_default {
            self.of_default = self.of_default.max(samples.saturating_add(activations));
        } else {
            self.add(width.saturating_mul(samples.saturating_add(1)).saturating_add(activations), made);
        }
        Ok(())
    }

    fn note_size(&mut self, attributes: &Attributes<'_, '_, '_>) -> Result<(), ModelError> {
        for attribute in attributes.node.attributes() {
            let name = attribute.name();
            if let Some(kind) = Kind::of_size(name) {
                let kind = self.kinds.entry(kind).or_default();
                kind.user = kind.user.max(attributes.count(name)?.unwrap_or(0));
            } else if name == "nuserdata" {
                self.add(attributes.count(name)?.unwrap_or(0), 1);
            } else if name == "nkey" {
                self.keys = self.keys.saturating_add(attributes.count(name)?.unwrap_or(0));
            }
        }
        Ok(())
    }

    fn add(&mut self, values: u64, times: u64) {
        self.outright = self.outright.saturating_add(values.saturating_mul(times));
    }

    /// Values in all.
    pub(super) fn total(&self) -> u64 {
        let mut total = self.outright;
        let mut state = self.generated.saturating_mul(Kind::Joint.state());
        for (kind, made) in &self.kinds {
            let number = made.number.saturating_add(self.generated);
            total = total.saturating_add(number.saturating_mul(made.user));
            state = state.saturating_add(made.number.saturating_mul(kind.state()));
        }
        let others = self.kinds.get(&Kind::Other).map_or(0, |made| made.number);
        total.saturating_add(self.keys.saturating_mul(state)).saturating_add(self.of_default.saturating_mul(others))
    }
}
