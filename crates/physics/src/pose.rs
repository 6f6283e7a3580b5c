//! Rigid poses.

/// Position and orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position, in m; world frame unless said otherwise.
    pub pos: [f64; 3],
    /// Orientation as a unit quaternion, w x y z.
    pub quat: [f64; 4],
}

impl Pose {
    /// At the origin, without rotation.
    pub const IDENTITY: Self = Self { pos: [0.0; 3], quat: [1.0, 0.0, 0.0, 0.0] };

    /// At `x`, `y`, `z` (m), without rotation.
    pub const fn at(x: f64, y: f64, z: f64) -> Self {
        Self { pos: [x, y, z], ..Self::IDENTITY }
    }

    /// At `x`, `y`, `z` (m), rotated about the z axis by `yaw_rad` (rad, counter-clockwise seen from above).
    pub fn facing(x: f64, y: f64, z: f64, yaw_rad: f64) -> Self {
        let (sin, cos) = (yaw_rad / 2.0).sin_cos();
        Self { pos: [x, y, z], quat: [cos, 0.0, 0.0, sin] }
    }

    /// Composes two poses: `world_from_torso.then(&torso_from_head)` is `world_from_head`.
    pub fn then(&self, pose: &Self) -> Self {
        let turned = self.turn(pose.pos);
        let pos = [self.pos[0] + turned[0], self.pos[1] + turned[1], self.pos[2] + turned[2]];
        let ([aw, ax, ay, az], [bw, bx, by, bz]) = (self.quat, pose.quat);
        let quat = [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ];
        Self { pos, quat }
    }

    /// The inverse: `self.then(&self.inverse())` is the identity.
    pub fn inverse(&self) -> Self {
        let [w, x, y, z] = self.quat;
        let back = Self { pos: [0.0; 3], quat: [w, -x, -y, -z] };
        let pos = back.turn(self.pos).map(|v| -v);
        Self { pos, ..back }
    }

    /// The same pose with a unit quaternion; without rotation if the quaternion is zero.
    pub(crate) fn normalized(&self) -> Self {
        let length = self.quat.iter().map(|v| v * v).sum::<f64>().sqrt();
        let quat = if length > 0.0 { self.quat.map(|v| v / length) } else { Self::IDENTITY.quat };
        Self { pos: self.pos, quat }
    }

    /// Rotates a direction from the frame of `self` into the outer frame.
    pub fn turn(&self, direction: [f64; 3]) -> [f64; 3] {
        let [w, x, y, z] = self.quat;
        let q = [x, y, z];
        // v + 2 q × (q × v + w v)
        let inner = cross(q, direction);
        let inner = [inner[0] + w * direction[0], inner[1] + w * direction[1], inner[2] + w * direction[2]];
        let outer = cross(q, inner);
        [direction[0] + 2.0 * outer[0], direction[1] + 2.0 * outer[1], direction[2] + 2.0 * outer[2]]
    }

    /// Quaternion of a rotation matrix in row-major order.
    pub(crate) fn quat_of_matrix(m: &[f64; 9]) -> [f64; 4] {
        let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = *m;
        // the largest component is computed first: it is at least 1/2, so dividing by it is safe
        let traces = [xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy];
        let largest = (1..4).fold(0, |best, i| if traces[i] > traces[best] { i } else { best });
        let root = (1.0 + traces[largest]).max(0.0).sqrt();
        let (half, scale) = (root / 2.0, 0.5 / root);
        match largest {
            0 => [half, (zy - yz) * scale, (xz - zx) * scale, (yx - xy) * scale],
            1 => [(zy - yz) * scale, half, (xy + yx) * scale, (xz + zx) * scale],
            2 => [(xz - zx) * scale, (xy + yx) * scale, half, (yz + zy) * scale],
            _ => [(yx - xy) * scale, (xz + zx) * scale, (yz + zy) * scale, half],
        }
    }

    /// Smallest rotation of the z axis to `direction`, which need not have unit length.
    pub(crate) fn quat_of_z_axis(direction: [f64; 3]) -> [f64; 4] {
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        let [x, y, z] = direction.map(|v| v / length);
        let w = 1.0 + z;
        if !(w.is_finite() && w > 1e-12) {
            return [0.0, 1.0, 0.0, 0.0];
        }
        let norm = (w * w + x * x + y * y).sqrt();
        [w / norm, -y / norm, x / norm, 0.0]
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn poses_compose() {
        let world_from_robot = Pose::facing(1.0, 2.0, 0.0, FRAC_PI_2);
        let head = world_from_robot.then(&Pose::at(0.5, 0.0, 1.0));
        assert!(close(&head.pos, &[1.0, 2.5, 1.0]), "{head:?}");
        let back = head.then(&head.inverse());
        assert!(close(&back.pos, &Pose::IDENTITY.pos) && close(&back.quat, &Pose::IDENTITY.quat), "{back:?}");
    }

    #[test]
    fn quaternions_of_matrices_and_axes() {
        for quat in [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.5, -0.5, 0.5, 0.5], [0.6, 0.0, 0.0, 0.8]] {
            let pose = Pose { pos: [0.0; 3], quat };
            let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| pose.turn(axis));
            let matrix = [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
            let again = Pose::quat_of_matrix(&matrix);
            let sign = quat.iter().zip(&again).map(|(a, b)| a * b).sum::<f64>().signum();
            assert!(close(&quat, &again.map(|v| v * sign)), "{quat:?} {again:?}");
        }
        for axis in [[0.0, 0.0, 2.0], [0.0, 0.0, -1.0], [3.0, 0.0, 0.0], [0.0, -1.0, 1.0]] {
            let length = axis.iter().map(|v| v * v).sum::<f64>().sqrt();
            let turned = Pose { pos: [0.0; 3], quat: Pose::quat_of_z_axis(axis) }.turn([0.0, 0.0, length]);
            assert!(close(&turned, &axis), "{axis:?} {turned:?}");
        }
    }
}
