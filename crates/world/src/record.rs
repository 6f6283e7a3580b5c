//! Recordings: everything needed to run a world again, bit for bit.
//!
//! A recording is an MCAP file with two topics of JSON messages. `/rossum/setup` has one message: what the world was
//! made of, with the hash of its model. `/rossum/tick` has a message for each tick in which something was done to the
//! world and for each tick whose state hash was noted.

use std::{
    collections::BTreeMap,
    io::{Seek, Write},
    path::PathBuf,
};

use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use physics::{Limits, ModelError, Pose, Source};
use serde::{Deserialize, Serialize};

use crate::{
    agent::{Action, AgentId},
    director::{DynDirector, OrderRefusal},
    event::Watch,
    setup::{Randomise, Robot, Setup},
    structure::BuildError,
    value::Value,
    variable::VariableError,
    world::{SetupError, World},
};

const SETUP_TOPIC: &str = "/rossum/setup";
const TICK_TOPIC: &str = "/rossum/tick";
const FORMAT_VERSION: u32 = 2;
/// Most ticks between two records: more than a day of 10 ms ticks in which nothing happened.
const LONGEST_GAP: u64 = 10_000_000;

/// Most bytes of a record: far more than any setup has.
const LARGEST_RECORD: usize = 1 << 28;

/// Something that was done to a world from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A controller moved motors.
    Act {
        /// Whose.
        agent: AgentId,
        /// How.
        actions: Vec<Action>,
    },
    /// A variable was written.
    Write {
        /// Full name.
        variable: String,
        /// What was written.
        value: Value,
    },
    /// A new try began.
    Reset {
        /// Its seed.
        seed: u64,
    },
    /// A robot came.
    Join(RecordedRobot),
    /// A robot went.
    Leave {
        /// Which.
        agent: AgentId,
    },
    /// A director let a robot in.
    Admit {
        /// Its name.
        to: String,
        /// In its own words.
        request: String,
    },
    /// A robot that a director may have let in did not come.
    TurnedAway {
        /// Its name.
        name: String,
    },
    /// A director carried out an order.
    Order {
        /// Its name.
        to: String,
        /// In its own words.
        order: String,
    },
    /// An object changed its size.
    Resize {
        /// Name of the geom in the model.
        geom: String,
        /// As MuJoCo counts it.
        size: [f64; 3],
    },
}

/// One tick of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickRecord {
    /// The tick that these entries preceded.
    pub tick: u64,
    /// What was done, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// Hash of the state after the tick, where it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<u64>,
}

/// A model by its text, or by its path when it refers to other files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RecordedSource {
    /// All of it.
    Text {
        /// Name of the model.
        name: String,
        /// MJCF or URDF.
        text: String,
    },
    /// Where it was.
    File {
        /// Absolute path.
        path: PathBuf,
    },
}

impl From<&Source> for RecordedSource {
    fn from(source: &Source) -> Self {
        let (name, text) = (source.name(), source.text());
        match source.path() {
            Some(path) if Source::from_text(name, text, &Limits::default()).is_err() => {
                Self::File { path: path.to_owned() }
            }
            // it stands by itself, and so can the recording
            _ => Self::Text { name: name.to_owned(), text: text.to_owned() },
        }
    }
}

impl RecordedSource {
    fn restore(&self) -> Result<Source, ModelError> {
        match self {
            Self::Text { name, text } => Source::from_text(name, text, &Limits::default()),
            Self::File { path } => Source::from_file(path, &Limits::default()),
        }
    }
}

/// A robot and where it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRobot {
    name: String,
    source: RecordedSource,
    pos: [f64; 3],
    quat: [f64; 4],
}

impl From<&Robot> for RecordedRobot {
    fn from(robot: &Robot) -> Self {
        let Pose { pos, quat } = robot.pose;
        Self { name: robot.name.clone(), source: (&robot.source).into(), pos, quat }
    }
}

