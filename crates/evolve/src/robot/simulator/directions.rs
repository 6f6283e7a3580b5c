//! Worlds with another convention for directions.

use arena::{Request, Response, plan::Directions};

use super::{World, WorldLost};

/// A request of a robot, which counts counter-clockwise from +x, in the world's convention.
pub(super) fn to_world(directions: Directions, request: &Request) -> Request {
    let dir = |angle: f64| directions.sign() * (angle - directions.zero_angle());
    let mut request = request.clone();
    match &mut request {
        Request::Jump(_, pose) | Request::Move(_, pose) => pose.dir = dir(pose.dir),
        Request::See(_, beam) | Request::Hear(_, beam) => beam.dir = dir(beam.dir),
        Request::Create | Request::Kill(_) | Request::Shape(..) => {}
    }
    request
}

/// A response of a world, in the robots' convention.
pub(super) fn from_world(directions: Directions, mut response: Response) -> Response {
    if let Response::Placed(position) = &mut response {
        position.dir = directions.zero_angle() + directions.sign() * position.dir;
    }
    response
}

/// A world with another convention than the robots'.
#[derive(Debug)]
pub struct Redirected<W> {
    world: W,
    directions: Directions,
    requests: Vec<Request>,
}

impl<W> Redirected<W> {
    /// A world with these directions.
    pub fn new(world: W, directions: Directions) -> Self {
        Self { world, directions, requests: Vec::new() }
    }
}

impl<W: World> World for Redirected<W> {
    fn exchange(&mut self, requests: &[Request], responses: &mut Vec<Response>) -> Result<(), WorldLost> {
        let Self { world, directions, requests: translated } = self;
        translated.clear();
        translated.extend(requests.iter().map(|request| to_world(*directions, request)));
        let first = responses.len();
        world.exchange(translated, responses)?;
        for response in responses.iter_mut().skip(first) {
            *response = from_world(*directions, *response);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{f64::consts::PI, sync::Arc};

    use arena::{Beam, Body, Layer, Plan, Pose, RobotId};

    use super::*;
    use crate::robot::InProcessWorld;

    /// Drives the same way through the same world, and returns all that the robot notices.
    fn notices(directions: &str) -> Vec<[f64; 4]> {
        let plan = format!(
            "title = \"test\"\n{directions}\n[[obstacle]]\nshape = {{ disc = [900, 1000, 100] }}\nheight = 100\ncolor = \"#ff0000\"\n"
        );
        let plan = Arc::new(Plan::parse(&plan).expect("a world"));
        let mut world = InProcessWorld::new(plan, 1);
        let mut ask = |request: Request| {
            let mut responses = Vec::new();
            world.exchange(&[request], &mut responses).expect("an answer");
            match responses.pop().expect("an answer") {
                Response::Placed(at) => [at.x, at.y, at.dir, at.stress],
                Response::Seen(reading) => [reading.distance; 4],
                Response::Heard(distance) => [distance; 4],
                Response::Created(id) => [f64::from(id.0.get()); 4],
            }
        };
        let [id, ..] = ask(Request::Create);
        let id = RobotId((id as u16).try_into().expect("an id"));
        let square = vec![[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]];
        let body = Body::new(vec![Layer { height: 20.0, polygons: vec![square] }]).expect("a body");
        ask(Request::Shape(id, Arc::new(body)));
        let beam = Beam { x: 500.0, y: 500.0, z: 10.0, dir: 0.9, tilt: 0.0, angle_h: 0.3, angle_v: 0.1 };
        let ahead = Pose { x: 900.0, y: 980.0, dir: PI / 3.0 };
        [
            Request::Jump(id, Pose { x: 500.0, y: 500.0, dir: 0.2 }),
            Request::See(id, beam),
            Request::Hear(id, beam),
            Request::Move(id, ahead),
        ]
        .map(&mut ask)
        .to_vec()
    }

    #[test]
    fn robots_notice_the_same_in_every_convention() {
        let usual = notices("");
        for text in ["zero = \"y\"", "zero = \"-x\"", "sense = \"cw\"", "zero = \"-y\"\nsense = \"cw\""] {
            let other = notices(&format!("[directions]\n{text}"));
            for (one, other) in usual.iter().flatten().zip(other.iter().flatten()) {
                assert!((one - other).abs() < 1e-9, "{text}: {one} {other}");
            }
        }
    }
}
