//! Detections of a robot's camera.

use super::game::named;
use super::number::put_int;
use super::perception::Dialect;
use super::sexp::List;
use super::{Hundredths, Name, malformed};
use crate::DecodeError;

named! {
    /// A landmark on the field, in wire order. The names are those of the league's server.
    ///
    /// The first letter is the kind: `l`, `t` and `x` are corners, junctions and crossings of lines, `p` is a penalty
    /// mark, `g` a goal post. Then follow left, centre or right; upper (positive y) or lower; and the object it belongs
    /// to.
    Landmark {
        /// Left upper corner of the field.
        LeftUpperCorner = "l_luf",
        /// Left lower corner of the field.
        LeftLowerCorner = "l_llf",
        /// Right upper corner of the field.
        RightUpperCorner = "l_ruf",
        /// Right lower corner of the field.
        RightLowerCorner = "l_rlf",
        /// Upper end of the halfway line.
        UpperHalfway = "t_cuf",
        /// Lower end of the halfway line.
        LowerHalfway = "t_clf",
        /// Where the centre circle crosses the halfway line, above.
        UpperCircle = "x_cuc",
        /// Where the centre circle crosses the halfway line, below.
        LowerCircle = "x_clc",
        /// The left penalty mark.
        LeftPenaltyMark = "p_lpm",
        /// The right penalty mark.
        RightPenaltyMark = "p_rpm",
        /// The left goal's upper post.
        LeftUpperPost = "g_lup",
        /// The left goal's lower post.
        LeftLowerPost = "g_llp",
        /// The right goal's upper post.
        RightUpperPost = "g_rup",
        /// The right goal's lower post.
        RightLowerPost = "g_rlp",
        /// Upper corner of the left goalie area.
        LeftUpperGoalieCorner = "l_luga",
        /// Lower corner of the left goalie area.
        LeftLowerGoalieCorner = "l_llga",
        /// Upper corner of the right goalie area.
        RightUpperGoalieCorner = "l_ruga",
        /// Lower corner of the right goalie area.
        RightLowerGoalieCorner = "l_rlga",
        /// Where the left goalie area meets the goal line, above.
        LeftUpperGoalieEnd = "t_luga",
        /// Where the left goalie area meets the goal line, below.
        LeftLowerGoalieEnd = "t_llga",
        /// Where the right goalie area meets the goal line, above.
        RightUpperGoalieEnd = "t_ruga",
        /// Where the right goalie area meets the goal line, below.
        RightLowerGoalieEnd = "t_rlga",
        /// Upper corner of the left penalty area.
        LeftUpperPenaltyCorner = "l_lupa",
        /// Lower corner of the left penalty area.
        LeftLowerPenaltyCorner = "l_llpa",
        /// Upper corner of the right penalty area.
        RightUpperPenaltyCorner = "l_rupa",
        /// Lower corner of the right penalty area.
        RightLowerPenaltyCorner = "l_rlpa",
        /// Where the left penalty area meets the goal line, above.
        LeftUpperPenaltyEnd = "t_lupa",
        /// Where the left penalty area meets the goal line, below.
        LeftLowerPenaltyEnd = "t_llpa",
        /// Where the right penalty area meets the goal line, above.
        RightUpperPenaltyEnd = "t_rupa",
        /// Where the right penalty area meets the goal line, below.
        RightLowerPenaltyEnd = "t_rlpa",
    }
}

/// Names of landmarks in the page's examples (D10).
const PAGE_NAMES: [(Landmark, &str); 8] = [
    (Landmark::LeftUpperCorner, "F1L"),
    (Landmark::LeftLowerCorner, "F2L"),
    (Landmark::RightUpperCorner, "F1R"),
    (Landmark::RightLowerCorner, "F2R"),
    (Landmark::LeftUpperPost, "G1L"),
    (Landmark::LeftLowerPost, "G2L"),
    (Landmark::RightUpperPost, "G1R"),
    (Landmark::RightLowerPost, "G2R"),
];

impl Landmark {
    /// Its name in a dialect (D10).
    pub fn name_in(self, dialect: Dialect) -> &'static str {
        let by_page = || PAGE_NAMES.iter().find(|(landmark, _)| *landmark == self).map(|(_, name)| *name);
        match dialect {
            Dialect::Reference => self.name(),
            Dialect::Document => by_page().unwrap_or(self.name()),
        }
    }

    fn from_name_in(name: &str, dialect: Dialect) -> Option<Self> {
        let by_page = || PAGE_NAMES.iter().find(|(_, page_name)| *page_name == name).map(|(landmark, _)| *landmark);
        match dialect {
            Dialect::Reference => Self::from_name(name),
            Dialect::Document => by_page().or_else(|| Self::from_name(name)),
        }
    }
}

