//! The inputs of fitness scripts and their names.

/// A value that a script can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Time since the start, in s.
    Time,
    /// Time of a step, in s.
    Dt,
    /// Number of completed steps.
    Step,
    /// Number of steps of a full trial.
    Steps,
    /// x, in mm.
    X,
    /// y, in mm.
    Y,
    /// Height of the ground, in mm.
    Z,
    /// Direction of travel, in rad.
    Dir,
    /// x at the start, in mm.
    StartX,
    /// y at the start, in mm.
    StartY,
    /// Height of the ground at the start, in mm.
    StartZ,
    /// Direction at the start, in rad.
    StartDir,
    /// Distance moved in the step, in mm.
    Distance,
    /// Number of the arena's squares visited since the start; it has [`SQUARES`](super::super::evaluation::SQUARES).
    SquaresVisited,
    /// Mean speed of the wheels in the step; 1 is full speed ahead.
    Speed,
    /// Half the difference of the wheels' speeds, -1 to 1; positive turns left.
    Turn,
    /// Speed of the left wheel, -1 to 1.
    Left,
    /// Speed of the right wheel, -1 to 1.
    Right,
    /// Blocked fraction of the move, 0 to 1.
    Stress,
    /// 1 on deathly ground.
    Death,
    /// Pitch, in rad.
    TiltS,
    /// Roll, in rad.
    TiltC,
    /// Direction of the head, in rad, counter-clockwise from straight ahead.
    Head,
    /// Activity of a sensor, before the step's move.
    Activity(u16),
    /// Distance read by a sensor, in mm.
    SensorDistance(u16),
    /// A colour channel read by a sensor, 0 to 1: red, green or blue.
    Color(u16, u8),
    /// Maximum activity of a group.
    GroupMax(u16),
    /// Minimum activity of a group.
    GroupMin(u16),
    /// Mean activity of a group.
    GroupMean(u16),
}

const COMMON: [(&str, Input); 23] = [
    ("t", Input::Time),
    ("dt", Input::Dt),
    ("step", Input::Step),
    ("steps", Input::Steps),
    ("x", Input::X),
    ("y", Input::Y),
    ("z", Input::Z),
    ("dir", Input::Dir),
    ("start_x", Input::StartX),
    ("start_y", Input::StartY),
    ("start_z", Input::StartZ),
    ("start_dir", Input::StartDir),
    ("distance", Input::Distance),
    ("squares_visited", Input::SquaresVisited),
    ("speed", Input::Speed),
    ("turn", Input::Turn),
    ("left", Input::Left),
    ("right", Input::Right),
    ("stress", Input::Stress),
    ("death", Input::Death),
    ("tilt_s", Input::TiltS),
    ("tilt_c", Input::TiltC),
    ("head", Input::Head),
];

/// The names that a script can use.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    names: Vec<(String, Input)>,
    groups: Vec<(String, u16)>,
}

impl Vocabulary {
    /// The vocabulary of a robot with these sensors and groups, in order.
    ///
    /// # Errors
    ///
    /// The first duplicate name.
    pub fn new(sensors: &[&str], groups: &[&str]) -> Result<Self, String> {
        let mut names: Vec<_> = COMMON.iter().map(|&(name, input)| (name.to_owned(), input)).collect();
        for (nth, sensor) in (0..).zip(sensors) {
            names.push(((*sensor).to_owned(), Input::Activity(nth)));
            names.push((format!("{sensor}_distance"), Input::SensorDistance(nth)));
            for (color, name) in (0..).zip(["red", "green", "blue"]) {
                names.push((format!("{sensor}_{name}"), Input::Color(nth, color)));
            }
        }
        for (nth, group) in (0..).zip(groups) {
            names.push((format!("{group}_max"), Input::GroupMax(nth)));
            names.push((format!("{group}_min"), Input::GroupMin(nth)));
            names.push((format!("{group}_mean"), Input::GroupMean(nth)));
        }
        let mut sorted: Vec<_> = names.iter().map(|(name, _)| name).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(twice[0].clone()),
            None => Ok(Self { names, groups: groups.iter().map(|group| (*group).to_owned()).zip(0..).collect() }),
        }
    }

    /// The input of this name.
    pub fn input(&self, name: &str) -> Option<Input> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, input)| *input)
    }

    /// The index of a group.
    pub fn group(&self, name: &str) -> Option<u16> {
        self.groups.iter().find(|(known, _)| known == name).map(|(_, nth)| *nth)
    }

    /// The names of all groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(name, _)| name.as_str())
    }

    /// All names, including those of groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str()).chain(self.groups())
    }
}
