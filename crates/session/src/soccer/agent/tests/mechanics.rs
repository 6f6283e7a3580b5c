//! What agents measure and what their motors do, compared with mechanics worked out by hand.

use super::*;

/// Length of a physics step, in s; a cycle has four.
const STEP: f64 = 0.005;
/// Moment of inertia of the lever, in kg m².
const INERTIA: f64 = 0.1;
/// Largest torque at the lever's joint, in N m.
const MAX_TORQUE: f64 = 3.0;
/// Distance of the lever's tip from its axis, in m.
const RADIUS: f64 = 0.5;

/// A robot without weight whose torso is too heavy to be moved, with a lever that turns about its z axis. At the tip are
/// sensors of many kinds, with names that say nothing.
fn lever(gear: f64) -> Source {
    let text = format!(
        r#"<mujoco>
             <worldbody>
               <body name="torso" pos="0 0 1" gravcomp="1">
                 <freejoint/>
                 <inertial pos="0 0 0" mass="1e5" diaginertia="1e4 1e4 1e4"/>
                 <body name="lever" gravcomp="1">
                   <joint name="lever" axis="0 0 1" actuatorfrcrange="-{MAX_TORQUE} {MAX_TORQUE}"/>
                   <inertial pos="0 0 0" mass="100" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
                   <site name="tip" pos="{RADIUS} 0 0"/>
                 </body>
               </body>
             </worldbody>
             <actuator>
               <motor name="lever_tau" joint="lever" gear="{gear}"/>
               <position name="lever_pos" joint="lever" gear="{gear}"/>
               <velocity name="lever_vel" joint="lever" gear="{gear}"/>
             </actuator>
             <sensor>
               <velocimeter name="a_touch" site="tip"/>
               <touch name="Tip/left" site="tip"/>
               <force name="b_touch" site="tip"/>
               <jointvel name="dq_lever" joint="lever"/>
               <jointvel name="c_touch" joint="lever"/>
               <jointpos name="d_touch" joint="lever"/>
               <rangefinder name="e_touch" site="tip"/>
               <actuatorfrc name="f_touch" actuator="lever_tau"/>
               <accelerometer name="one" site="tip"/>
               <framelinvel name="g_touch" objtype="site" objname="tip"/>
               <clock name="h_touch"/>
               <touch name="Info/touch" site="tip"/>
               <gyro name="two" site="tip"/>
               <jointpos name="q_lever" joint="lever"/>
               <framequat name="three" objtype="site" objname="tip"/>
               <framepos name="four" objtype="site" objname="tip"/>
               <user name="i_touch" dim="1"/>
               <touch name="right" site="tip"/>
             </sensor>
           </mujoco>"#
    );
    Source::from_text("lever", &text, &Limits::default()).unwrap()
}

/// A sequential game, with one of these robots in it.
fn game_with(robot: Source) -> (TestGame, usize) {
    let mut game = TestGame::sync(true);
    game.models = Arc::new(Models([("lever".to_owned(), robot)].into_iter().collect()));
    let agent = game.join("lever Reds 2");
    assert_eq!(game.closed(agent), None);
    (game, agent)
}

#[test]
fn sensors_are_told_by_what_they_measure() {
    let (game, agent) = game_with(lever(1.0));
    let (_, sensors) = game.last_text(agent).split_once("(sr 0))").unwrap();
    assert_eq!(
        shape(sensors),
        "(quat (n three) (q # # # #))(pos (n four) (p # # #))(GYR (n two) (rt # # #))(ACC (n one) (a # # #))\
         (TCH n Tip/left val #)(TCH n right val #)(HJ (n q_lever)(ax #)(vx #))"
    );
}

/// The lever, calculated.
#[derive(Debug, Default)]
struct Lever {
    angle: f64,
    rate: f64,
}

impl Lever {
    /// Acceleration of the lever by a command: q and dq in deg and deg/s, kp, kd, tau.
    fn acceleration(&self, gear: f64, [q, dq, kp, kd, tau]: [f64; 5]) -> f64 {
        let force = kp * (q.to_radians() - gear * self.angle) + kd * (dq.to_radians() - gear * self.rate) + tau;
        (gear * force).clamp(-MAX_TORQUE, MAX_TORQUE) / INERTIA
    }

