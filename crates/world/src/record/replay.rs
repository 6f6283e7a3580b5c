//! Replays recordings and compares the state hashes.

use std::io::{self, Read, Seek};

use physics::{ModelError, Threads, ThreadsError};

use super::{
    damage::Damage,
    format::{FORMAT_VERSION, MAX_GAP, RecordedSetup, TickRecord},
    reader::{Found, Records},
};
use crate::{
    agent::AgentId,
    director::{DynDirector, OrderRefusal},
    structure::BuildError,
    variable::VariableError,
    world::{SaveError, SetupError, World},
};

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file was not read.
    #[error("failed to read the recording: {0}")]
    Io(#[from] io::Error),
    /// A message failed to parse.
    #[error("failed to parse a message of `{topic}` in the recording: {cause}")]
    Message {
        /// Topic of the message.
        topic: &'static str,
        /// The parser's error.
        cause: serde_json::Error,
    },
    /// The recording does not start with a setup.
    #[error("the recording has no setup; it is damaged or not a recording of rossum")]
    NoSetup,
    /// The setup is in a damaged part.
    #[error("the setup of the recording is damaged, without which nothing can be replayed ({damage})")]
    SetupDamaged {
        /// The damaged place.
        damage: Damage,
    },
    /// Records are missing in the middle: what follows them cannot be computed.
    #[error(
        "the recording is damaged after tick {after}: {records} records are missing{}",
        .damage.as_ref().map(|damage| format!(" ({damage})")).unwrap_or_default()
    )]
    Missing {
        /// How many.
        records: u64,
        /// Tick of the last record before them.
        after: u64,
        /// The damaged place, if one was found.
        damage: Option<Damage>,
    },
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
    /// A state is not saved or restored as it was when it was recorded.
    #[error("failed to repeat a saved state: {0}")]
    Save(#[from] SaveError),
    /// The threads that are to help do not start.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of ticks that were run.
    pub ticks: u64,
    /// Number of state hashes that were compared.
    pub compared: u64,
    /// First tick with a different hash, before any record is missing.
    pub differs_at: Option<u64>,
    /// Whether the recording has its end; if not, it was cut off.
    pub complete: bool,
    /// The damaged places, in the order of the file.
    pub damage: Vec<Damage>,
    /// Number of records that are missing in the middle because of damage.
    pub missing: u64,
    /// Number of state hashes after missing records that could not be compared: without all inputs, the state cannot be
    /// computed.
    pub unverified: u64,
}

/// Creates a director from its description in [`Setup::directors`](crate::setup::Setup::directors). The error is a message.
pub type Directors<'a> = &'a dyn Fn(&str) -> Result<Box<dyn DynDirector>, String>;

/// For recordings of worlds without directors.
pub fn no_director(description: &str) -> Result<Box<dyn DynDirector>, String> {
    Err(format!("unknown director `{description}`"))
}

/// Replays a recording and compares every hash, up to the first that differs. `progress` is called after each record.
///
/// Where records are missing because of damage, the replay goes on without them. As long as the hashes are equal, nothing
/// that mattered is missing; from the first that differs, they are counted as unverified.
///
/// # Errors
/// If the recording has no valid setup, or if what it contains cannot be carried out.
pub fn replay<R: Read + Seek>(
    recording: R,
    directors: Directors<'_>,
    progress: impl FnMut(&World, &TickRecord),
) -> Result<Verdict, ReplayError> {
    replay_with_threads(recording, directors, Threads::None, progress)
}

/// As [`replay`], with threads that help with the physics.
///
/// # Errors
/// As for [`replay`], and if the threads do not start.
pub fn replay_with_threads<R: Read + Seek>(
    recording: R,
    directors: Directors<'_>,
    threads: Threads,
    mut progress: impl FnMut(&World, &TickRecord),
) -> Result<Verdict, ReplayError> {
    let (setup, mut records) = Records::open(recording)?;
    let mut world = restore_world(setup, directors)?;
    world.set_threads(threads)?;
    let mut verdict = Verdict::default();
    let mut is_lost = false;
    while let Some(found) = records.next()? {
        let record = match found {
            Found::Tick(record) => record,
            Found::Damage(damage) => {
                verdict.damage.push(damage);
                continue;
            }
            Found::Missing { records } => {
                verdict.missing += records;
                continue;
            }
        };
        if !is_lost {
            let is_equal = run_to(&mut world, &record);
            match is_equal {
                Ok(true) => verdict.compared += u64::from(record.hash.is_some()),
                Ok(false) if verdict.missing == 0 => {
                    verdict.compared += 1;
                    verdict.differs_at = Some(record.tick);
                }
                Err(error) if verdict.missing == 0 => return Err(error),
                Ok(false) | Err(_) => is_lost = true,
            }
            progress(&world, &record);
        }
        if is_lost {
            verdict.unverified += u64::from(record.hash.is_some());
        }
        if verdict.differs_at.is_some() {
            break;
        }
    }
    verdict.complete = records.is_complete();
    verdict.ticks = world.tick_count().0;
    Ok(verdict)
}

fn restore_world(recorded: RecordedSetup, directors: Directors<'_>) -> Result<World, ReplayError> {
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

/// Runs the world up to a record and applies it. Returns whether the state has the recorded hash, if there is one.
fn run_to(world: &mut World, record: &TickRecord) -> Result<bool, ReplayError> {
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
    let Some(hash) = record.hash else { return Ok(true) };
    world.tick();
    Ok(world.state_hash() == hash)
}
