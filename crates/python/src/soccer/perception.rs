//! Perceptions as nested tuples and lists, to which `rossum_sim.soccer` gives the names of the protocol.

use pyo3::{Bound, IntoPyObject, PyResult, Python, types::PyTuple};
use wire::soccer::{Dialect, GameState, Name, Perception, Polar, See, Sensor};

/// A name with the numbers of its polar position: distance, azimuth, elevation.
type Place<'a> = (&'a str, f64, f64, f64);

/// The team, the number and the markers of a player.
type Seen<'a> = (&'a str, u8, Vec<Place<'a>>);

/// The parts of a perception, in the order of `rossum_sim.soccer.Perception`.
pub(crate) fn parts<'py>(py: Python<'py>, perception: &Perception) -> PyResult<Bound<'py, PyTuple>> {
    let touches = perception.touches.iter().map(|touch| (touch.name.as_str(), u8::from(touch.is_active)));
    let joints = &perception.joints;
    let joints = (
        joints.iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>(),
        joints.iter().map(|joint| joint.angle_deg.get()).collect::<Vec<_>>(),
        joints.iter().map(|joint| joint.velocity_deg.get()).collect::<Vec<_>>(),
    );
    let heard = perception.heard.as_ref();
    let heard = heard.map(|words| words.iter().map(|word| (word.azimuth_deg, &*word.text)).collect::<Vec<_>>());
    let parts = (
        perception.time.get(),
        game_state(&perception.game),
        sensors(&perception.orientations),
        sensors(&perception.positions),
        sensors(&perception.gyros),
        sensors(&perception.accelerometers),
        touches.collect::<Vec<_>>(),
        joints,
        heard,
        perception.see.as_ref().map(|see| detections(see, perception.dialect)),
    );
    parts.into_pyobject(py)
}

/// Play time, mode, names of the teams, their scores.
fn game_state(game: &GameState) -> (f64, &'static str, Option<&str>, Option<&str>, u16, u16) {
    let [left, right] = [&game.team_left, &game.team_right].map(|team| team.as_ref().map(Name::as_str));
    (game.time.get(), game.play_mode.name(), left, right, game.score_left, game.score_right)
}

fn sensors<const VALUES: usize, const DIGITS: usize>(sensors: &[Sensor<VALUES, DIGITS>]) -> Vec<(&str, [f64; VALUES])> {
    sensors.iter().map(|sensor| (sensor.name.as_str(), sensor.values.map(|value| value.get()))).collect()
}

/// Landmarks and the ball, then players: team, number and markers.
fn detections(see: &See, dialect: Dialect) -> (Vec<Place<'_>>, Vec<Seen<'_>>) {
    let landmarks = see.landmarks.iter().map(|(landmark, polar)| place(landmark.name_in(dialect), polar));
    let points = landmarks.chain(see.ball.iter().map(|polar| place("B", polar))).collect();
    let players = see.players.iter().map(|player| {
        let markers = player.markers.iter().map(|marker| place(marker.name.as_str(), &marker.polar));
        (player.team.as_str(), player.number, markers.collect())
    });
    (points, players.collect())
}

fn place<'a>(name: &'a str, polar: &Polar) -> Place<'a> {
    (name, polar.distance.get(), polar.azimuth_deg.get(), polar.elevation_deg.get())
}
