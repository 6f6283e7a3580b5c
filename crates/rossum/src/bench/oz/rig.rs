//! A server with all features, its operator, and an observer that records ticks.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use client::oz::{Event, Oz};
use puppet::{
    servo::index,
    speech::{Voice, VoiceSettings, espeak::Espeak, find_espeak, script},
};
use server::{
    Scenario,
    protocol::EndpointId,
    serve::Server,
    sim_thread::{Delivery, Ticks},
};
use tokio::{runtime::Runtime, sync::watch};

use super::super::{Figure, Goal, now};

/// The spoken text; the nod belongs to the word `here`.
const SENTENCE: &str = "Now look at me, [yess] here I am.";
const NOD: u32 = 5;
/// Threshold of neck motion per tick, in rad: one degree per second. Speaking alone moves the neck a tenth of that.
const MOTION: f64 = 0.0002;
/// Pause before each nod, so that the robot comes to rest.
const REST: Duration = Duration::from_millis(700);
/// Time limit of everything here.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) struct Rig {
    runtime: Runtime,
    server: Server,
    operator: Oz,
    sound: PathBuf,
    _folder: Folder,
    observer: Observer,
}

/// A directory that is deleted on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // leftovers in the temporary directory do no harm
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Arrival times and neck angles by tick.
#[derive(Clone, Debug, Default)]
struct TickLog {
    ticks: BTreeMap<u64, (Instant, f64)>,
}

/// Records every tick on its own thread.
struct Observer {
    log: watch::Receiver<TickLog>,
    _thread: JoinHandle<()>,
}

impl Rig {
    pub(super) fn start(picture: &Path) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("rossum-bench-oz-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let sound = folder.join("voice.wav");
        let scenario = folder.join("rig.toml");
        fs::write(&scenario, scenario_text(picture, &sound))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let scenario = Scenario::load(&scenario.display().to_string())?;
        let server = runtime.block_on(Server::start(&scenario, None))?;
        let address = server.addresses().into_iter().find(|address| address.id == EndpointId::Oz).context("no Oz")?;
        let address: SocketAddr = address.address;
        let observer = Observer::start(&server)?;
        let mut operator = Oz::connect(address, TIMEOUT)?;
        operator.set_random_head_weight(0.0)?;
        operator.set_random_eyes_weight(0.7)?;
        operator.set_random_face_weight(0.3)?;
        operator.set_look_at_weight(0.0)?;
        Ok(Self { runtime, server, operator, sound, _folder: Folder(folder), observer })
    }

    /// Speaks a sentence several times. Returns, in ms, the latencies of the first sound and the delays of the nod
    /// after its word.
    pub(super) fn speak(&mut self, rounds: usize) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
        let word = word_time()?;
        let (mut audio, mut motion) = (Vec::new(), Vec::new());
        self.say()?;
        for _ in 0..rounds {
            pause(REST);
            let before = fs::metadata(&self.sound).map_or(0, |file| file.len());
            let said = now();
            self.operator.speak(SENTENCE)?;
            while fs::metadata(&self.sound).map_or(0, |file| file.len()) <= before {
                ensure!(now().duration_since(said) < TIMEOUT, "no sound within the time limit");
                thread::yield_now();
            }
            let heard = now();
            audio.push(heard.duration_since(said).as_secs_f64() * 1e3);
            ensure!(self.operator.wait_for_speak(TIMEOUT)?, "the sentence did not end");
            ensure!(self.operator.wait_for_gesture(TIMEOUT)?, "the nod did not end");
            let due = heard + Duration::from_secs_f64(word);
            let moved = self.observer.first_motion(heard).context("the head did not nod")?;
            let late =
                moved.saturating_duration_since(due).as_secs_f64() - due.saturating_duration_since(moved).as_secs_f64();
            motion.push(late * 1e3);
        }
        Ok((audio, motion))
    }

    fn say(&mut self) -> anyhow::Result<()> {
        self.operator.speak(SENTENCE)?;
        ensure!(self.operator.wait_for_speak(TIMEOUT)?, "the sentence did not end");
        ensure!(self.operator.wait_for_gesture(TIMEOUT)?, "the nod did not end");
        Ok(())
    }

    /// Measures for `time` with all features in motion and speech.
    pub(super) fn watch(&mut self, time: Duration) -> anyhow::Result<LoadStats> {
        self.operator.set_random_head_weight(0.5)?;
        self.operator.set_look_at_weight(1.0)?;
        self.operator.set_look_at(3)?;
        // discard earlier events
        while self.operator.next(Duration::from_millis(1))?.is_some() {}
        let (mut delays, mut frames, mut faces) = (Vec::new(), 0, 0);
        let (began, cpu) = (now(), process_time());
        let mut sentences = 0;
        while now().duration_since(began) < time {
            if self.operator.speaking() == 0 {
                self.operator.speak(SENTENCE)?;
                sentences += 1;
            }
            match self.operator.next(TIMEOUT)?.context("no event within the time limit")? {
                Event::VideoFrame(jpeg) => {
                    frames += 1;
                    let arrived = now();
                    let tick = tick_of(jpeg.as_bytes()).context("a picture without a tick")?;
                    if let Some(taken) = self.observer.time_of(tick) {
                        delays.push(arrived.saturating_duration_since(taken).as_secs_f64() * 1e3);
                    }
                }
                Event::Faces(_) => faces += 1,
                _ => {}
            }
        }
        let took = now().duration_since(began).as_secs_f64();
        let cpu = (process_time() - cpu).as_secs_f64() / took;
        let periods = self.observer.periods(began);
        Ok(LoadStats { took, frames, faces, sentences, delays, periods, cpu })
    }

    pub(super) fn end(self) -> anyhow::Result<()> {
        self.operator.disconnect();
        self.runtime.block_on(self.server.stop());
        Ok(())
    }
}

