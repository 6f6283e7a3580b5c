//! `rossum_sim.soccer`: the native part of the managed simulation.

mod drive;
mod game;
mod observation;
mod perception;

use std::path::{Path, PathBuf};

use ::soccer::{GameOrder, PlayMode, RuleBook, Side};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use physics::{Pose, Velocity};
use pyo3::{
    Bound, PyResult, Python, pyclass, pymethods,
    types::{PyList, PyListMethods},
};
use server::Scenario;
use toml::{Table, Value};
use wire::soccer::{Beam, Effector, Motor, Name, Speak};
use world::SessionId;

use self::{
    game::Match,
    observation::{Sight, measure, observe},
};
use crate::{
    error,
    guarded::{Guarded, unwinding},
    image::{self, View},
    recording::RecordingOptions,
};

/// The speaker of all robots of the league.
const SPEAKER: &str = "say";

/// Name, `q`, `dq`, `kp`, `kd` and `tau` of a motor.
type MotorNumbers = (String, f64, f64, f64, f64, f64);

/// Play time, mode, names of the teams, scores, half, seed, and fouls of the last cycle: kind, side and number.
type State = (f64, &'static str, [Option<String>; 2], [u32; 2], u8, u64, Vec<(u8, &'static str, u8)>);

/// A soccer game in process. `rossum_sim.soccer.Game` wraps it; players are numbers here.
#[pyclass(frozen, module = "rossum_sim._native")]
pub(crate) struct SoccerGame {
    game: Guarded<Match>,
}

/// What a game is built from, in the words of a scenario.
struct Options<'a> {
    rules: &'a str,
    field: Option<&'a str>,
    phase: i64,
    time: Option<f64>,
    seed: u64,
    sequential: bool,
    vision: &'a str,
    dialect: &'a str,
    referee: bool,
    models: Option<PathBuf>,
}

impl Options<'_> {
    fn scenario(&self) -> PyResult<Scenario> {
        let field = self.field.or_else(|| Some(RuleBook::from_name(self.rules)?.rules().field.name));
        let mut soccer = Table::new();
        let mut set = |key: &str, value: Value| soccer.insert(key.to_owned(), value);
        set("rules", self.rules.into());
        set("phase", self.phase.into());
        set("sequential", self.sequential.into());
        set("vision", self.vision.into());
        set("dialect", self.dialect.into());
        set("referee", self.referee.into());
        if let Some(time) = self.time {
            if !(0.0..=1e6).contains(&time) {
                return Err(error::invalid("the initial game time is 0 to 1000000 s"));
            }
            set("time", time.into());
        }
        if let Some(models) = &self.models {
            let path = models.to_str().ok_or_else(|| error::invalid("the path of the models is not UTF-8"))?;
            set("models", path.into());
        }
        let mut table = Table::new();
        table.insert("title".to_owned(), "Soccer".into());
        table.insert("soccer".to_owned(), soccer.into());
        let world = field.map(|field| ("field".to_owned(), Value::from(field)));
        table.insert("world".to_owned(), Value::Table(world.into_iter().collect()));
        let mut scenario = Scenario::parse("game", &table.to_string(), Path::new("")).map_err(error::failed)?;
        scenario.base.world.seed = self.seed;
        scenario.check().map_err(error::failed)?;
        Ok(scenario)
    }
}

impl SoccerGame {
    fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Match) -> PyResult<R> + Send) -> PyResult<R> {
        self.game.with(py, work)
    }

    fn order(&self, py: Python<'_>, order: GameOrder) -> PyResult<()> {
        self.with(py, |game| game.order(order))
    }
}

#[pymethods]
impl SoccerGame {
    #[new]
    #[pyo3(signature = (
        *, rules, field, phase, time, seed, sequential, vision, dialect, referee, models, record, overwrite
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn build(
        py: Python<'_>,
        rules: &str,
        field: Option<&str>,
        phase: i64,
        time: Option<f64>,
        seed: u64,
        sequential: bool,
        vision: &str,
        dialect: &str,
        referee: bool,
        models: Option<PathBuf>,
        record: Option<PathBuf>,
        overwrite: bool,
    ) -> PyResult<Self> {
        let options = Options { rules, field, phase, time, seed, sequential, vision, dialect, referee, models };
        let record = RecordingOptions::new(record, overwrite);
        let game = py.detach(|| unwinding(|| Match::new(&options.scenario()?, record)))?;
        Ok(Self { game: Guarded::new("game", game) })
    }

    /// Lets a player join; returns its number in all other calls.
    fn join(&self, py: Python<'_>, model: &str, team: &str, number: i64) -> PyResult<u64> {
        let out_of_range = || error::invalid(format_args!("player number {number} is out of range 0..=99"));
        let number = u8::try_from(number).ok().filter(|number| *number < 100).ok_or_else(out_of_range)?;
        self.with(py, |game| game.join(model, team, number).map(|id| id.0))
    }

    fn leave(&self, py: Python<'_>, player: u64) -> PyResult<()> {
        self.with(py, |game| game.leave(SessionId(player)))
    }

