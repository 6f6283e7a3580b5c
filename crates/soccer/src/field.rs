//! The playing fields and their landmarks.

use glam::{DVec2, DVec3};

use crate::rules::Side;

/// Radius of the ball, in m.
pub const BALL_RADIUS: f64 = 0.11;

/// Measures of a field, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The name in settings: `fifa` or `fifa7vs7`.
    pub name: &'static str,
    /// Along x, from goal line to goal line.
    pub length: f64,
    /// Along y, from touch line to touch line.
    pub width: f64,
    /// Free ground around the lines.
    pub border: f64,
    /// Along x, behind the goal line.
    pub goal_depth: f64,
    /// Between the posts.
    pub goal_width: f64,
    /// Below the crossbar.
    pub goal_height: f64,
    /// Radius of posts and crossbar.
    pub goal_post_radius: f64,
    /// Along x, from the goal line.
    pub goalie_area_depth: f64,
    /// Along y.
    pub goalie_area_width: f64,
    /// Along x, from the goal line.
    pub penalty_area_depth: f64,
    /// Along y.
    pub penalty_area_width: f64,
    /// From the goal line to the penalty spot.
    pub penalty_spot: f64,
    /// Of the centre circle; also how far opponents keep from a set play.
    pub circle_radius: f64,
    /// Of the quarter circles at the corners.
    pub corner_radius: f64,
    /// Of the painted lines.
    pub line_width: f64,
}

/// A rectangle on the ground; its edges belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The corner with the smaller coordinates, in m.
    pub min: DVec2,
    /// The corner with the larger coordinates, in m.
    pub max: DVec2,
}

impl Area {
    /// Whether `point` lies inside or on the edge.
    pub fn contains(&self, point: DVec2) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// The middle, in m.
    pub fn center(&self) -> DVec2 {
        0.5 * (self.min + self.max)
    }
}

/// A fixed point that players can see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landmark {
    /// Name in the protocol: `l_luf`, `g_rlp`, ...
    pub name: &'static str,
    /// In the field's frame, in m.
    pub position: DVec3,
}

/// Position of a landmark, up to the signs of x and y.
#[derive(Clone, Copy)]
enum Spot {
    Corner,
    HalfwayEnd,
    Circle,
    PenaltyMark,
    Crossbar,
    GoalieFront,
    GoalieLine,
    PenaltyFront,
    PenaltyLine,
}

/// In the order of the protocol. Letters: kind, side, upper or lower, part of the field.
const LANDMARKS: [(&str, Spot, f64, f64); 30] = [
    ("l_luf", Spot::Corner, -1.0, 1.0),
    ("l_llf", Spot::Corner, -1.0, -1.0),
    ("l_ruf", Spot::Corner, 1.0, 1.0),
    ("l_rlf", Spot::Corner, 1.0, -1.0),
    ("t_cuf", Spot::HalfwayEnd, 0.0, 1.0),
    ("t_clf", Spot::HalfwayEnd, 0.0, -1.0),
    ("x_cuc", Spot::Circle, 0.0, 1.0),
    ("x_clc", Spot::Circle, 0.0, -1.0),
    ("p_lpm", Spot::PenaltyMark, -1.0, 0.0),
    ("p_rpm", Spot::PenaltyMark, 1.0, 0.0),
    ("g_lup", Spot::Crossbar, -1.0, 1.0),
    ("g_llp", Spot::Crossbar, -1.0, -1.0),
    ("g_rup", Spot::Crossbar, 1.0, 1.0),
    ("g_rlp", Spot::Crossbar, 1.0, -1.0),
    ("l_luga", Spot::GoalieFront, -1.0, 1.0),
    ("l_llga", Spot::GoalieFront, -1.0, -1.0),
    ("l_ruga", Spot::GoalieFront, 1.0, 1.0),
    ("l_rlga", Spot::GoalieFront, 1.0, -1.0),
    ("t_luga", Spot::GoalieLine, -1.0, 1.0),
    ("t_llga", Spot::GoalieLine, -1.0, -1.0),
    ("t_ruga", Spot::GoalieLine, 1.0, 1.0),
    ("t_rlga", Spot::GoalieLine, 1.0, -1.0),
    ("l_lupa", Spot::PenaltyFront, -1.0, 1.0),
    ("l_llpa", Spot::PenaltyFront, -1.0, -1.0),
    ("l_rupa", Spot::PenaltyFront, 1.0, 1.0),
    ("l_rlpa", Spot::PenaltyFront, 1.0, -1.0),
    ("t_lupa", Spot::PenaltyLine, -1.0, 1.0),
    ("t_llpa", Spot::PenaltyLine, -1.0, -1.0),
    ("t_rupa", Spot::PenaltyLine, 1.0, 1.0),
    ("t_rlpa", Spot::PenaltyLine, 1.0, -1.0),
];

