//! Any lines from a Population Manager: nothing panics, every order fits the nets that were announced and can be tested,
//! and every answer is a whole line that decodes.

#![no_main]

use evolve::robot::{Design, Trial};
use libfuzzer_sys::fuzz_target;
use server::session::evo::robot::{Heard, ManagerSession};
use std::sync::{Arc, LazyLock};
use wire::evo::{FromRobot, Line, LineBuffer};

static DESIGN: LazyLock<Arc<Design>> =
    LazyLock::new(|| Arc::new(Design::built_in("platine").expect("the body is sound")));

fuzz_target!(|input: &[u8]| {
    let mut session = ManagerSession::new(1, DESIGN.parameters(), 3);
    let (mut lines, mut out) = (LineBuffer::default(), Vec::new());
    lines.push(input);
    while let Some(line) = lines.next_line().expect("it is short") {
        match session.line(line, &mut out) {
            Heard::Done | Heard::Refused(_) => {}
            Heard::Over(_) => break,
            Heard::Order(order) => {
                let (generation, individual) = (order.key.generation, order.key.individual);
                Trial::new(Arc::clone(&DESIGN), &order.genotype, generation, individual).expect("it fits the net");
                session.tested(order.key, generation as f64, &mut out).expect("it is finite");
            }
        }
    }
    for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        FromRobot::decode(line.strip_suffix(b"\r").expect("a whole end")).expect("a message of ours");
    }
});
