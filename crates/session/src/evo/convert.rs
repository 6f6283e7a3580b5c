//! From messages to requests of the arena and genotypes, and back.

use std::sync::Arc;

use arena::{Body, BodyError, Request, Response, RobotId};
use evolve::Genotype;
use wire::evo::{self, FromWorld, ShapeError, ToWorld};

/// What a message asks of an arena, or why its shape is none.
pub fn ask_from_message(message: ToWorld) -> Result<Request, (RobotId, BodyError)> {
    Ok(match message {
        ToWorld::CreateRobot => Request::Create,
        ToWorld::KillRobot(id) => Request::Kill(RobotId(id)),
        ToWorld::BodyShape(id, layers) => {
            let layer = |evo::Layer { height, polygons }| arena::Layer { height, polygons };
            let body = Body::new(layers.into_iter().map(layer).collect()).map_err(|error| (RobotId(id), error))?;
            Request::Shape(RobotId(id), Arc::new(body))
        }
        ToWorld::JumpTo(id, pose) => Request::Jump(RobotId(id), pose),
        ToWorld::MoveTo(id, pose) => Request::Move(RobotId(id), pose),
        ToWorld::VisualSensor(id, beam) => Request::See(RobotId(id), beam),
        ToWorld::SonicSensor(id, beam) => Request::Hear(RobotId(id), beam),
    })
}

/// The message that asks this.
pub fn message_from_ask(ask: &Request) -> ToWorld {
    match ask {
        Request::Create => ToWorld::CreateRobot,
        Request::Kill(id) => ToWorld::KillRobot(id.0),
        Request::Shape(id, body) => {
            let layer = |layer: &arena::Layer| evo::Layer { height: layer.height, polygons: layer.polygons.clone() };
            ToWorld::BodyShape(id.0, body.layers().iter().map(layer).collect())
        }
        Request::Jump(id, pose) => ToWorld::JumpTo(id.0, *pose),
        Request::Move(id, pose) => ToWorld::MoveTo(id.0, *pose),
        Request::See(id, beam) => ToWorld::VisualSensor(id.0, *beam),
        Request::Hear(id, beam) => ToWorld::SonicSensor(id.0, *beam),
    }
}

/// The robot that a request is about; `None` if it creates one.
pub fn robot_of(ask: &Request) -> Option<RobotId> {
    match ask {
        Request::Create => None,
        Request::Kill(id)
        | Request::Shape(id, _)
        | Request::Jump(id, _)
        | Request::Move(id, _)
        | Request::See(id, _)
        | Request::Hear(id, _) => Some(*id),
    }
}

/// The message for an answer about this robot.
pub fn message_from_answer(robot: Option<RobotId>, answer: Response) -> Option<FromWorld> {
    Some(match answer {
        Response::Created(id) => FromWorld::YourIdentifier(id.0),
        Response::Placed(position) => FromWorld::YourPosition(robot?.0, position),
        Response::Seen(reading) => FromWorld::VisualSensorReading(robot?.0, reading),
        Response::Heard(distance) => FromWorld::SonicSensorReading(robot?.0, distance),
    })
}

/// What a message answers; nothing if it is not about this robot.
pub fn answer_from_message(robot: Option<RobotId>, message: FromWorld) -> Option<Response> {
    let (about, answer) = match message {
        FromWorld::YourIdentifier(id) => (None, Response::Created(RobotId(id))),
        FromWorld::YourPosition(id, position) => (Some(RobotId(id)), Response::Placed(position)),
        FromWorld::VisualSensorReading(id, reading) => (Some(RobotId(id)), Response::Seen(reading)),
        FromWorld::SonicSensorReading(id, distance) => (Some(RobotId(id)), Response::Heard(distance)),
    };
    (about == robot).then_some(answer)
}

/// The genes of an individual for a net.
pub fn genotype_from_message(individual: &evo::Individual, net: &evo::NetParameters) -> Result<Genotype, ShapeError> {
    let parts = individual.value_groups(net)?;
    Ok(Genotype {
        hidden: individual.hidden,
        globals: parts.globals.to_vec(),
        input_values: parts.inputs.to_vec(),
        output_values: parts.outputs.to_vec(),
        hidden_values: parts.hidden.to_vec(),
        weights: parts.weights.to_vec(),
    })
}
