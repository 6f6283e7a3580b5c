//! Indices into a compiled model, kept apart by type.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Valid for the [`Model`](crate::Model) it came from, and for clones of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the model's list of its kind, from 0; the same as in the bulk slices of [`Sim`](crate::Sim).
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// An index the engine gave; none when it is negative.
            #[allow(dead_code, reason = "not every kind is looked up by the engine's index")]
            pub(crate) fn of(index: i32) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }
        }
    )*};
}

ids! {
    /// A body; 0 is the world.
    BodyId,
    /// A geom: a shape that belongs to a body.
    GeomId,
    /// A joint.
    JointId,
    /// A site: a named frame that belongs to a body.
    SiteId,
    /// An actuator.
    ActuatorId,
    /// A sensor.
    SensorId,
    /// A light.
    LightId,
}

impl BodyId {
    /// The world, to which everything fixed belongs.
    pub const WORLD: Self = Self(0);
}
