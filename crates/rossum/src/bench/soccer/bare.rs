//! The physics of the same game alone: plain `mj_step`, with the same robots, positions and motor commands.

use std::time::Duration;

use anyhow::ensure;
use physics::{Pose, Sim};
use world::{Action, JointTarget, SessionId, World};

use super::{
    super::{now, t1_setup},
    script::{GAINS, MOTORS, angle_deg, position},
};

pub(super) struct BarePhysics {
    world: World,
    twin: Sim,
    steps_per_tick: u32,
    tick: usize,
}

impl BarePhysics {
    pub(super) fn new(robots: usize) -> anyhow::Result<Self> {
        let mut setup = t1_setup(robots)?;
        for (index, robot) in setup.robots.iter_mut().enumerate() {
            let [x, y] = position(index);
            robot.pose = Pose::at(x, y, 0.0);
        }
        let (world, twin) = (World::new(&setup)?, World::new(&setup)?.into_sim());
        Ok(Self { world, twin, steps_per_tick: setup.steps_per_tick, tick: 0 })
    }

    /// Wall time of a number of cycles. They are first simulated in full, to record the motor commands, and then
    /// repeated by the bare engine.
    pub(super) fn measure(&mut self, cycles: usize) -> anyhow::Result<Duration> {
        let before = self.world.sim().state();
        let mut controls = Vec::new();
        for _ in 0..cycles {
            self.play();
            let sim = self.world.sim();
            controls.push(sim.model().actuators().map(|actuator| sim.ctrl(actuator)).collect::<Vec<_>>());
        }
        self.twin.carry_over(self.world.sim());
        self.twin.restore(&before)?;
        let actuators: Vec<_> = self.twin.model().actuators().collect();
        let begin = now();
        for values in &controls {
            for (actuator, value) in actuators.iter().zip(values) {
                self.twin.set_ctrl(*actuator, *value);
            }
            for _ in 0..self.steps_per_tick {
                self.twin.step_unguarded();
            }
        }
        let took = now().duration_since(begin);
        ensure!(
            self.twin.hash() == self.world.sim().hash(),
            "the bare engine diverged from the world: the comparison is invalid"
        );
        Ok(took)
    }

    fn play(&mut self) {
        let catalogue = self.world.catalogue().clone();
        for (index, agent) in catalogue.agents.iter().enumerate() {
            let action = |(motor, name): (usize, &str)| {
                let swing = MOTORS.into_iter().find(|swing| swing.0 == name)?;
                let (q, (kp, kd)) = (angle_deg(index, self.tick, swing).to_radians(), GAINS);
                Some(Action::Joint { motor, target: JointTarget { q, dq: 0.0, kp, kd, tau: 0.0 } })
            };
            let names = agent.motors.iter().map(|motor| motor.name.as_str()).enumerate();
            self.world.stage(agent.id, SessionId(0), self.tick as u64, names.filter_map(action).collect());
        }
        self.world.tick();
        self.tick += 1;
    }
}
