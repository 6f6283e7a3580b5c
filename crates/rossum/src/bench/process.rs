//! Start-up time and memory of the server.

use super::{Figure, Goal, Options, median, now};
use crate::process::{Server, memory_of};

const STARTS: usize = 5;
const ROBOTS: usize = 22;

pub(super) fn measure(_: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let began = now();
        let server = Server::start("playground")?;
        starts.push(now().duration_since(began).as_secs_f64());
        drop(server);
    }
    let server = Server::start_text(&scenario_with_22("realtime"))?;
    let (_, memory) = memory_of(server.id())?;
    let detail = format!("playground, median of {STARTS}");
    Ok(vec![
        Figure { what: "start to listening", detail, value: median(starts), goal: Goal::AtMost(1.0), unit: "s" },
        Figure {
            what: "memory with 22 T1",
            detail: "peak of the server process".to_owned(),
            value: memory,
            goal: Goal::AtMost(150.0),
            unit: "MB",
        },
    ])
}

/// A field with 22 robots at this pace.
pub(super) fn scenario_with_22(pace: &str) -> String {
    let mut text = format!("[world]\nfield = \"fifa\"\npace = \"{pace}\"\n");
    for index in 0..ROBOTS {
        let (x, y) = (4 * (index % 6), 4 * (index / 6));
        text.push_str(&format!("[[robot]]\nname = \"T1-{index}\"\nmodel = \"T1\"\nposition = [{x}.0, {y}.0, 0.0]\n"));
    }
    text
}
