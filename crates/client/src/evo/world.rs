use super::{ClientError, TIMEOUT, connection::Connection};
use std::net::ToSocketAddrs;
use wire::evo::{Beam, FromWorld, Layer, Line as _, Pose, Position, RobotId, ToWorld, VisualReading};

/// Requests are sent in pieces of about so many bytes, each after the answers to the one before: however little the
/// system keeps for a connection, both sides never wait for each other to read.
const PIECE: usize = 16 * 1024;

/// A Robot Simulator's link to a World Simulator. Every call that awaits an answer blocks for up to [`TIMEOUT`].
///
/// The robots of a link die with it.
#[derive(Debug)]
pub struct World {
    connection: Connection,
}

impl World {
    /// Connects; the default port is 7770.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Ok(Self { connection: Connection::connect(address, TIMEOUT)? })
    }

    /// A new robot.
    ///
    /// # Errors
    ///
    /// When the connection ends or the answer does not come.
    pub fn create(&mut self) -> Result<RobotId, ClientError> {
        match self.ask(ToWorld::CreateRobot)? {
            FromWorld::YourIdentifier(id) => Ok(id),
            _ => Err(ClientError::UnexpectedAnswer { asked: "CreateRobot" }),
        }
    }

    /// The end of a robot. There is no answer.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn kill(&mut self, robot: RobotId) -> Result<(), ClientError> {
        self.exchange(&[ToWorld::KillRobot(robot)], &mut Vec::new())
    }

    /// Says what a robot looks like, from the bottom layer to the topmost, and where the world has put it.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create); a shape that is refused ends the connection.
    pub fn shape(&mut self, robot: RobotId, layers: Vec<Layer>) -> Result<Position, ClientError> {
        self.position(ToWorld::BodyShape(robot, layers))
    }

    /// Puts a robot somewhere else. Without room for it there, the stress is 1 and the position the old one.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn jump(&mut self, robot: RobotId, to: Pose) -> Result<Position, ClientError> {
        self.position(ToWorld::JumpTo(robot, to))
    }

    /// Moves a robot as far as it goes.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn move_to(&mut self, robot: RobotId, to: Pose) -> Result<Position, ClientError> {
        self.position(ToWorld::MoveTo(robot, to))
    }

    /// What a visual sensor sees.
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

    /// How far a sonic sensor hears, in mm.
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

    /// Asks many things at once and waits for all answers, which are appended to `answers` in the order of `asked`.
    /// [`ToWorld::KillRobot`] has none.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create). What was answered before that is in `answers`.
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

/// Answers have no number; that each is of the right kind and robot is all that can be checked.
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
