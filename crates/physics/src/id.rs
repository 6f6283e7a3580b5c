//! Typed indices into a compiled model.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Valid for the [`Model`](crate::Model) it came from, and for clones of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Index among the elements of its kind, from 0, also in the slices of [`Sim`](crate::Sim).
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Converts an index of the engine; `None` if it is negative.
            #[allow(dead_code, reason = "not needed for every kind")]
            pub(crate) fn of(index: i32) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }
        }
    )*};
}

ids! {
    /// A body; 0 is the world body.
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
    /// The world body, which everything static belongs to.
    pub const WORLD: Self = Self(0);
}
