use std::{
    fs::{self, File},
    io::{Cursor, ErrorKind, SeekFrom},
    sync::{Arc, Mutex},
};

use world::{
    Action, Command, Robot,
    clock::{Pace, Vote},
    record::{Verdict, no_director, replay},
};

use super::*;
use crate::testing::{ROVER, Stepper, running_recorded, small_setup, small_world, within};

/// Ticks between two hashes of the recording.
const HASH_EVERY: u64 = 7;

/// What a controller, a vote and a newcomer do to a world, in 60 ticks and one reset.
async fn eventful_run(stepper: &mut Stepper) {
    for tick in 0..60_i32 {
        match tick {
            // also at a tick whose hash was just noted
            28 => {
                let before = stepper.step().await;
                let after = stepper.vote(Vote::Reset(Some(3))).await;
                assert_eq!((after.tick, after.tries), (before.tick, before.tries + 1), "a reset is no tick");
            }
            40 => {
                let twin = Robot {
                    name: "Twin".to_owned(),
                    source: small_setup().robots.remove(0).source,
                    pose: physics::Pose::facing(1.0, 1.0, 0.0, 0.0),
                };
                stepper.send(Command::Join(twin));
            }
            _ => {}
        }
        let target = Some(f64::from(tick) / 10.0);
        stepper.send(Command::Act(ROVER, vec![Action::Set { motor: 0, target, torque: Some(0.5) }]));
        stepper.step().await;
    }
    // building the twin may take long on a busy machine
    while stepper.step().await.catalogue.agent_named("Twin").is_none() {}
    stepper.step().await;
}

#[tokio::test]
async fn a_recording_replays_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let (setup, world) = (small_setup(), small_world());
    let (recording, sender) = Recording::start(&path, Existing::Keep, &setup, &world).unwrap();
    let sim = running_recorded(world, Pace::Lockstep, Some((sender, HASH_EVERY)));
    let mut stepper = Stepper::new(sim.handle());
    eventful_run(&mut stepper).await;
    tokio::task::spawn_blocking(|| {
        sim.stop();
        recording.finish();
    })
    .await
    .unwrap();

    let verdict = replay(File::open(&path).unwrap(), &no_director, |_, _| {}).unwrap();
    let ticks = verdict.ticks;
    // one per interval, and one at the end
    assert_eq!(verdict, Verdict { ticks, compared: ticks.div_ceil(HASH_EVERY), complete: true, ..Verdict::default() });
    assert!(ticks >= 63, "{verdict:?}");
}

/// A disk with limited space, whose content the test can read.
#[derive(Clone)]
struct SmallDisk {
    written: Arc<Mutex<Cursor<Vec<u8>>>>,
    room: u64,
}

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.written.lock().unwrap();
        let left = self.room.saturating_sub(written.position()) as usize;
        match bytes.get(..left.min(bytes.len())) {
            Some(fits) if !fits.is_empty() || bytes.is_empty() => written.write(fits),
            _ => Err(ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SmallDisk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.written.lock().unwrap().seek(to)
    }
}

#[tokio::test]
async fn a_full_disk_ends_the_recording_and_not_the_world() {
    let (setup, world) = (small_setup(), small_world());
    // has room for the setup and some ticks
    let beginning = SmallDisk { written: Arc::default(), room: u64::MAX };
    drop(Recorder::new(beginning.clone(), &setup, &world).unwrap());
    let room = beginning.written.lock().unwrap().position() + 1_000;
    let disk = SmallDisk { written: Arc::default(), room };
    let (recording, sender) = Recording::start_on(disk.clone(), Path::new("small disk"), &setup, &world).unwrap();
    let sim = running_recorded(world, Pace::Fast, Some((sender, 1)));

    let mut snapshots = sim.handle().watch();
    within("the end of the recording", tokio::task::spawn_blocking(|| recording.finish())).await.unwrap();
    let then = sim.handle().latest().tick.0;
    within("the world going on", snapshots.wait_for(|snapshot| snapshot.tick.0 > then + 10)).await.unwrap();
    let page = crate::metrics::render();
    assert!(page.contains("rossum_recordings_ended_early_total 1\n"), "counted once:\n{page}");

    let written = disk.written.lock().unwrap().get_ref().clone();
    let verdict = replay(Cursor::new(written), &no_director, |_, _| {}).unwrap();
    assert_eq!(verdict.differs_at, None, "{verdict:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let check = |path: &str, wanted: &str| {
        let error = Recording::start(Path::new(path), Existing::Replace, &small_setup(), &small_world())
            .unwrap_err()
            .to_string();
        assert!(error.contains(path) && error.contains(wanted), "{error}");
    };
    check("/does/not/exist.mcap", "cannot create");
    check("/does/not/exist.mcap", "No such file");
    check("/dev/full", "not a regular file");
    let folder = tempfile::tempdir().unwrap();
    check(folder.path().to_str().unwrap(), "not a regular file");
    // to be opened, it would wait for a reader
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    check(pipe.to_str().unwrap(), "not a regular file");
}

#[test]
fn an_existing_file_is_not_recorded_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thesis.mcap");
    fs::write(&path, "precious").unwrap();
    let start = |existing| Recording::start(&path, existing, &small_setup(), &small_world());
    let error = start(Existing::Keep).unwrap_err().to_string();
    assert!(error.contains("thesis.mcap exists already") && error.contains("--overwrite"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let (recording, sender) = start(Existing::Replace).unwrap();
    drop(sender);
    recording.finish();
    assert!(replay(File::open(&path).unwrap(), &no_director, |_, _| {}).unwrap().complete);
}

#[test]
fn a_disk_that_is_full_from_the_start_is_named_with_the_cause() {
    let disk = SmallDisk { written: Arc::default(), room: 10 };
    let error = Recording::start_on(disk, Path::new("small disk"), &small_setup(), &small_world()).unwrap_err();
    let error = error.to_string();
    let cause = io::Error::from(ErrorKind::StorageFull).to_string();
    assert!(error.contains("cannot start the recording small disk") && error.ends_with(&cause), "{error}");
    assert_eq!(error.matches(&cause).count(), 1, "{error}");
}

#[test]
fn a_slow_disk_and_an_ended_recording_have_different_errors() {
    let (sender, records) = sync_channel(1);
    let sender = RecordingSender(sender);
    assert_eq!(sender.send(TickRecord::default()), Ok(()));
    assert_eq!(sender.send(TickRecord::default()), Err(RecordingError::Behind));
    drop(records);
    assert_eq!(sender.send(TickRecord::default()), Err(RecordingError::Ended));
}
