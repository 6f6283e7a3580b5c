//! Replays recordings and compares the state hashes.

use physics::ModelError;

use super::{
    format::{FORMAT_VERSION, MAX_GAP, RecordedSetup, SETUP_TOPIC, TICK_TOPIC, TickRecord},
    reader::{Message, Messages},
};
use crate::{
    agent::AgentId,
    director::{DynDirector, OrderRefusal},
    structure::BuildError,
    variable::VariableError,
    world::{SetupError, World},
};

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A message failed to parse.
    #[error("failed to parse a message of `{topic}` in the recording: {cause}")]
    Message {
        /// Topic of the message.
        topic: String,
        /// The parser's error.
        cause: serde_json::Error,
    },
    /// The recording does not start with a setup.
    #[error("the recording has no setup; it is damaged or not a recording of rossum")]
    NoSetup,
    /// The format is of another version.
    #[error("the recording has format {found}; this program reads format {FORMAT_VERSION}")]
    Format {
        /// Version of the recording.
        found: u32,
    },
    /// The model has changed since the recording.
    #[error(
        "the model is not the recorded one (hash {found:016x}, recorded {recorded:016x}); it was recorded with MuJoCo {mujoco}"
    )]
    ModelChanged {
        /// Hash of the current model.
        found: u64,
        /// Hash of the recorded model.
        recorded: u64,
        /// Version of MuJoCo that recorded it.
        mujoco: String,
    },
    /// A model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The world cannot be built.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A change of the model fails that succeeded when it was recorded.
    #[error(transparent)]
    Build(BuildError),
    /// A write fails that succeeded when it was recorded.
    #[error("failed to write `{variable}`: {cause}")]
    Write {
        /// Full name of the variable.
        variable: String,
        /// The underlying error.
        cause: VariableError,
    },
    /// An order is refused that was carried out when it was recorded.
    #[error("the order `{order}` is refused: {refusal}")]
    Order {
        /// As it is recorded.
        order: String,
        /// The director's reason.
        refusal: OrderRefusal,
    },
    /// A director of the recorded world cannot be created.
    #[error("failed to create a director of the recorded world: {reason}")]
    Director {
        /// The message of the caller's [`Directors`] function.
        reason: String,
    },
    /// Two records are too far apart.
    #[error("the recording jumps from tick {tick} to {next}")]
    Gap {
        /// Tick of the earlier record.
        tick: u64,
        /// Tick of the later record.
        next: u64,
    },
    /// An agent leaves that is not in the world.
    #[error("agent {} leaves but is not in the world", agent.0)]
    UnknownAgent {
        /// The agent.
        agent: AgentId,
    },
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of ticks that were run.
    pub ticks: u64,
    /// Number of state hashes that were compared.
    pub compared: u64,
    /// First tick with a different hash.
    pub differs_at: Option<u64>,
    /// Whether the recording was completed and read to its end; if not, records may be missing.
    pub complete: bool,
}

/// Creates a director from its description in [`Setup::directors`](crate::setup::Setup::directors). The error is a message.
pub type Directors<'a> = &'a dyn Fn(&str) -> Result<Box<dyn DynDirector>, String>;

/// For recordings of worlds without directors.
pub fn no_director(description: &str) -> Result<Box<dyn DynDirector>, String> {
    Err(format!("unknown director `{description}`"))
}

/// Replays a recording and compares every hash, up to the first that differs. `progress` is called after each record.
pub fn replay(
    recording: &[u8],
    directors: Directors<'_>,
    mut progress: impl FnMut(&World, &TickRecord),
) -> Result<Verdict, ReplayError> {
    let mut world: Option<World> = None;
    let mut verdict = Verdict { complete: recording.ends_with(mcap::MAGIC), ..Verdict::default() };
    for message in Messages::new(recording) {
        // a truncated recording ends in the middle of a chunk
        let Ok(Message { topic, data }) = message else {
            verdict.complete = false;
            break;
        };
        let invalid = |cause| ReplayError::Message { topic: topic.clone(), cause };
        match (topic.as_str(), &mut world) {
            (SETUP_TOPIC, world) => {
                let setup = serde_json::from_slice(&data).map_err(invalid)?;
                *world = Some(restore_world(setup, directors)?);
            }
            (TICK_TOPIC, Some(world)) => {
                let record: TickRecord = serde_json::from_slice(&data).map_err(invalid)?;
                run_to(world, &record, &mut verdict)?;
                progress(world, &record);
                if verdict.differs_at.is_some() {
                    return Ok(verdict);
                }
            }
            (TICK_TOPIC, None) => return Err(ReplayError::NoSetup),
            _ => {}
        }
    }
    let world = world.ok_or(ReplayError::NoSetup)?;
    verdict.ticks = world.tick_count().0;
    Ok(verdict)
}

fn restore_world(recorded: RecordedSetup, directors: Directors<'_>) -> Result<World, ReplayError> {
    if recorded.format != FORMAT_VERSION {
        return Err(ReplayError::Format { found: recorded.format });
    }
    let (model_hash, mujoco) = (recorded.model_hash, recorded.mujoco.clone());
    let setup = recorded.restore()?;
    let directors = setup.directors.iter().map(|description| directors(description)).collect::<Result<_, _>>();
    let directors = directors.map_err(|reason| ReplayError::Director { reason })?;
    let world = World::with_directors(&setup, directors)?;
    if world.model_hash() != model_hash {
        return Err(ReplayError::ModelChanged { found: world.model_hash(), recorded: model_hash, mujoco });
    }
    Ok(world)
}

/// Runs the world up to a record and applies it.
fn run_to(world: &mut World, record: &TickRecord, verdict: &mut Verdict) -> Result<(), ReplayError> {
    let gap = record.tick.saturating_sub(world.tick_count().0);
    if gap > MAX_GAP {
        return Err(ReplayError::Gap { tick: world.tick_count().0, next: record.tick });
    }
    for _ in 0..gap {
        world.tick();
    }
    for entry in &record.entries {
        world.apply(entry.clone())?;
    }
    if let Some(hash) = record.hash {
        world.tick();
        verdict.compared += 1;
        verdict.ticks = world.tick_count().0;
        if world.state_hash() != hash {
            verdict.differs_at = Some(record.tick);
        }
    }
    Ok(())
}
