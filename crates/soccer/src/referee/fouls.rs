//! Fouls with the ball: stretched arms, and the taker of a set play touching it twice.

use glam::DVec3;

use super::{CycleView, Referee};
use crate::scene::{BodyPart, Contact, Foul, Player, PlayerId};

/// A camera lower than this belongs to a robot that has fallen, in m.
const STANDING_CAMERA: f64 = 0.45;

impl Referee {
    pub(super) fn check_ball_fouls(&mut self, contacts: &[Contact], view: &mut CycleView<'_>) {
        let Some(toucher) = self.touches.active else { return };
        if self.is_hand_foul(toucher, contacts, view) {
            self.call(toucher, Foul::Hand);
            self.award_direct_free_kick(toucher.side.other(), view);
            return;
        }
        self.lift_bans(toucher, view);
        let again = self.touches.again(self.now);
        if again.is_some_and(|(player, after)| self.barred == Some(player) && after > self.rules.second_touch) {
            self.call(toucher, Foul::DoubleTouch);
            self.award_free_kick(toucher.side.other(), view);
        }
    }

    /// Touches of other players lift what a set play has banned.
    fn lift_bans(&mut self, toucher: PlayerId, view: &CycleView<'_>) {
        if self.barred.is_some_and(|barred| barred != toucher) {
            self.barred = None;
        }
        // the touch that takes the set play lifts nothing
        if let Some(ban) = self.no_score
            && self.touches.last.is_some()
            && (toucher.side != ban.side || view.ball_spot().distance(ban.from) > self.field.circle_radius)
        {
            self.no_score = None;
        }
    }

    fn is_hand_foul(&self, toucher: PlayerId, contacts: &[Contact], view: &CycleView<'_>) -> bool {
        if toucher.is_goalie() && self.field.penalty_area(toucher.side).contains(view.ball_spot()) {
            return false;
        }
        let Some(player) = view.players.iter().find(|p| p.id == toucher) else { return false };
        contacts.iter().filter(|contact| contact.player == toucher).any(|contact| match contact.part {
            BodyPart::Arm { position, radius } => is_stretched(player, position, radius),
            BodyPart::Other => false,
        })
    }
}

/// Whether a hand or forearm is away from where a robot needs it, for walking or for getting up.
fn is_stretched(player: &Player, arm: DVec3, radius: f64) -> bool {
    let torso_from_field = player.torso.rotation.inverse();
    let center = player.torso.position + player.torso.rotation * player.torso_box.center;
    let half = player.torso_box.half_size;
    if player.camera_height >= STANDING_CAMERA {
        let arm_in_box = torso_from_field * (arm - center);
        arm_in_box.x.abs() > half.x + 3.0 * radius
            || arm_in_box.y.abs() > half.y + 5.0 * radius
            || arm.z > player.head_top.max(player.camera_height)
    } else {
        let (x_axis, y_axis) = (player.torso.rotation * DVec3::X, player.torso.rotation * DVec3::Y);
        let on_its_side = y_axis.z.abs() > x_axis.z.abs();
        let arm_in_torso = torso_from_field * (arm - player.torso.position);
        arm.z > center.z + 2.0 * half.max_element() || (on_its_side && arm_in_torso.z > player.camera_along_torso)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use glam::{DQuat, DVec2};

    use super::*;
    use crate::{
        rules::Side,
        scene::{Pose, TorsoBox},
    };

    /// A robot of the T1's measures, standing or fallen, with its arm at `arm` in the torso's frame.
    fn check(rotation: DQuat, height: f64, arm: [f64; 3], expected: bool) {
        let position = DVec3::new(3.0, -2.0, height);
        let player = Player {
            id: PlayerId::new(Side::Left, 2),
            active: true,
            torso: Pose { position, rotation },
            torso_box: TorsoBox { center: DVec3::new(0.06, 0.0, 0.12), half_size: DVec2::new(0.075, 0.1) },
            camera_height: (position + rotation * DVec3::new(0.1125, 0.0, 0.42485)).z,
            camera_along_torso: 0.42485,
            head_top: (position + rotation * DVec3::new(0.0725, 0.0, 0.41485)).z + 0.08,
        };
        let found = is_stretched(&player, position + rotation * DVec3::from(arm), 0.03);
        assert_eq!(found, expected, "arm at {arm:?}, rotation {rotation}, torso at {height} m");
    }

    #[test]
    fn standing() {
        let tilted = DQuat::from_rotation_y(0.3);
        for (rotation, arm, expected) in [
            (DQuat::IDENTITY, [0.224, 0.0, 0.0], false),
            (DQuat::IDENTITY, [0.226, 0.0, 0.0], true),
            (DQuat::IDENTITY, [-0.104, 0.0, 0.0], false),
            (DQuat::IDENTITY, [-0.106, 0.0, 0.0], true),
            (DQuat::IDENTITY, [0.0, 0.249, 0.0], false),
            (DQuat::IDENTITY, [0.0, 0.251, 0.0], true),
            (DQuat::IDENTITY, [0.0, -0.251, 0.0], true),
            (DQuat::IDENTITY, [0.0, 0.0, 0.494], false),
            (DQuat::IDENTITY, [0.0, 0.0, 0.496], true),
            (DQuat::IDENTITY, [0.0, 0.0, -0.6], false),
            (tilted, [0.0, 0.0, 0.475], false),
            (tilted, [0.0, 0.0, 0.477], true),
            (tilted, [0.226, 0.0, 0.0], true),
        ] {
            check(rotation, 0.6735, arm, expected);
        }
    }

    #[test]
    fn fallen() {
        let (face_down, on_back) = (DQuat::from_rotation_y(FRAC_PI_2), DQuat::from_rotation_y(-FRAC_PI_2));
        let (on_right, on_left) = (DQuat::from_rotation_x(FRAC_PI_2), DQuat::from_rotation_x(-FRAC_PI_2));
        for (rotation, arm, expected) in [
            (face_down, [-0.139, 0.0, 0.0], false),
            (face_down, [-0.141, 0.0, 0.0], true),
            (face_down, [1.0, 0.0, 0.0], false),
            (face_down, [0.0, 1.0, 0.0], false),
            (face_down, [0.0, 0.0, 1.0], false),
            (on_back, [0.259, 0.0, 0.0], false),
            (on_back, [0.261, 0.0, 0.0], true),
            (on_right, [0.0, 0.199, 0.0], false),
            (on_right, [0.0, 0.201, 0.0], true),
            (on_right, [0.0, 0.0, 0.424], false),
            (on_right, [0.0, 0.0, 0.426], true),
            (on_left, [0.0, -0.201, 0.0], true),
            (on_left, [0.0, 0.0, 0.426], true),
            (on_left, [0.0, 0.0, -1.0], false),
        ] {
            check(rotation, 0.1, arm, expected);
        }
    }
}
