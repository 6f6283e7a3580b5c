//! The number of values that a model makes the engine allocate, summed over all its elements.
//!
//! A short text can ask for a lot of memory: each of thousands of sensors may have a hundred thousand values, a default
//! applies to every actuator, and the longest `user` list sets the length of all others of its kind.

use std::collections::BTreeMap;

use super::Attributes;
use crate::{error::ModelError, limits::Limits};

/// What the elements seen so far ask for; an upper bound.
#[derive(Default)]
pub(super) struct Reservations {
    /// Values that elements ask for directly.
    direct: u64,
    kinds: BTreeMap<Kind, Made>,
    /// Bodies made by `composite` and `flexcomp`.
    generated: u64,
    /// Keyframes; each holds a whole state.
    keys: u64,
    /// Largest number of samples and activations that a default gives to every actuator.
    default_samples: u64,
}

/// Elements of one kind.
#[derive(Default)]
struct Made {
    number: u64,
    /// Length of the longest `user` list, which all of them get.
    user: u64,
}

/// A kind of elements whose `user` lists have the same length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Body,
    Joint,
    Geom,
    Site,
    Camera,
    Tendon,
    /// Actuators and sensors, which have many tags, and elements without a `user` list.
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

    /// The kind whose `user` lists an attribute of `<size>` sets the length of.
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

    /// Largest number of values of one such element in a keyframe.
    fn state_values(self) -> u64 {
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

impl Reservations {
    /// Adds `made` copies of an element; refuses a single count above `limits.values`.
    pub(super) fn add_element(
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
            "size" => return self.add_size(attributes),
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
            // three for each vertex of a mesh whose size is not known here
            "tactile" => limits.values,
            _ => {
                /// Values per contact of a sensor that asks for all of them.
                const CONTACT: u64 = 16;
                let contacts = count("num")?.map_or(1, |num| num.saturating_mul(CONTACT));
                count("dim")?.unwrap_or(1).saturating_mul(contacts)
            }
        };
        let samples = count("nsample")?.unwrap_or(0);
        let activations = count("actdim")?.unwrap_or(0);
        if in_default {
            self.default_samples = self.default_samples.max(samples.saturating_add(activations));
        } else {
            self.add(width.saturating_mul(samples.saturating_add(1)).saturating_add(activations), made);
        }
        Ok(())
    }

    fn add_size(&mut self, attributes: &Attributes<'_, '_, '_>) -> Result<(), ModelError> {
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
        self.direct = self.direct.saturating_add(values.saturating_mul(times));
    }

    /// Total number of values.
    pub(super) fn total(&self) -> u64 {
        let mut total = self.direct;
        let mut state = self.generated.saturating_mul(Kind::Joint.state_values());
        for (kind, made) in &self.kinds {
            let number = made.number.saturating_add(self.generated);
            total = total.saturating_add(number.saturating_mul(made.user));
            state = state.saturating_add(made.number.saturating_mul(kind.state_values()));
        }
        let others = self.kinds.get(&Kind::Other).map_or(0, |made| made.number);
        total
            .saturating_add(self.keys.saturating_mul(state))
            .saturating_add(self.default_samples.saturating_mul(others))
    }
}
