//! The robots of an arena, by identifier.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use crate::{
    Body, Position, RobotId,
    ground::Plane,
    solid::{Bounds, Solid},
    transform::Transform,
};

/// Maximum number of robots at a time.
pub(crate) const MAX_ROBOTS: usize = u16::MAX as usize;

/// A robot of the arena.
#[derive(Debug)]
pub(crate) struct Robot {
    pub(crate) id: RobotId,
    /// The connection that created it.
    pub(crate) owner: u64,
    /// Index into the plan's ports.
    pub(crate) kind: usize,
    /// Number of robots created before it.
    pub(crate) number: u64,
    /// Time of the last request about it.
    pub(crate) last_request: Duration,
    /// `None` before its first shape.
    pub(crate) state: Option<PhysicalState>,
}

/// A robot's body and where it is.
#[derive(Debug)]
pub(crate) struct PhysicalState {
    pub(crate) body: Arc<Body>,
    pub(crate) position: Position,
    pub(crate) transform: Transform,
    /// The plane it stands on.
    pub(crate) ground_plane: Plane,
    /// No free pose was found for it yet: it collides with nothing.
    pub(crate) is_unplaced: bool,
    /// Its prisms in the world; empty if no other robot can meet it.
    pub(crate) solids: Vec<Solid>,
}

/// A robot in a group of robots that see and hit each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupMember {
    pub(crate) id: RobotId,
    /// Bounds of its solids; empty if no other robot can meet it.
    pub(crate) bounds: Bounds,
}

/// All robots of an arena.
#[derive(Debug, Default)]
pub(crate) struct Robots {
    slots: Vec<Option<Box<Robot>>>,
    last: u16,
    count: usize,
}

impl Robots {
    /// The next free identifier. Identifiers cycle, so that a recently used one is reused last.
    pub(crate) fn free_id(&self) -> Option<RobotId> {
        if self.count >= MAX_ROBOTS {
            return None;
        }
        let mut id = self.last;
        loop {
            id = id.wrapping_add(1);
            let Some(number) = NonZeroU16::new(id) else { continue };
            if self.get(RobotId(number)).is_none() {
                return Some(RobotId(number));
            }
        }
    }

    pub(crate) fn add(&mut self, robot: Robot) {
        let index = usize::from(robot.id.0.get());
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.last = robot.id.0.get();
        if self.slots[index].replace(Box::new(robot)).is_none() {
            self.count += 1;
        }
    }

    pub(crate) fn get(&self, id: RobotId) -> Option<&Robot> {
        self.slots.get(usize::from(id.0.get()))?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, id: RobotId) -> Option<&mut Robot> {
        self.slots.get_mut(usize::from(id.0.get()))?.as_deref_mut()
    }

    pub(crate) fn remove(&mut self, id: RobotId) -> Option<Box<Robot>> {
        let robot = self.slots.get_mut(usize::from(id.0.get()))?.take()?;
        self.count -= 1;
        Some(robot)
    }

    /// All robots, ordered by identifier.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Robot> {
        self.slots.iter().filter_map(Option::as_deref)
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}