impl RecordedRobot {
    pub(crate) fn restore(&self) -> Result<Robot, ReplayError> {
        let pose = Pose { pos: self.pos, quat: self.quat };
        Ok(Robot { name: self.name.clone(), source: self.source.restore()?, pose })
    }
}

#[derive(Serialize, Deserialize)]
struct RecordedSetup {
    format: u32,
    /// Hashes are only comparable within one version.
    mujoco: String,
    model_hash: u64,
    base: RecordedSource,
    robots: Vec<RecordedRobot>,
    timestep: Option<f64>,
    steps_per_tick: u32,
    seed: u64,
    settings: Vec<(String, String)>,
    randomise: Vec<[String; 3]>,
    watches: Vec<Watch>,
    #[serde(default)]
    directors: Vec<String>,
}

impl RecordedSetup {
    fn new(setup: &Setup, model_hash: u64) -> Self {
        Self {
            format: FORMAT_VERSION,
            mujoco: physics::mujoco_version().to_string(),
            model_hash,
            base: (&setup.base).into(),
            robots: setup.robots.iter().map(Into::into).collect(),
            timestep: setup.timestep,
            steps_per_tick: setup.steps_per_tick,
            seed: setup.seed,
            settings: setup.settings.clone(),
            randomise: setup.randomise.iter().map(|r| [r.variable.clone(), r.min.clone(), r.max.clone()]).collect(),
            watches: setup.watches.clone(),
            directors: setup.directors.clone(),
        }
    }

    fn restore(self) -> Result<Setup, ReplayError> {
        Ok(Setup {
            base: self.base.restore()?,
            robots: self.robots.iter().map(RecordedRobot::restore).collect::<Result<_, _>>()?,
            timestep: self.timestep,
            steps_per_tick: self.steps_per_tick,
            seed: self.seed,
            settings: self.settings,
            randomise: self
                .randomise
                .into_iter()
                .map(|[variable, min, max]| Randomise { variable, min, max })
                .collect(),
            watches: self.watches,
            directors: self.directors,
        })
    }
}

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file could not be written.
    #[error("the recording could not be written: {0}")]
    Mcap(#[from] mcap::McapError),
    /// A record could not be put into JSON.
    #[error("a record could not be encoded: {0}")]
    Json(#[from] serde_json::Error),
}

/// Writes a recording.
pub struct Recorder<W: Write + Seek> {
    writer: mcap::Writer<W>,
    ticks: u16,
    sequence: u32,
    tick_nanos: u64,
}

impl<W: Write + Seek> std::fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl<W: Write + Seek> Recorder<W> {
    /// Begins a recording of a world that was just made from `setup`.
    pub fn new(out: W, setup: &Setup, world: &World) -> Result<Self, RecordError> {
        let mut writer = mcap::WriteOptions::new()
            .profile("rossum")
            .library(concat!("rossum ", env!("CARGO_PKG_VERSION")))
            .create(out)?;
        let nothing = BTreeMap::new();
        let about = writer.add_channel(0, SETUP_TOPIC, "json", &nothing)?;
        let ticks = writer.add_channel(0, TICK_TOPIC, "json", &nothing)?;
        let text = serde_json::to_vec(&RecordedSetup::new(setup, world.model_hash()))?;
        let header = mcap::records::MessageHeader { channel_id: about, sequence: 0, log_time: 0, publish_time: 0 };
        writer.write_to_known_channel(&header, &text)?;
        let tick_nanos = (world.tick_seconds() * 1e9) as u64;
        Ok(Self { writer, ticks, sequence: 0, tick_nanos })
    }

    /// Adds a tick.
    pub fn write(&mut self, record: &TickRecord) -> Result<(), RecordError> {
        let time = record.tick.saturating_mul(self.tick_nanos);
        let header = mcap::records::MessageHeader {
            channel_id: self.ticks,
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        self.sequence = self.sequence.wrapping_add(1);
        Ok(self.writer.write_to_known_channel(&header, &serde_json::to_vec(record)?)?)
    }

    /// Makes everything written so far readable, whatever happens next.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        Ok(self.writer.flush()?)
    }

    /// Ends the recording.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.writer.finish()?;
        Ok(())
    }
}