    /// Names of the motors of a player.
    fn motors(&self, py: Python<'_>, player: u64) -> PyResult<Vec<String>> {
        self.with(py, |game| Ok(game.robot(SessionId(player))?.motors.iter().map(|motor| motor.name.clone()).collect()))
    }

    /// `left` or `right`.
    fn side(&self, py: Python<'_>, player: u64) -> PyResult<&'static str> {
        self.with(py, |game| Ok(game.player(SessionId(player))?.side.name()))
    }

    /// Adds effectors to the player's message of the next cycle.
    #[pyo3(signature = (player, motors, beam, say))]
    fn act(
        &self,
        py: Python<'_>,
        player: u64,
        motors: Vec<MotorNumbers>,
        beam: Option<(f64, f64, f64)>,
        say: Option<(f64, Vec<u8>)>,
    ) -> PyResult<()> {
        let mut effectors = Vec::with_capacity(motors.len() + 2);
        for motor in motors {
            effectors.push(Effector::Motor(motor_command(motor)?));
        }
        if let Some((x, y, theta_deg)) = beam {
            finite(&[x, y, theta_deg], "beam")?;
            effectors.push(Effector::Beam(Beam { x, y, theta_deg }));
        }
        if let Some((volume, text)) = say {
            if !(0.0..=100.0).contains(&volume) {
                return Err(error::invalid(format_args!("volume {volume} is out of range 0..=100")));
            }
            if text.is_empty() {
                return Err(error::invalid("a message has at least one byte"));
            }
            effectors.push(Effector::Speak(Speak { speaker: name(SPEAKER)?, volume, text }));
        }
        self.with(py, |game| game.act(SessionId(player), effectors))
    }

    /// Takes cycles. Ctrl-C interrupts it between two of them.
    fn step(&self, py: Python<'_>, cycles: u64) -> PyResult<()> {
        let mut left = cycles;
        self.game.repeat(py, |game| {
            if left > 0 {
                left -= 1;
                game.cycle()?;
            }
            Ok(left > 0)
        })
    }

    #[pyo3(signature = (seed))]
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        self.with(py, |game| game.reset(seed))
    }

