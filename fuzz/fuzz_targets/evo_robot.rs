//! Arbitrary lines from a Population Manager: nothing panics, every individual fits the announced nets and can be
//! evaluated, and every reply is a complete line that decodes.

#![no_main]

use evolve::robot::{Design, EvaluationTask};
use libfuzzer_sys::fuzz_target;
use session::evo::{LineServer, robot::RobotSimulator};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use wire::evo::{FromRobot, Line, LineBuffer};

static DESIGN: LazyLock<Arc<Design>> =
    LazyLock::new(|| Arc::new(Design::built_in("platine").expect("the body is sound")));

fuzz_target!(|input: &[u8]| {
    let mut simulator = RobotSimulator::new(DESIGN.parameters().clone(), 3);
    simulator.open(1, 0);
    let mut lines = LineBuffer::default();
    lines.push(input);
    loop {
        let received = simulator.receive(1, &mut lines, || Duration::ZERO);
        let mut pending = received.outputs;
        while let Some(request) = pending.pop() {
            let (generation, individual) = (request.key.generation, request.key.individual);
            EvaluationTask::new(Arc::clone(&DESIGN), &request.genotype, generation, individual)
                .expect("it fits the net");
            pending.extend(simulator.evaluated(request.key, generation as f64).expect("it is finite"));
        }
        if received.lines == 0 || received.close.is_some() {
            break;
        }
    }
    let out = simulator.output(1).map(std::mem::take).unwrap_or_default();
    for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        FromRobot::decode(line.strip_suffix(b"\r").expect("a whole end")).expect("a message of ours");
    }
});