/// Why a recording could not be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A message does not say what it should.
    #[error("the recording's message {topic} cannot be read: {cause}")]
    Message {
        /// Its topic.
        topic: String,
        /// Why.
        cause: serde_json::Error,
    },
    /// It begins in the middle.
    #[error("the recording does not say what the world was made of")]
    NoSetup,
    /// It is of another time.
    #[error("the recording has format {found}; this program reads {FORMAT_VERSION}")]
    Format {
        /// What it says.
        found: u32,
    },
    /// The model has changed since.
    #[error(
        "the model is not the recorded one (hash {found:016x}, recorded {recorded:016x}); it was recorded with MuJoCo {mujoco}"
    )]
    ModelChanged {
        /// Of the model as it is now.
        found: u64,
        /// Of the recorded one.
        recorded: u64,
        /// Version that recorded it.
        mujoco: String,
    },
    /// A model is no good.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The world could not be made.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A change of the model failed that did not fail when it was recorded.
    #[error(transparent)]
    Build(BuildError),
    /// A write failed that did not fail when it was recorded.
    #[error("writing {variable}: {cause}")]
    Write {
        /// Full name.
        variable: String,
        /// Why.
        cause: VariableError,
    },
    /// An order was refused that was carried out when it was recorded.
    #[error("the order `{order}`: {refusal}")]
    Order {
        /// As it is recorded.
        order: String,
        /// The director's reason.
        refusal: OrderRefusal,
    },
    /// The recorded world had a director that cannot be had here.
    #[error("the director of the recorded world is not available: {reason}")]
    Director {
        /// Why.
        reason: String,
    },
    /// Nothing is recorded for longer than anybody would wait.
    #[error("the recording jumps from tick {tick} to {next}")]
    Gap {
        /// From here.
        tick: u64,
        /// To there.
        next: u64,
    },
    /// An agent left that was not there.
    #[error("agent {} leaves but is not there", agent.0)]
    NoSuchAgent {
        /// Which.
        agent: AgentId,
    },
}

/// What came of running a recording again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Ticks that were run.
    pub ticks: u64,
    /// State hashes that were compared.
    pub compared: u64,
    /// First tick whose hash differs.
    pub differs_at: Option<u64>,
    /// Whether the recording was read to its end and closed in order; if not, some of it may be missing.
    pub complete: bool,
}

/// Makes a director from its description in [`Setup::directors`], or says why it cannot.
pub type Directors<'a> = &'a dyn Fn(&str) -> Result<Box<dyn DynDirector>, String>;

/// For recordings of worlds that nobody directs.
pub fn no_director(description: &str) -> Result<Box<dyn DynDirector>, String> {
    Err(format!("`{description}` is not known"))
}