    /// The last perceptions of all players that have one, each with its player.
    fn perceptions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let perceptions: Vec<_> = self.with(py, |game| {
            Ok(game.members().filter_map(|(id, member)| Some((id.0, member.perception.clone()?))).collect())
        })?;
        let list = PyList::empty(py);
        for (player, perception) in perceptions {
            list.append((player, perception::parts(py, &perception)?))?;
        }
        Ok(list)
    }

    // --- trainers ----------------------------------------------------------------------------------------------------

    #[pyo3(signature = (side))]
    fn kick_off(&self, py: Python<'_>, side: Option<&str>) -> PyResult<()> {
        let side = match side {
            None => None,
            Some("left") => Some(Side::Left),
            Some("right") => Some(Side::Right),
            Some(other) => return Err(error::invalid(format_args!("unknown side `{other}`; available: left, right"))),
        };
        self.order(py, GameOrder::KickOff(side))
    }

    fn drop_ball(&self, py: Python<'_>) -> PyResult<()> {
        self.order(py, GameOrder::DropBall)
    }

    fn place_ball(&self, py: Python<'_>, position: [f64; 3], velocity: [f64; 3]) -> PyResult<()> {
        self.order(py, GameOrder::PlaceBall { position, velocity })
    }

    /// Angles of joints are in deg.
    #[pyo3(signature = (player, pose, joints))]
    fn place_player(
        &self,
        py: Python<'_>,
        player: u64,
        pose: Option<([f64; 3], [f64; 4])>,
        joints: Vec<(String, f64)>,
    ) -> PyResult<()> {
        let joints = joints.into_iter().map(|(motor, angle_deg)| (motor, angle_deg.to_radians())).collect();
        self.with(py, |game| game.place_player(SessionId(player), pose, joints))
    }

    fn set_play_mode(&self, py: Python<'_>, mode: &str) -> PyResult<()> {
        let Some(mode) = PlayMode::from_name(mode) else {
            let known = PlayMode::all().map(PlayMode::name);
            let message = format!("unknown play mode `{mode}`");
            return Err(error::invalid(support::suggest::with_nearest(&message, mode, known)));
        };
        self.order(py, GameOrder::SetPlayMode(mode))
    }

    // --- the game as it is -------------------------------------------------------------------------------------------

    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.with(py, |game| {
            let view = game.view()?;
            let fouls =
                view.fouls.iter().map(|(player, foul)| (foul.id(), player.side.name(), player.number)).collect();
            let time = view.play_time.as_secs_f64();
            Ok((time, view.mode.name(), view.teams.clone(), view.score, view.half, game.world().seed(), fouls))
        })
    }

    /// Name, length, width, depth, width and height of the goal, radius of the circle, and border of the field, in m.
    fn field(&self, py: Python<'_>) -> PyResult<(&'static str, [f64; 7])> {
        self.with(py, |game| {
            let field = game.view()?.field;
            let numbers = [
                field.length,
                field.width,
                field.goal_depth,
                field.goal_width,
                field.goal_height,
                field.circle_radius,
                field.border,
            ];
            Ok((field.name, numbers))
        })
    }

    /// Poses (position, quaternion with w first) and velocities (linear, angular) of the ball and of the torsos of these
    /// players, one row each; world frame, SI units.
    fn motions<'py>(&self, py: Python<'py>, players: Vec<u64>) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let rows: Vec<_> = self.with(py, |game| {
            let torsos = players.iter().map(|player| game.torso(SessionId(*player)));
            std::iter::once(game.ball()).chain(torsos).collect::<PyResult<_>>()
        })?;
        let poses = rows.iter().flat_map(|(Pose { pos, quat }, _)| pos.iter().chain(quat)).copied().collect();
        let velocities = rows.iter().flat_map(|(_, Velocity { linear, angular })| linear.iter().chain(angular));
        Ok([table(py, poses, rows.len())?, table(py, velocities.copied().collect(), rows.len())?])
    }

    /// Ticks since the game was built.
    fn ticks(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |game| Ok(game.world().tick_count().0))
    }

    /// Simulated time since the last reset, in s.
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |game| Ok(game.world().sim().time()))
    }

    /// Hash of the world's state.
    fn state_hash(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |game| Ok(game.world().state_hash()))
    }

    fn render<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
        eye: [f64; 3],
        target: [f64; 3],
        fov: f64,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let view = View::new(width, height, Some(eye), Some(target), fov)?;
        let pixels = self.with(py, |game| Ok(image::render(game.world(), &view)))?;
        PyArray1::from_vec(py, pixels).reshape([height, width, 3])
    }

    // --- learning ----------------------------------------------------------------------------------------------------

    /// The motor commands of normalized actions, as the protocol has them.
    fn motor_commands(&self, py: Python<'_>, player: u64, action: Vec<f64>) -> PyResult<Vec<MotorNumbers>> {
        let motors = self.with(py, |game| game.member(SessionId(player))?.commands(&action))?;
        Ok(motors.into_iter().map(|m| (m.name.as_str().to_owned(), m.q_deg, m.dq_deg, m.kp, m.kd, m.tau)).collect())
    }

    /// Adds motor commands to the next messages of these players, from normalized actions: a row for each player, a number
    /// for each motor.
    fn drive(&self, py: Python<'_>, players: Vec<u64>, actions: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let rows = actions.as_array();
        if rows.nrows() != players.len() {
            return Err(error::invalid(format_args!("{} actions for {} players", rows.nrows(), players.len())));
        }
        let rows: Vec<Vec<f64>> =
            rows.rows().into_iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
        self.with(py, |game| {
            let mut all = players.into_iter().map(SessionId).zip(&rows);
            all.try_for_each(|(player, action)| game.drive(player, action))
        })
    }

    /// What rewards are made of: see `observation::measure`.
    fn measure<'py>(&self, py: Python<'py>, players: Vec<u64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let players: Vec<_> = players.into_iter().map(SessionId).collect();
        let numbers = self.with(py, |game| measure(game, &players))?;
        Ok(PyArray1::from_vec(py, numbers))
    }

    /// Observations of these players, a row each. `team_size` is the number of players in a team.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        players: Vec<u64>,
        team_size: u8,
        sees_world: bool,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let sight = if sees_world { Sight::World } else { Sight::Seen };
        let (count, players) = (players.len(), players.into_iter().map(SessionId).collect::<Vec<_>>());
        let numbers = self.with(py, |game| observe(game, &players, team_size, sight))?;
        table(py, numbers, count)
    }

    /// Completes the recording, and frees the game.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.game.take(py) {
            Some(game) => py.detach(|| game.finish()),
            None => Ok(()),
        }
    }
}

impl Drop for SoccerGame {
    fn drop(&mut self) {
        // a recording that was not closed is completed as well; there is nobody to tell about an error
        let _ = Python::attach(|py| self.close(py));
    }
}

fn name(text: &str) -> PyResult<Name> {
    Name::new(text).map_err(error::invalid)
}

fn motor_command((motor, q_deg, dq_deg, kp, kd, tau): MotorNumbers) -> PyResult<Motor> {
    finite(&[q_deg, dq_deg, kp, kd, tau], &motor)?;
    Ok(Motor { name: name(&motor)?, q_deg, dq_deg, kp, kd, tau })
}

fn finite(numbers: &[f64], what: &str) -> PyResult<()> {
    if numbers.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(error::invalid(format_args!("a number of `{what}` is not finite")))
}

/// An array of rows of the same length.
fn table<T: numpy::Element>(py: Python<'_>, numbers: Vec<T>, rows: usize) -> PyResult<Bound<'_, PyArray2<T>>> {
    let columns = numbers.len().checked_div(rows).unwrap_or_default();
    PyArray1::from_vec(py, numbers).reshape([rows, columns])
}