impl Field {
    /// 105 by 68 m, for eleven a side.
    pub const FIFA: Self = Self {
        name: "fifa",
        length: 105.0,
        width: 68.0,
        border: 3.0,
        goal_depth: 1.6,
        goal_width: 7.32,
        goal_height: 2.44,
        goal_post_radius: 0.05,
        goalie_area_depth: 5.5,
        goalie_area_width: 18.32,
        penalty_area_depth: 16.5,
        penalty_area_width: 40.32,
        penalty_spot: 11.0,
        circle_radius: 9.15,
        corner_radius: 1.0,
        line_width: 0.1,
    };

    /// 55 by 36 m, for seven a side.
    pub const FIFA7VS7: Self = Self {
        name: "fifa7vs7",
        length: 55.0,
        width: 36.0,
        border: 3.0,
        goal_depth: 1.0,
        goal_width: 3.66,
        goal_height: 1.83,
        goal_post_radius: 0.05,
        goalie_area_depth: 4.0,
        goalie_area_width: 7.3,
        penalty_area_depth: 9.0,
        penalty_area_width: 16.5,
        penalty_spot: 7.32,
        circle_radius: 5.5,
        corner_radius: 1.0,
        line_width: 0.1,
    };

    /// The field of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::FIFA, Self::FIFA7VS7].into_iter().find(|field| field.name == name)
    }

    /// From the centre spot to a goal line, in m.
    pub fn half_length(&self) -> f64 {
        0.5 * self.length
    }

    /// From the centre spot to a touch line, in m.
    pub fn half_width(&self) -> f64 {
        0.5 * self.width
    }

    /// The goalie area in front of the goal that `side` defends.
    pub fn goalie_area(&self, side: Side) -> Area {
        self.area_at_goal(side, self.goalie_area_depth, self.goalie_area_width)
    }

    /// The penalty area in front of the goal that `side` defends.
    pub fn penalty_area(&self, side: Side) -> Area {
        self.area_at_goal(side, self.penalty_area_depth, self.penalty_area_width)
    }

    fn area_at_goal(&self, side: Side, depth: f64, width: f64) -> Area {
        let (line, front) = (side.sign() * self.half_length(), side.sign() * (self.half_length() - depth));
        Area { min: DVec2::new(line.min(front), -0.5 * width), max: DVec2::new(line.max(front), 0.5 * width) }
    }

    /// Whether `point` lies in the goal that `side` defends, its faces included.
    pub fn goal_contains(&self, side: Side, point: DVec3) -> bool {
        let behind_line = side.sign() * point.x - self.half_length();
        (0.0..=self.goal_depth).contains(&behind_line)
            && point.y.abs() <= 0.5 * self.goal_width
            && (0.0..=self.goal_height).contains(&point.z)
    }

    /// The landmarks, in the order of the protocol.
    pub fn landmarks(&self) -> [Landmark; 30] {
        LANDMARKS.map(|(name, spot, x_sign, y_sign)| {
            let spot = self.spot(spot);
            Landmark { name, position: DVec3::new(x_sign * spot.x, y_sign * spot.y, spot.z) }
        })
    }

    fn spot(&self, spot: Spot) -> DVec3 {
        let (x, y) = (self.half_length(), self.half_width());
        // the markers of both areas stand a full width from the middle, not half of it: agents have learnt them so
        let (goalie, penalty) = (self.goalie_area_width, self.penalty_area_width);
        match spot {
            Spot::Corner => DVec3::new(x, y, 0.0),
            Spot::HalfwayEnd => DVec3::new(0.0, y, 0.0),
            Spot::Circle => DVec3::new(0.0, self.circle_radius, 0.0),
            Spot::PenaltyMark => DVec3::new(x - self.penalty_spot, 0.0, 0.0),
            Spot::Crossbar => DVec3::new(x, 0.5 * self.goal_width, self.goal_height),
            Spot::GoalieFront => DVec3::new(x - self.goalie_area_depth, goalie, 0.0),
            Spot::GoalieLine => DVec3::new(x, goalie, 0.0),
            Spot::PenaltyFront => DVec3::new(x - self.penalty_area_depth, penalty, 0.0),
            Spot::PenaltyLine => DVec3::new(x, penalty, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sites of the field's model are the landmarks: same names, same order, same places.
    fn check_model(field: Field, model: &str) {
        let sites: Vec<(&str, DVec3)> = model
            .lines()
            .filter_map(|line| {
                let (name, rest) = line.trim().strip_prefix("<site name=\"")?.split_once("-vismarker\" pos=\"")?;
                let mut numbers = rest.split_once('"')?.0.split(' ').map(|n| n.parse().unwrap());
                let mut next = || numbers.next().unwrap();
                Some((name, DVec3::new(next(), next(), next())))
            })
            .collect();
        let landmarks = field.landmarks();
        assert_eq!(sites.len(), landmarks.len());
        for (landmark, (name, position)) in landmarks.iter().zip(sites) {
            assert_eq!(landmark.name, name);
            assert!(landmark.position.abs_diff_eq(position, 1e-9), "{name}: {} in the model", position);
        }
    }

    #[test]
    fn landmarks_stand_where_the_models_have_them() {
        check_model(Field::FIFA, include_str!("../../../models/fields/fifa/field.xml"));
        check_model(Field::FIFA7VS7, include_str!("../../../models/fields/fifa7vs7/field.xml"));
    }

    #[test]
    fn areas() {
        let field = Field::FIFA7VS7;
        assert_eq!(field.goalie_area(Side::Left).max, DVec2::new(-23.5, 3.65));
        assert_eq!(field.goalie_area(Side::Right).min, DVec2::new(23.5, -3.65));
        assert_eq!(field.goalie_area(Side::Left).center(), DVec2::new(-25.5, 0.0));
        assert_eq!(field.penalty_area(Side::Right).min, DVec2::new(18.5, -8.25));
        for (x, y, inside) in [(-27.5, 3.65, true), (-23.5, 0.0, true), (-23.49, 0.0, false), (-27.51, 0.0, false)] {
            assert_eq!(field.goalie_area(Side::Left).contains(DVec2::new(x, y)), inside, "{x} {y}");
        }
    }

    #[test]
    fn goals() {
        for (side, x, y, z, inside) in [
            (Side::Right, 27.5, 0.0, 0.0, true),
            (Side::Right, 28.5, 1.83, 1.83, true),
            (Side::Right, 28.6, 0.0, 0.2, false),
            (Side::Right, 28.0, 0.0, 1.9, false),
            (Side::Right, 28.0, 1.84, 0.2, false),
            (Side::Right, -28.0, 0.0, 0.2, false),
            (Side::Left, -28.0, 0.0, 0.2, true),
            (Side::Left, -27.4, 0.0, 0.2, false),
        ] {
            assert_eq!(Field::FIFA7VS7.goal_contains(side, DVec3::new(x, y, z)), inside, "{side:?} {x} {y} {z}");
        }
    }

    #[test]
    fn fields_have_names() {
        assert_eq!(Field::by_name("fifa").map(|f| f.length), Some(105.0));
        assert_eq!(Field::by_name("fifa7vs7").map(|f| f.length), Some(55.0));
        assert_eq!(Field::by_name("beach"), None);
    }
}