    fn step(&mut self, acceleration: f64) {
        self.rate += STEP * acceleration;
        self.angle += STEP * self.rate;
    }
}

/// Compares what is told to agents with what was calculated, in the units of the wire.
fn check(what: &str, told: f64, calculated: f64) {
    assert!((told - calculated).abs() < 0.02 + 0.002 * calculated.abs(), "{what}: {told} instead of {calculated}");
}

#[test]
fn motors_obey_their_law_and_sensors_measure_the_motion() {
    // q, dq, kp, kd, tau
    for (gear, command) in [
        (1.0, [0.0, 0.0, 0.0, 0.0, 1.0]),
        (1.0, [30.0, 0.0, 2.0, 0.0, 0.0]),
        (1.0, [0.0, -90.0, 0.0, 1.0, 0.0]),
        (1.0, [30.0, -90.0, 0.0, 0.0, 0.0]),
        (1.0, [-40.0, 30.0, 1.5, 0.2, 0.5]),
        (1.0, [0.0, 0.0, 0.0, 0.0, -100.0]),
        (1.0, [90.0, 0.0, 20.0, 0.0, 0.0]),
        (10.0, [40.0, 100.0, 0.05, 0.01, 0.02]),
    ] {
        let (mut game, agent) = game_with(lever(gear));
        let [q, dq, kp, kd, tau] = command;
        game.send(agent, &format!("(lever {q} {dq} {kp} {kd} {tau})(syn)"));
        let mut lever = Lever::default();
        for cycle in 1..=15 {
            game.cycles(1);
            // the command holds until there is another one
            game.send(agent, "(syn)");
            // sensors show the state that the last of four steps starts from
            let steps = if cycle == 1 { 3 } else { 4 };
            for _ in 0..steps {
                lever.step(lever.acceleration(gear, command));
            }
            let what = format!("gear {gear}, {command:?}, cycle {cycle}");
            let perception = game.last(agent);
            let joint = &perception.joints[0];
            check(&format!("{what}: angle"), joint.angle_deg.get(), lever.angle.to_degrees());
            check(&format!("{what}: velocity"), joint.velocity_deg.get(), lever.rate.to_degrees());
            let turning = perception.gyros[0].values.map(|value| value.get());
            for (value, calculated) in turning.into_iter().zip([0.0, 0.0, lever.rate.to_degrees()]) {
                check(&format!("{what}: gyro"), value, calculated);
            }
            // the axes of the tip: outwards, along its path, up
            let towards = [-lever.rate.powi(2), lever.acceleration(gear, command)].map(|value| value * RADIUS);
            let acceleration = perception.accelerometers[0].values.map(|value| value.get());
            for (value, calculated) in acceleration.into_iter().zip([towards[0], towards[1], 9.81]) {
                check(&format!("{what}: acceleration"), value, calculated);
            }
        }
        assert!(lever.rate != 0.0 || command[2..] == [0.0; 3], "{command:?} moves it");
    }
}

#[test]
fn perceptions_show_the_state_before_the_last_physics_step() {
    let mut game = TestGame::sync(true);
    let (agent, trainer) = (game.join("T1 Reds 2"), game.watch());
    game.send(trainer, "(agent (unum 2)(team Reds)(move -3 0 5 0))");
    game.send(agent, "(syn)");
    game.cycles(1);
    // it falls from 5 m: after n steps by g (5 ms)² n (n + 1) / 2
    for (cycle, height) in [(1, 4.998), (2, 4.993), (3, 4.983), (4, 4.97)] {
        game.send(agent, "(syn)");
        game.cycles(1);
        assert_eq!(game.position(agent), [-3.0, 0.0, height], "cycle {cycle}");
        let acceleration = game.last(agent).accelerometers[0].values.map(|value| value.get());
        assert!(acceleration.iter().all(|value| value.abs() < 0.02), "{acceleration:?} in free fall");
    }
}
