//! From the wire to the arena and back. Both speak of millimetres and radians.

use std::sync::Arc;

use arena::{Body, BodyError, Request, Response, RobotId};
use evolve::{Genotype, NetParameters};
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
        ToWorld::JumpTo(id, evo::Pose { x, y, dir }) => Request::Jump(RobotId(id), arena::Pose { x, y, dir }),
        ToWorld::MoveTo(id, evo::Pose { x, y, dir }) => Request::Move(RobotId(id), arena::Pose { x, y, dir }),
        ToWorld::VisualSensor(id, beam) => Request::See(RobotId(id), arena_from_beam(beam)),
        ToWorld::SonicSensor(id, beam) => Request::Hear(RobotId(id), arena_from_beam(beam)),
    })
}

fn arena_from_beam(evo::Beam { x, y, z, dir, tilt, angle_h, angle_v }: evo::Beam) -> arena::Beam {
    arena::Beam { x, y, z, dir, tilt, angle_h, angle_v }
}

/// The message that asks this.
pub fn message_from_ask(ask: &Request) -> ToWorld {
    let pose = |&arena::Pose { x, y, dir }: &arena::Pose| evo::Pose { x, y, dir };
    match ask {
        Request::Create => ToWorld::CreateRobot,
        Request::Kill(id) => ToWorld::KillRobot(id.0),
        Request::Shape(id, body) => {
            let layer = |layer: &arena::Layer| evo::Layer { height: layer.height, polygons: layer.polygons.clone() };
            ToWorld::BodyShape(id.0, body.layers().iter().map(layer).collect())
        }
        Request::Jump(id, to) => ToWorld::JumpTo(id.0, pose(to)),
        Request::Move(id, to) => ToWorld::MoveTo(id.0, pose(to)),
        Request::See(id, beam) => ToWorld::VisualSensor(id.0, beam_from_arena(beam)),
        Request::Hear(id, beam) => ToWorld::SonicSensor(id.0, beam_from_arena(beam)),
    }
}

fn beam_from_arena(&arena::Beam { x, y, z, dir, tilt, angle_h, angle_v }: &arena::Beam) -> evo::Beam {
    evo::Beam { x, y, z, dir, tilt, angle_h, angle_v }
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
        Response::Placed(arena::Position { x, y, z, dir, tilt_straight, tilt_across, stress, death }) => {
            let position = evo::Position { x, y, z, dir, tilt_straight, tilt_across, stress, death };
            FromWorld::YourPosition(robot?.0, position)
        }
        Response::Seen(arena::BeamHit { distance, color }) => {
            FromWorld::VisualSensorReading(robot?.0, evo::VisualReading { distance, color })
        }
        Response::Heard(distance) => FromWorld::SonicSensorReading(robot?.0, distance),
    })
}

/// What a message answers; nothing if it is not about this robot.
pub fn answer_from_message(robot: Option<RobotId>, message: FromWorld) -> Option<Response> {
    let (about, answer) = match message {
        FromWorld::YourIdentifier(id) => (None, Response::Created(RobotId(id))),
        FromWorld::YourPosition(id, evo::Position { x, y, z, dir, tilt_straight, tilt_across, stress, death }) => {
            let position = arena::Position { x, y, z, dir, tilt_straight, tilt_across, stress, death };
            (Some(RobotId(id)), Response::Placed(position))
        }
        FromWorld::VisualSensorReading(id, evo::VisualReading { distance, color }) => {
            (Some(RobotId(id)), Response::Seen(arena::BeamHit { distance, color }))
        }
        FromWorld::SonicSensorReading(id, distance) => (Some(RobotId(id)), Response::Heard(distance)),
    };
    (about == robot).then_some(answer)
}

/// The net parameters sent to a manager, with its share of the slots.
pub fn message_from_parameters(parameters: &NetParameters, share: usize) -> evo::NetParameters {
    let genes = |genes: evolve::genotype::Genes| evo::Genes { values: genes.values, low: genes.low, high: genes.high };
    evo::NetParameters {
        concurrent: share,
        globals: genes(parameters.globals),
        inputs: parameters.inputs,
        input: genes(parameters.input),
        outputs: parameters.outputs,
        output: genes(parameters.output),
        hidden_min: parameters.hidden_min,
        hidden_max: parameters.hidden_max,
        hidden: genes(parameters.hidden),
        weight: genes(parameters.weight),
        input_to_output: parameters.input_to_output,
        recurrent: parameters.recurrent,
    }
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
