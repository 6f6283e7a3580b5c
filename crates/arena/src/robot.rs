//! Robots and their identifiers.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use crate::{
    Body, Position, RobotId,
    ground::Plane,
    solid::{Bounds, Solid},
    stance::Stance,
};

/// Most robots at a time.
pub(crate) const MAX_ROBOTS: usize = u16::MAX as usize;

/// A robot that lives.
#[derive(Debug)]
pub(crate) struct Robot {
    pub(crate) id: RobotId,
    pub(crate) owner: u64,
    pub(crate) kind: usize,
    /// How many robots there were before it.
    pub(crate) number: u64,
    pub(crate) heard: Duration,
    pub(crate) shaped: Option<Shaped>,
}

/// What a robot has from its first shape on.
#[derive(Debug)]
pub(crate) struct Shaped {
    pub(crate) body: Arc<Body>,
    pub(crate) position: Position,
    pub(crate) stance: Stance,
    /// What it stands on.
    pub(crate) stand: Plane,
    /// No place was found for it yet: nobody meets it.
    pub(crate) is_lost: bool,
    /// As others meet it; empty if nobody can.
    pub(crate) solids: Vec<Solid>,
}

/// A robot among those that meet each other, with what is needed to pass it over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) id: RobotId,
    /// Of its solids; nothing if nobody can meet it.
    pub(crate) bounds: Bounds,
}

/// All robots that live.
#[derive(Debug, Default)]
pub(crate) struct Robots {
    slots: Vec<Option<Box<Robot>>>,
    last: u16,
    count: usize,
}

impl Robots {
    /// The next free identifier. They go round, so that one that was used lately comes back last.
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

    /// In the order of their identifiers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Robot> {
        self.slots.iter().filter_map(Option::as_deref)
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}
