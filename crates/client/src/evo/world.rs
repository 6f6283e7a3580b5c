use super::{ClientError, TIMEOUT, connection::Connection};
use std::net::ToSocketAddrs;
use wire::evo::{Beam, FromWorld, Layer, Line as _, Pose, Position, RobotId, ToWorld, VisualReading};

/// Approximate size of a batch of requests, in bytes. Each is sent after the answers to the previous one, so that full socket
/// buffers cannot deadlock both sides.
const PIECE: usize = 16 * 1024;

/// A Robot Simulator's connection to a World Simulator. Calls that await an answer block for up to [`TIMEOUT`].
///
/// Its robots are removed when it is dropped.
#[derive(Debug)]
pub struct World {
    connection: Connection,
}

impl World {
    /// Connects; the default port is 7770.
    ///
    /// # Errors
    ///
    /// The connection fails.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Ok(Self { connection: Connection::connect(address, TIMEOUT)? })
    }

    /// Creates a robot.
    ///
    /// # Errors
    ///
    /// The connection closes, or there is no answer.
    pub fn create(&mut self) -> Result<RobotId, ClientError> {
        match self.ask(ToWorld::CreateRobot)? {
            FromWorld::YourIdentifier(id) => Ok(id),
            _ => Err(ClientError::UnexpectedAnswer { asked: "CreateRobot" }),
        }
    }

    /// Removes a robot. There is no answer.
    ///
    /// # Errors
    ///
    /// The connection is closed.
    pub fn kill(&mut self, robot: RobotId) -> Result<(), ClientError> {
        self.exchange(&[ToWorld::KillRobot(robot)], &mut Vec::new())
    }

    /// Sets the shape of a robot, from bottom to top; returns where the world has placed it.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create); the world closes the connection after an invalid shape.
    pub fn shape(&mut self, robot: RobotId, layers: Vec<Layer>) -> Result<Position, ClientError> {
        self.position(ToWorld::BodyShape(robot, layers))
    }

    /// Places a robot. If the pose is not free, the stress is 1 and the position is unchanged.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn jump(&mut self, robot: RobotId, to: Pose) -> Result<Position, ClientError> {
        self.position(ToWorld::JumpTo(robot, to))
    }

    /// Moves a robot until it arrives or is blocked.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn move_to(&mut self, robot: RobotId, to: Pose) -> Result<Position, ClientError> {
        self.position(ToWorld::MoveTo(robot, to))
    }

    /// Reads a visual sensor.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn see(&mut self, robot: RobotId, beam: Beam) -> Result<VisualReading, ClientError> {
        match self.ask(ToWorld::VisualSensor(robot, beam))? {
            FromWorld::VisualSensorReading(_, sight) => Ok(sight),
            _ => Err(ClientError::UnexpectedAnswer { asked: "VisualSensor" }),
        }
    }

    /// Reads a sonic sensor: a distance, in mm.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn hear(&mut self, robot: RobotId, beam: Beam) -> Result<f64, ClientError> {
        match self.ask(ToWorld::SonicSensor(robot, beam))? {
            FromWorld::SonicSensorReading(_, distance) => Ok(distance),
            _ => Err(ClientError::UnexpectedAnswer { asked: "SonicSensor" }),
        }
    }

    /// Sends many requests and waits for all answers, which are appended to `answers` in the order of `asked`.
    /// [`ToWorld::KillRobot`] has none.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create). Earlier answers are in `answers`.
    pub fn exchange(&mut self, asked: &[ToWorld], answers: &mut Vec<FromWorld>) -> Result<(), ClientError> {
        // before the first piece is sent, so that nothing is if one of them cannot be
        let mut lines = Vec::new();
        let ends: Vec<usize> =
            asked.iter().map(|request| request.encode(&mut lines).map(|()| lines.len())).collect::<Result<_, _>>()?;
        let (mut rest, mut from) = (asked.iter().zip(ends).peekable(), 0);
        let mut sent = Vec::new();
        while rest.peek().is_some() {
            let mut to = from;
            while to - from < PIECE
                && let Some((request, end)) = rest.next()
            {
                to = end;
                sent.push(request);
            }
            self.connection.send(lines.get(from..to).unwrap_or_default())?;
            from = to;
            for request in sent.drain(..).filter(|request| request.is_answered()) {
                let answer = self.connection.receive(TIMEOUT)?.ok_or(ClientError::NoAnswer)?;
                answers.push(checked(request, answer)?);
            }
        }
        Ok(())
    }

    fn position(&mut self, request: ToWorld) -> Result<Position, ClientError> {
        let asked = name(&request);
        match self.ask(request)? {
            FromWorld::YourPosition(_, position) => Ok(position),
            _ => Err(ClientError::UnexpectedAnswer { asked }),
        }
    }

    fn ask(&mut self, request: ToWorld) -> Result<FromWorld, ClientError> {
        let mut answers = Vec::with_capacity(1);
        let asked = name(&request);
        self.exchange(&[request], &mut answers)?;
        answers.pop().ok_or(ClientError::UnexpectedAnswer { asked })
    }
}

fn name(request: &ToWorld) -> &'static str {
    match request {
        ToWorld::CreateRobot => "CreateRobot",
        ToWorld::KillRobot(_) => "KillRobot",
        ToWorld::BodyShape(..) => "BodyShape",
        ToWorld::JumpTo(..) => "JumpTo",
        ToWorld::MoveTo(..) => "MoveTo",
        ToWorld::VisualSensor(..) => "VisualSensor",
        ToWorld::SonicSensor(..) => "SonicSensor",
    }
}

/// Answers have no number, so only their kind and robot can be checked.
fn checked(request: &ToWorld, answer: FromWorld) -> Result<FromWorld, ClientError> {
    let fits = match (request, &answer) {
        (ToWorld::CreateRobot, FromWorld::YourIdentifier(_)) => true,
        (
            ToWorld::BodyShape(asked, _) | ToWorld::JumpTo(asked, _) | ToWorld::MoveTo(asked, _),
            FromWorld::YourPosition(answered, _),
        )
        | (ToWorld::VisualSensor(asked, _), FromWorld::VisualSensorReading(answered, _))
        | (ToWorld::SonicSensor(asked, _), FromWorld::SonicSensorReading(answered, _)) => asked == answered,
        _ => false,
    };
    if fits { Ok(answer) } else { Err(ClientError::UnexpectedAnswer { asked: name(request) }) }
}