/// A position relative to the camera, which looks along x.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Polar {
    /// Distance, in m.
    pub distance: Hundredths,
    /// Angle to the left of the camera's axis.
    pub azimuth_deg: Hundredths,
    /// Angle above the camera's axis.
    pub elevation_deg: Hundredths,
}

/// Detections of one cycle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct See {
    /// Landmarks, in the order of [`Landmark`].
    pub landmarks: Vec<(Landmark, Polar)>,
    /// The ball.
    pub ball: Option<Polar>,
    /// Players: the left team first, each team in the order in which they joined.
    pub players: Vec<SeenPlayer>,
}

/// A detected player.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenPlayer {
    /// Its team's name.
    pub team: Name,
    /// Its number.
    pub number: u8,
    /// Visible parts of the player.
    pub markers: Vec<Marker>,
}

/// A visible part of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// Name of the part in the robot's model: `head`, `lfoot`, `rfoot`.
    pub name: Name,
    /// Position relative to the camera.
    pub polar: Polar,
}

impl See {
    pub(super) fn put(&self, out: &mut Vec<u8>, dialect: Dialect) {
        out.extend_from_slice(b"(See ");
        let mut gap = dialect.gaps();
        for (landmark, polar) in &self.landmarks {
            gap.put(out);
            polar.put(out, landmark.name_in(dialect), dialect);
        }
        if let Some(polar) = &self.ball {
            gap.put(out);
            polar.put(out, "B", dialect);
        }
        for player in &self.players {
            gap.put(out);
            player.put(out, dialect);
        }
        out.push(b')');
    }

    /// Objects with unknown names are ignored.
    pub(super) fn decode(list: List<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let mut see = Self::default();
        for object in list.lists() {
            match object.head() {
                Some(b"B") => see.ball = Some(Polar::decode(object, dialect)?),
                Some(b"P") => see.players.push(SeenPlayer::decode(object, dialect)?),
                Some(name) => {
                    let name = std::str::from_utf8(name).ok();
                    if let Some(landmark) = name.and_then(|name| Landmark::from_name_in(name, dialect)) {
                        see.landmarks.push((landmark, Polar::decode(object, dialect)?));
                    }
                }
                None => return Err(malformed("seen object")),
            }
        }
        Ok(see)
    }
}

impl SeenPlayer {
    fn put(&self, out: &mut Vec<u8>, dialect: Dialect) {
        let mut gap = dialect.gaps();
        gap.put(out);
        out.extend_from_slice(b"(P (team ");
        self.team.put(out);
        out.push(b')');
        gap.put(out);
        out.extend_from_slice(b"(id ");
        put_int(out, self.number);
        out.push(b')');
        for Marker { name, polar } in &self.markers {
            gap.put(out);
            polar.put(out, name.as_str(), dialect);
        }
        out.push(b')');
    }

    fn decode(list: List<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let mut markers = Vec::new();
        for marker in list.lists().filter(|marker| marker.find_any("pol").is_some()) {
            let name = marker.items().next().ok_or(malformed("marker"))?.name("marker")?;
            markers.push(Marker { name, polar: Polar::decode(marker, dialect)? });
        }
        Ok(Self {
            team: list.find("team")?.value("team")?.name("team")?,
            number: list.find("id")?.value("id")?.int("id")?,
            markers,
        })
    }
}

impl Polar {
    fn put(&self, out: &mut Vec<u8>, name: &str, dialect: Dialect) {
        let Self { distance, azimuth_deg, elevation_deg } = *self;
        let values = match dialect {
            Dialect::Reference => [distance, azimuth_deg, elevation_deg],
            Dialect::Document => [azimuth_deg, elevation_deg, distance],
        };
        out.push(b'(');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b" (pol");
        for value in values {
            out.push(b' ');
            value.put_shortest(out);
        }
        out.extend_from_slice(b"))");
    }

    fn decode(object: List<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let values = object.find("pol")?.floats("pol")?.map(Hundredths::from_written);
        let [distance, azimuth_deg, elevation_deg] = match (dialect, values) {
            (Dialect::Reference, values) => values,
            (Dialect::Document, [azimuth, elevation, distance]) => [distance, azimuth, elevation],
        };
        Ok(Self { distance, azimuth_deg, elevation_deg })
    }
}
