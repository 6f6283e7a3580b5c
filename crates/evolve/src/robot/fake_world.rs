//! A world for tests: an empty square of 2 x 2 m. Beams are rays to its sides, and robots are points that stop there.

use std::{collections::BTreeMap, num::NonZeroU16};

use arena::{Beam, Pose, Position, Request, Response, RobotId, VisualReading};

use super::simulator::{World, WorldLost};

const SIDE: f64 = 2000.0;

#[derive(Debug, Default)]
pub(super) struct FakeWorld {
    pub(super) robots: BTreeMap<RobotId, Option<Position>>,
    /// All requests, by exchange.
    pub(super) log: Vec<Vec<Request>>,
    pub(super) keeps_log: bool,
    pub(super) created: u16,
    /// Number of jumps to refuse.
    pub(super) refuses: u32,
    /// Number of new robots without room.
    pub(super) crowds: u32,
    /// Whether shapes after the first are refused.
    pub(super) blocks_shapes: bool,
    /// The ground is deathly beyond this x.
    pub(super) deathly_from: Option<f64>,
    /// Fails after this many exchanges.
    pub(super) fails_after: Option<usize>,
    pub(super) tilt: [f64; 2],
    /// Height of the ground per mm of x.
    pub(super) slope: f64,
}

impl FakeWorld {
    fn position(&self, pose: Pose, stress: f64) -> Position {
        Position {
            x: pose.x,
            y: pose.y,
            z: self.slope * pose.x,
            dir: pose.dir,
            tilt_straight: self.tilt[0],
            tilt_across: self.tilt[1],
            stress,
            death: self.deathly_from.is_some_and(|x| pose.x > x),
        }
    }

    fn place(&mut self, id: RobotId, position: Position) -> Option<Response> {
        self.robots.insert(id, Some(position));
        Some(Response::Placed(position))
    }

    fn known(&self, id: RobotId) -> Result<Position, WorldLost> {
        self.robots.get(&id).copied().flatten().ok_or_else(|| WorldLost::new(format!("no robot {id:?} with a shape")))
    }

    fn answer(&mut self, request: &Request) -> Result<Option<Response>, WorldLost> {
        Ok(match request {
            Request::Create => {
                self.created += 1;
                let id = RobotId(NonZeroU16::new(self.created).ok_or_else(|| WorldLost::new("full"))?);
                self.robots.insert(id, None);
                Some(Response::Created(id))
            }
            Request::Kill(id) => {
                self.robots.remove(id).ok_or_else(|| WorldLost::new(format!("{id:?} is killed twice")))?;
                None
            }
            Request::Shape(id, _) => match self.robots.get(id) {
                Some(Some(position)) => {
                    let stress = f64::from(u8::from(self.blocks_shapes));
                    let position = Position { stress, ..*position };
                    self.place(*id, position)
                }
                Some(None) => {
                    let stress = f64::from(u8::from(self.crowds > 0));
                    self.crowds = self.crowds.saturating_sub(1);
                    self.place(*id, self.position(Pose { x: f64::from(self.created), y: 9.0, dir: 1.0 }, stress))
                }
                None => return Err(WorldLost::new("no such robot")),
            },
            Request::Jump(id, pose) if self.refuses == 0 => {
                self.known(*id)?;
                self.place(*id, self.position(*pose, 0.0))
            }
            Request::Jump(id, _) => {
                self.refuses -= 1;
                Some(Response::Placed(Position { stress: 1.0, ..self.known(*id)? }))
            }
            Request::Move(id, pose) => {
                self.known(*id)?;
                let inside = Pose { x: pose.x.clamp(0.0, SIDE), y: pose.y.clamp(0.0, SIDE), dir: pose.dir };
                self.place(*id, self.position(inside, if inside == *pose { 0.0 } else { 0.5 }))
            }
            Request::See(id, beam) => {
                self.known(*id)?;
                Some(Response::Seen(VisualReading { distance: ray(beam), color: [(beam.x / 8.0) as u8, 100, 200] }))
            }
            Request::Hear(id, beam) => {
                self.known(*id)?;
                Some(Response::Heard(ray(beam)))
            }
        })
    }
}

/// Distance along a level ray to the square's side.
fn ray(beam: &Beam) -> f64 {
    let (sin, cos) = beam.dir.sin_cos();
    let to = |at: f64, step: f64| if step > 0.0 { (SIDE - at) / step } else { -at / step };
    to(beam.x, cos).min(to(beam.y, sin)).clamp(0.0, 5000.0)
}

impl World for FakeWorld {
    fn exchange(&mut self, requests: &[Request], responses: &mut Vec<Response>) -> Result<(), WorldLost> {
        if self.keeps_log {
            self.log.push(requests.to_vec());
        }
        if let Some(left) = &mut self.fails_after {
            *left = left.checked_sub(1).ok_or_else(|| WorldLost::new("the connection was closed"))?;
        }
        for request in requests {
            responses.extend(self.answer(request)?);
        }
        Ok(())
    }
}
