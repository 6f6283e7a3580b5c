//! The chart of an evolutionary run: fitness and diversity by generation.

use evolve::run::{Generation, thinned};

use super::{Anchor, Svg};
use crate::table::short;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const GREY: &str = "#666";
const BEST: &str = "#c2410c";
const MEAN: &str = "#0f766e";
const BAND: &str = "#0f766e";
const DIVERSITY: &str = "#6d28d9";
/// Colours of two populations.
const POPULATIONS: [&str; 2] = ["#15803d", "#c2410c"];
/// Maximum number of points of a curve.
const MAX_POINTS: usize = 2_000;

/// Draws the chart of a population.
pub(crate) fn draw(title: &str, history: &[Generation]) -> Svg {
    let (mut svg, fitness, diversity) = panels(title, &[history]);
    let of = |value: fn(&Generation) -> f64| fitness.curve(history, value);
    let band = of(|line| line.best).chain(of(|line| line.worst).collect::<Vec<_>>().into_iter().rev());
    svg.polygon(band, &format!(r#"fill="{BAND}" fill-opacity="0.10""#));
    svg.line(of(|line| line.mean), &format!(r#"stroke="{MEAN}" stroke-width="2""#));
    svg.line(of(|line| line.best), &format!(r#"stroke="{BEST}" stroke-width="1" stroke-opacity="0.5""#));
    svg.line(of(|line| line.best_so_far), &format!(r#"stroke="{BEST}" stroke-width="2.5""#));
    svg.line(diversity.curve(history, |line| line.diversity), &format!(r#"stroke="{DIVERSITY}" stroke-width="2""#));
    let last = history.last();
    let said = |name: &str, value: fn(&Generation) -> f64| {
        format!("{name}{}", last.map_or(String::new(), |last| format!(" {}", short(value(last)))))
    };
    legend(&mut svg, &[(BEST, said("best so far", |line| line.best_so_far)), (MEAN, said("mean", |line| line.mean))]);
    svg
}

/// Draws the chart of two populations, each with its name. A fitness that depends on the others has no best so far.
pub(crate) fn draw_two(title: &str, populations: [(&str, &[Generation]); 2]) -> Svg {
    let (mut svg, fitness, diversity) = panels(title, &populations.map(|(_, history)| history));
    let mut entries = Vec::new();
    for ((name, history), color) in populations.into_iter().zip(POPULATIONS) {
        let of = |value: fn(&Generation) -> f64| fitness.curve(history, value);
        svg.line(of(|line| line.mean), &format!(r#"stroke="{color}" stroke-width="1.5" stroke-dasharray="5 4""#));
        svg.line(of(|line| line.best), &format!(r#"stroke="{color}" stroke-width="2.5""#));
        svg.line(diversity.curve(history, |line| line.diversity), &format!(r#"stroke="{color}" stroke-width="2""#));
        let last =
            history.last().map_or(String::new(), |last| format!(" {}, mean {}", short(last.best), short(last.mean)));
        entries.push((color, format!("{name}: best{last}")));
    }
    legend(&mut svg, &entries);
    svg
}

/// The axes for fitness and diversity.
fn panels(title: &str, histories: &[&[Generation]]) -> (Svg, Panel, Panel) {
    let mut svg = Svg::new(WIDTH, 560.0);
    svg.text([LEFT, 32.0], 19.0, "#111", Anchor::Start, title);
    let all = || histories.iter().copied().flatten();
    let last = all().map(|line| line.generation).max().unwrap_or_default().max(2);
    let along = Axis::new(1.0, last as f64);
    let values = all().flat_map(|line| [line.best, line.mean, line.worst, line.best_so_far]);
    let fitness = Panel { top: 60.0, bottom: 400.0, along, up: Axis::around(values) };
    fitness.grid(&mut svg, "fitness");
    let diversities = all().map(|line| line.diversity).chain([0.0]);
    let diversity = Panel { top: 430.0, bottom: 510.0, along, up: Axis::around(diversities) };
    diversity.grid(&mut svg, "diversity");
    svg.text([(LEFT + WIDTH - RIGHT) / 2.0, 548.0], 13.0, GREY, Anchor::Middle, "generation");
    for (step, at) in along.ticks() {
        let [x, y] = diversity.at(at, diversity.up.low);
        svg.text([x, y + 17.0], 12.0, GREY, Anchor::Middle, &number(at, step));
    }
    (svg, fitness, diversity)
}

fn legend(svg: &mut Svg, entries: &[(&str, String)]) {
    let mut x = WIDTH - RIGHT;
    for (color, text) in entries.iter().rev() {
        svg.text([x, 50.0], 13.0, color, Anchor::End, text);
        // browsers may draw it in a wider font than ours
        x -= 8.0 + 7.8 * text.chars().count() as f64;
        svg.line([[x - 16.0, 46.0], [x, 46.0]], &format!(r#"stroke="{color}" stroke-width="3""#));
        x -= 40.0;
    }
}

/// An axis from `low` to `high`, never empty, with a tick every `step`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn new(low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, step: round_step(high - low) }
    }

    /// From a tick below all values to one above.
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Self::new(0.0, 1.0);
        }
        // so that it has an extent even where adding a half changes nothing
        let half = if high > low { 0.0 } else { (0.5_f64).max(high.abs() * 1e-6) };
        let (low, high) = ((low - half).max(f64::MIN / 4.0), (high + half).min(f64::MAX / 4.0));
        let step = round_step(high - low);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// The ticks and their positions.
    fn ticks(self) -> impl Iterator<Item = (f64, f64)> {
        let step = self.step;
        let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(move |n| (step, n as f64 * step))
    }
}

/// 1, 2 or 5 times a power of ten, such that about five steps fit into the extent.
fn round_step(extent: f64) -> f64 {
    let rough = extent / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|&step| step >= rough).unwrap_or(10.0 * power)
}

#[derive(Clone, Copy)]
struct Panel {
    top: f64,
    bottom: f64,
    along: Axis,
    up: Axis,
}

impl Panel {
    fn at(self, x: f64, y: f64) -> [f64; 2] {
        let part = |axis: Axis, value: f64| (value.clamp(axis.low, axis.high) - axis.low) / (axis.high - axis.low);
        [LEFT + part(self.along, x) * (WIDTH - LEFT - RIGHT), self.bottom + part(self.up, y) * (self.top - self.bottom)]
    }

    fn curve(self, history: &[Generation], value: fn(&Generation) -> f64) -> impl Iterator<Item = [f64; 2]> {
        thinned(history, MAX_POINTS).map(move |line| self.at(line.generation as f64, value(line)))
    }

    fn grid(self, svg: &mut Svg, name: &str) {
        for (step, value) in self.up.ticks() {
            let [x, y] = self.at(self.along.low, value);
            svg.line([[x, y], [WIDTH - RIGHT, y]], r##"stroke="#e5e5e5" stroke-width="1""##);
            svg.text([x - 8.0, y + 4.0], 12.0, GREY, Anchor::End, &number(value, step));
        }
        let middle = (self.top + self.bottom) / 2.0;
        svg.push(format_args!(
            r#"<text transform="translate(20 {middle}) rotate(-90)" font-size="13" fill="{GREY}" text-anchor="middle">{name}</text>"#
        ));
    }
}

/// Formats a number with as many decimal places as the step has.
fn number(value: f64, step: f64) -> String {
    if step >= 1e6 {
        return format!("{value:.1e}");
    }
    let places = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let cases: [(&[f64], &[&str]); 5] = [
            (&[0.13, 0.87], &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            (&[-3.0, 41.0], &["-10", "0", "10", "20", "30", "40", "50"]),
            (&[2.0, 2.0], &["1.4", "1.6", "1.8", "2.0", "2.2", "2.4", "2.6"]),
            (&[3.0e9, 8.0e9], &["3.0e9", "4.0e9", "5.0e9", "6.0e9", "7.0e9", "8.0e9"]),
            (&[], &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ];
        for (values, expected) in cases {
            let axis = Axis::around(values.iter().copied());
            let ticks: Vec<String> = axis.ticks().map(|(step, value)| number(value, step)).collect();
            assert_eq!(ticks, expected, "{values:?}");
        }
    }

    #[test]
    fn a_chart_of_nothing_or_one_generation_can_be_drawn() {
        let line = Generation {
            generation: 1,
            evaluations: 4,
            best: 1.0,
            mean: 0.5,
            worst: 0.0,
            best_so_far: 1.0,
            diversity: 0.1,
            hidden: 0,
        };
        let huge = Generation { best: 1.7e308, mean: -1.7e308, worst: f64::MIN, best_so_far: f64::MAX, ..line.clone() };
        for history in [&[][..], &[line], &[huge]] {
            for chart in [draw("a run", history), draw_two("a run", [("prey", history), ("predator", &[])])] {
                let text = chart.finish();
                assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }
}