/// Runs a recording again and compares every hash, up to the first that differs. `progress` hears of each record, and
/// can look at the world.
pub fn replay(
    recording: &[u8],
    directors: Directors<'_>,
    mut progress: impl FnMut(&World, &TickRecord),
) -> Result<Verdict, ReplayError> {
    let mut world: Option<World> = None;
    let mut verdict = Verdict { complete: recording.ends_with(mcap::MAGIC), ..Verdict::default() };
    for message in Messages::of(recording) {
        // a recording that was cut off ends in the middle of a chunk
        let Ok(Message { topic, data }) = message else {
            verdict.complete = false;
            break;
        };
        let unreadable = |cause| ReplayError::Message { topic: topic.clone(), cause };
        match (topic.as_str(), &mut world) {
            (SETUP_TOPIC, world) => {
                let setup = serde_json::from_slice(&data).map_err(unreadable)?;
                *world = Some(restored_world(setup, directors)?);
            }
            (TICK_TOPIC, Some(world)) => {
                let record: TickRecord = serde_json::from_slice(&data).map_err(unreadable)?;
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

/// A recording that is read, without being run: for those who look at what was done to a world. It may end early where
/// it is damaged.
pub struct Records<'a> {
    /// What the world was made of.
    pub setup: Setup,
    /// Whether the recording was closed in order and is undamaged up to where it was read; if not, some of it may be
    /// missing.
    pub complete: bool,
    messages: Messages<'a>,
    tick: u64,
}

impl<'a> Records<'a> {
    /// Reads the beginning. The rest is in the iterator.
    pub fn of(recording: &'a [u8]) -> Result<Self, ReplayError> {
        let mut messages = Messages::of(recording);
        let Some(Ok(Message { topic, data })) = messages.next() else { return Err(ReplayError::NoSetup) };
        if topic != SETUP_TOPIC {
            return Err(ReplayError::NoSetup);
        }
        let setup: RecordedSetup =
            serde_json::from_slice(&data).map_err(|cause| ReplayError::Message { topic, cause })?;
        if setup.format != FORMAT_VERSION {
            return Err(ReplayError::Format { found: setup.format });
        }
        Ok(Self { setup: setup.restore()?, complete: recording.ends_with(mcap::MAGIC), messages, tick: 0 })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<TickRecord, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Ok(Message { topic, data }) = self.messages.next()? else {
                self.complete = false;
                return None;
            };
            if topic != TICK_TOPIC {
                continue;
            }
            let record: Result<TickRecord, _> = serde_json::from_slice(&data);
            let record = record.map_err(|cause| ReplayError::Message { topic, cause }).and_then(|record| {
                let (tick, next) = (std::mem::replace(&mut self.tick, record.tick), record.tick);
                if next.saturating_sub(tick) > LONGEST_GAP { Err(ReplayError::Gap { tick, next }) } else { Ok(record) }
            });
            return Some(record);
        }
    }
}

/// One message of a recording.
struct Message {
    topic: String,
    data: Vec<u8>,
}

/// The file cannot be read from here on.
struct Damaged;

/// The messages of a recording, up to its end or to the first damage.
struct Messages<'a> {
    unread: &'a [u8],
    reader: LinearReader,
    topics: BTreeMap<u16, String>,
}

impl<'a> Messages<'a> {
    fn of(recording: &'a [u8]) -> Self {
        // a length that was damaged would have the reader ask for all the memory there is, and more
        let options = LinearReaderOptions::default().with_skip_end_magic(true).with_record_length_limit(LARGEST_RECORD);
        Self { unread: recording, reader: LinearReader::new_with_options(options), topics: BTreeMap::new() }
    }
}

impl Iterator for Messages<'_> {
    type Item = Result<Message, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.next_event()? {
                Ok(LinearReadEvent::ReadRequest(wanted)) => {
                    let (read, unread) = self.unread.split_at(wanted.min(self.unread.len()));
                    self.reader.insert(read.len()).copy_from_slice(read);
                    self.reader.notify_read(read.len());
                    self.unread = unread;
                }
                Ok(LinearReadEvent::Record { data, opcode }) => match mcap::parse_record(opcode, data) {
                    Ok(mcap::records::Record::Channel(channel)) => {
                        self.topics.insert(channel.id, channel.topic);
                    }
                    Ok(mcap::records::Record::Message { header, data }) => {
                        let topic = self.topics.get(&header.channel_id).cloned().ok_or(Damaged);
                        return Some(topic.map(|topic| Message { topic, data: data.into_owned() }));
                    }
                    Ok(mcap::records::Record::DataEnd(_)) => return None,
                    Ok(_) => {}
                    Err(_) => return Some(Err(Damaged)),
                },
                Err(_) => return Some(Err(Damaged)),
            }
        }
    }
}

fn restored_world(recorded: RecordedSetup, directors: Directors<'_>) -> Result<World, ReplayError> {
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

fn run_to(world: &mut World, record: &TickRecord, verdict: &mut Verdict) -> Result<(), ReplayError> {
    let gap = record.tick.saturating_sub(world.tick_count().0);
    if gap > LONGEST_GAP {
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
