//! Commands of sessions to a world, and its answers.

use physics::Source;

use crate::{
    agent::{Action, AgentId},
    clock::Vote,
    director::{Director, Envelope, OrderAnswer, OrderRefusal},
    event::AgentEvent,
    setup::Robot,
    structure::BuildError,
    value::Value,
    variable::{VariableError, VariableId},
};

/// Slowest and fastest speed of a world, as multiples of real time.
pub const SPEEDS: (f64, f64) = (0.1, 10.0);

/// A command of a session to the world.
#[derive(Clone, Debug)]
pub enum Command {
    /// Add a robot.
    Join(Robot),
    /// Add a robot of this model, with the name and pose that a director assigns. See [`Command::admit`].
    Admit {
        /// The request to the director.
        request: Envelope,
        /// The robot's model.
        source: Source,
        /// Whether the world waits for the robot's votes as soon as it has joined. It then also waits for it to join.
        lockstep: bool,
    },
    /// Remove a robot.
    Leave(AgentId),
    /// Move motors with the next tick.
    Act(AgentId, Vec<Action>),
    /// Read a variable.
    Read(VariableId),
    /// Write a variable.
    Write(VariableId, Value),
    /// Include a variable in every snapshot.
    Observe(VariableId),
    /// Undo one [`Command::Observe`].
    Unobserve(VariableId),
    /// From now on wait for this agent's votes, unless it votes through another session.
    EnterLockstep(AgentId),
    /// Stop waiting for this agent's votes.
    LeaveLockstep(AgentId),
    /// Vote for a tick or a reset.
    Vote(AgentId, Vote),
    /// Begin a new try now, without a vote; without a seed the current one is used again.
    Reset(Option<u64>),
    /// Give an order to a director. See [`Command::order`].
    Order(Envelope),
    /// Run at this multiple of real time, within [`SPEEDS`], if the pace follows the clock.
    Speed(f64),
    /// Run one tick of a paused world.
    Step,
    /// Raise an event of an agent.
    RaiseEvent(AgentId, AgentEvent),
}

impl Command {
    /// An order for the director `D`.
    pub fn order<D: Director>(order: D::Order) -> Self {
        Self::Order(Envelope::order::<D>(order))
    }

    /// A request to the director `D` to let a robot of this model join.
    pub fn admit<D: Director>(request: D::JoinRequest, source: Source, lockstep: bool) -> Self {
        Self::Admit { request: Envelope::join_request::<D>(request), source, lockstep }
    }
}

/// The world's answer to a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The robot has joined.
    Joined(AgentId),
    /// The robot has left.
    Left(AgentId),
    /// A variable's value.
    Value(VariableId, Value),
    /// A variable was written.
    Written(VariableId),
    /// A variable was not read or written.
    NoValue(VariableId, VariableError),
    /// From now on the world waits for this agent's votes, and takes them from this session alone.
    Entered(AgentId),
    /// This agent's vote does not count: it was silent for too long, never entered, or votes through another session.
    VoteLost(AgentId),
    /// A director's reply to an order. Orders that need no reply have none.
    Ordered(OrderAnswer),
    /// The command was not carried out.
    Refused(CommandRefusal),
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CommandRefusal {
    /// Some or all of the actions were dropped.
    #[error("motor command dropped: a number is not finite or too large, or there are too many commands for one tick")]
    Actions,
    /// The speed is infinite or not a number.
    #[error("the speed is not a finite number")]
    Speed,
    /// A single step was requested while time is running.
    #[error("the world is not paused; pause it first")]
    NotPaused,
    /// A single step was requested of a simulation that has failed.
    #[error("the simulation has failed; reset it first")]
    Failed,
    /// No such agent.
    #[error("no agent has the id {}", agent.0)]
    UnknownAgent {
        /// The id that was given.
        agent: AgentId,
    },
    /// The model that the change asks for cannot be built.
    #[error(transparent)]
    Build(BuildError),
    /// A director refused, or the world has none of this name.
    #[error(transparent)]
    Order(#[from] OrderRefusal),
}

impl CommandRefusal {
    /// A director's own reason of type `T`, if that is why.
    pub fn by_director<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Order(refusal) => refusal.downcast_ref(),
            _ => None,
        }
    }
}