fn scenario_text(picture: &Path, sound: &Path) -> String {
    format!(
        r#"title = "Bench"
[world]
field = "flat"
timestep = 0.005
steps_per_tick = 2
[server]
free_ports = true
[[robot]]
name = "Alice"
model = "alice"
[oz]
blink = 0.5
ears = "none"
sound = {sound:?}
[[oz.person]]
picture = {picture:?}
position = [1.5, -0.5, 0.95]
to = [1.5, 0.5, 0.95]
width = 0.5
seconds = 4.0
"#
    )
}

/// Time of the nod's word after the first sound, in s; speech synthesis is deterministic.
fn word_time() -> anyhow::Result<f64> {
    let (library, voices) = find_espeak().context("espeak-ng not found; run scripts/fetch-puppet voice")?;
    let program = std::env::current_exe()?;
    let command = vec![program.into(), server::driver::oz::HELPER.into(), library.into(), voices.into()];
    let phrases = script::parse(SENTENCE, |_| Some(NOD));
    let phrase = phrases.first().context("a phrase")?;
    let spoken = Espeak::new(command).synthesise(phrase, VoiceSettings::default())?;
    let (time, _) = spoken.timeline.marks.first().context("a mark")?;
    Ok(f64::from(*time))
}

fn pause(time: Duration) {
    let until = now() + time;
    while now() < until {
        thread::park_timeout(until.saturating_duration_since(now()));
    }
}

/// The tick in the comment of a JPEG picture.
fn tick_of(jpeg: &[u8]) -> Option<u64> {
    let mark = b"tick ";
    let at = jpeg.windows(mark.len()).take(200).position(|bytes| bytes == mark)? + mark.len();
    let digits: String =
        jpeg.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).map(|&byte| char::from(byte)).collect();
    digits.parse().ok()
}

impl Observer {
    fn start(server: &Server) -> anyhow::Result<Self> {
        let (session, mut deliveries) = server.sim().open(Ticks::AtEnd)?;
        let (show, log) = watch::channel(TickLog::default());
        let thread = thread::Builder::new().name("observer".into()).spawn(move || {
            let _session = session;
            while let Some(delivery) = deliveries.blocking_recv() {
                let Delivery::Tick(snapshot) = delivery else { continue };
                let time = now();
                let neck =
                    snapshot.catalogue.agent_named("Alice").and_then(|card| snapshot.motor(card, index::NECK_PITCH));
                show.send_modify(|log| {
                    log.ticks.insert(snapshot.tick.0, (time, neck.unwrap_or(0.0)));
                });
            }
        })?;
        Ok(Self { log, _thread: thread })
    }

    fn time_of(&self, tick: u64) -> Option<Instant> {
        self.log.borrow().ticks.get(&tick).map(|(time, _)| *time)
    }

    /// The first motion of the neck after a time.
    fn first_motion(&self, after: Instant) -> Option<Instant> {
        let log = self.log.borrow();
        let later: Vec<_> = log.ticks.values().filter(|(time, _)| *time >= after).collect();
        let moving = later.windows(2).find(|pair| (pair[1].1 - pair[0].1).abs() > MOTION)?;
        Some(moving[1].0)
    }

    /// Intervals between ticks since then, in ms.
    fn periods(&self, since: Instant) -> Vec<f64> {
        let log = self.log.borrow();
        let times: Vec<Instant> = log.ticks.values().map(|(time, _)| *time).filter(|time| *time >= since).collect();
        times.windows(2).map(|pair| pair[1].saturating_duration_since(pair[0]).as_secs_f64() * 1e3).collect()
    }
}

/// CPU time of this process.
fn process_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Measurements with all features running.
pub(super) struct LoadStats {
    took: f64,
    frames: u32,
    faces: u32,
    sentences: u32,
    delays: Vec<f64>,
    periods: Vec<f64>,
    cpu: f64,
}

impl LoadStats {
    pub(super) fn figures(mut self) -> Vec<Figure> {
        self.delays.sort_by(f64::total_cmp);
        let mut jitter: Vec<f64> = self.periods.iter().map(|period| (period - 10.0).abs()).collect();
        jitter.sort_by(f64::total_cmp);
        let quantile = |values: &[f64], share: f64| {
            values.get((values.len() as f64 * share) as usize).or(values.last()).copied().unwrap_or(f64::NAN)
        };
        let Self { took, frames, faces, sentences, cpu, .. } = self;
        let with = format!("{sentences} sentences, {faces} lists of faces, {cpu:.2} cores busy");
        let detail = format!(
            "{} ticks in {took:.0} s, nominal period 10 ms; median {:.2} ms",
            jitter.len() + 1,
            quantile(&jitter, 0.5)
        );
        let mixer = Figure {
            what: "mixer period error, p99",
            detail,
            value: quantile(&jitter, 0.99),
            goal: Goal::AtMost(2.0),
            unit: "ms",
        };
        let detail = format!("640x480, {frames} pictures in {took:.0} s with {with}");
        // rounded to a tenth: the first and last picture do not coincide with the ends of the interval
        let rate = (f64::from(frames) / took * 10.0).round() / 10.0;
        let video = Figure { what: "video", detail, value: rate, goal: Goal::AtLeast(30.0), unit: "fps" };
        let detail = format!("median {:.1} ms; p99 of {}", quantile(&self.delays, 0.5), self.delays.len());
        let value = quantile(&self.delays, 0.99);
        let camera = Figure { what: "camera to client", detail, value, goal: Goal::AtMost(60.0), unit: "ms" };
        vec![mixer, video, camera]
    }
}
