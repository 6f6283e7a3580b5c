//! Shared by the tests.

use std::{sync::Arc, time::Duration};

use crate::{Arena, Beam, Body, Layer, Plan, Pose, Position, Request, RequestError, Response, RobotId, VisualReading};

/// The connection that tests use unless they say otherwise.
pub(crate) const ME: u64 = 1;

pub(crate) fn arena(world: &str) -> Arena {
    let plan = Plan::parse(&format!("title = \"test\"\n{world}")).unwrap();
    Arena::new(Arc::new(plan), 7)
}

/// A box around (0, 0).
pub(crate) fn boxy(width: f64, depth: f64, height: f64) -> Arc<Body> {
    let (x, y) = (0.5 * width, 0.5 * depth);
    let polygons = vec![vec![[-x, -y], [x, -y], [x, y], [-x, y]]];
    Arc::new(Body::new(vec![Layer { height, polygons }]).unwrap())
}

pub(crate) fn pose(x: f64, y: f64, dir: f64) -> Pose {
    Pose { x, y, dir }
}

/// A beam straight ahead.
pub(crate) fn beam(at: [f64; 3], dir: f64, tilt: f64, angle_h: f64, angle_v: f64) -> Beam {
    Beam { x: at[0], y: at[1], z: at[2], dir, tilt, angle_h, angle_v }
}

impl Arena {
    pub(crate) fn request(&mut self, request: &Request) -> Result<Option<Response>, RequestError> {
        self.handle(ME, 0, request, Duration::ZERO)
    }

    fn placed(&mut self, request: &Request) -> Position {
        match self.request(request) {
            Ok(Some(Response::Placed(position))) => position,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    pub(crate) fn born(&mut self, body: &Arc<Body>) -> RobotId {
        let id = self.create(0, ME, Duration::ZERO).unwrap();
        self.shaped_as(id, body);
        id
    }

    /// A new robot at this place.
    pub(crate) fn born_at(&mut self, body: &Arc<Body>, at: Pose) -> RobotId {
        let id = self.born(body);
        assert_eq!(self.jumped(id, at).stress, 0.0, "no room at {at:?}");
        id
    }

    pub(crate) fn shaped_as(&mut self, id: RobotId, body: &Arc<Body>) -> Position {
        self.placed(&Request::Shape(id, body.clone()))
    }

    pub(crate) fn jumped(&mut self, id: RobotId, to: Pose) -> Position {
        self.placed(&Request::Jump(id, to))
    }

    pub(crate) fn moved(&mut self, id: RobotId, to: Pose) -> Position {
        self.placed(&Request::Move(id, to))
    }

    pub(crate) fn seen(&mut self, id: RobotId, beam: Beam) -> VisualReading {
        match self.request(&Request::See(id, beam)) {
            Ok(Some(Response::Seen(sight))) => sight,
            other => panic!("{beam:?}: {other:?}"),
        }
    }

    pub(crate) fn heard(&mut self, id: RobotId, beam: Beam) -> f64 {
        match self.request(&Request::Hear(id, beam)) {
            Ok(Some(Response::Heard(distance))) => distance,
            other => panic!("{beam:?}: {other:?}"),
        }
    }
}
