//! Recordings with flipped bits, missing ends and impossible sizes.

mod worlds;

use std::{
    cell::RefCell,
    io::{self, BufWriter, Cursor, Seek, SeekFrom, Write},
    rc::Rc,
    sync::OnceLock,
};

use mcap::records::op;
use world::{
    Action, AgentId, SessionId, Setup, World,
    record::{Damage, DamageCause, RecordReader, Recorder, ReplayError, Verdict, no_director, replay},
};
use worlds::*;

const TICKS: u64 = 120;
const HASH_EVERY: u64 = 5;
const HASHES: u64 = TICKS / HASH_EVERY;
/// Ticks of one chunk.
const FLUSH_EVERY: u64 = 20;

fn cart() -> Setup {
    setup(text("bench", BENCH), vec![text_robot("Cart", CART, 0.0, 0.0)])
}

/// Records a run to `out`, whose first chunk has nothing but the setup; `acts` says whether somebody moves the robot.
fn record<W: Write + Seek>(out: W, acts: bool) {
    let setup = cart();
    let mut world = build(&setup);
    world.keep_journal();
    let mut recorder = Recorder::new(out, &setup, &world).expect("memory takes everything");
    recorder.flush().expect("memory takes everything");
    for tick in 0..TICKS {
        if acts {
            let target = Some((tick as f64 / 7.0).sin());
            world.stage(AgentId(1), SessionId(1), tick, vec![Action::Set { motor: 0, target, torque: None }]);
        }
        world.tick();
        if let Some(record) = world.take_record(HASH_EVERY) {
            recorder.write(&record).expect("memory takes everything");
        }
        if tick % FLUSH_EVERY == FLUSH_EVERY - 1 {
            recorder.flush().expect("memory takes everything");
        }
    }
    recorder.finish().expect("memory takes everything");
}

fn recorded(acts: bool) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    record(&mut file, acts);
    file.into_inner()
}

fn moved() -> &'static [u8] {
    static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
    RECORDED.get_or_init(|| recorded(true))
}

fn run(file: &[u8]) -> Result<Verdict, ReplayError> {
    replay(Cursor::new(file), &no_director, |_: &World, _| {})
}

/// Reads all records without simulating them: how many, the damage, and whether the end is there.
fn read(file: &[u8]) -> Result<(usize, Vec<Damage>, bool), ReplayError> {
    let mut reader = RecordReader::new(Cursor::new(file))?;
    let mut records = 0;
    for record in &mut reader {
        record?;
        records += 1;
    }
    Ok((records, reader.damage().to_vec(), reader.is_complete()))
}

/// Where the records of one type start, and where they end.
fn parts(file: &[u8], wanted: u8) -> Vec<(usize, usize)> {
    let (mut at, mut found) = (mcap::MAGIC.len(), Vec::new());
    while at + mcap::MAGIC.len() < file.len() {
        let length = u64::from_le_bytes(file[at + 1..at + 9].try_into().expect("eight bytes")) as usize;
        if file[at] == wanted {
            found.push((at, at + 9 + length));
        }
        at += 9 + length;
    }
    found
}

fn flipped(file: &[u8], place: usize, bit: u32) -> Vec<u8> {
    let mut file = file.to_vec();
    file[place] ^= 1 << bit;
    file
}

#[test]
fn a_flipped_bit_is_located_and_what_follows_it_is_read() {
    let file = moved();
    assert_eq!(run(file).unwrap(), Verdict { ticks: TICKS, compared: HASHES, complete: true, ..Verdict::default() });
    let (chunks, indices) = (parts(file, op::CHUNK), parts(file, op::MESSAGE_INDEX));
    let at = |opcode| parts(file, opcode)[0].0;
    let (header, data_end, footer) = (at(op::HEADER), at(op::DATA_END), at(op::FOOTER));
    // the third with ticks
    let (chunk, chunk_end) = chunks[3];
    let index = indices[3].0;
    let lost = FLUSH_EVERY;
    for (what, place, located, missing) in [
        ("start signature", 3, 0..1, 0),
        ("type of the header", header, header..header + 1, 0),
        ("length of the header", header + 1, header..header + 1, 0),
        ("content of the header", header + 14, header..data_end + 1, 0),
        ("type of a chunk", chunk, chunk..chunk + 1, lost),
        ("length of a chunk", chunk + 1, chunk..chunk + 1, lost),
        ("high byte of the length of a chunk", chunk + 7, chunk..chunk + 1, lost),
        ("start time of a chunk", chunk + 9, data_end..data_end + 1, 0),
        ("unpacked size of a chunk", chunk + 25, chunk..chunk + 1, lost),
        ("high byte of the unpacked size of a chunk", chunk + 31, chunk..chunk + 1, lost),
        ("checksum of a chunk", chunk + 33, chunk..chunk + 1, lost),
        ("length of the compression's name", chunk + 37, chunk..chunk + 1, lost),
        ("compression's name", chunk + 41, chunk..chunk + 1, lost),
        ("packed size of a chunk", chunk + 45, chunk..chunk + 1, lost),
        ("first byte of a chunk's content", chunk + 53, chunk..chunk + 1, lost),
        ("middle of a chunk", (chunk + 53).midpoint(chunk_end), chunk..chunk + 1, lost),
        ("last byte of a chunk", chunk_end - 1, chunk..chunk + 1, lost),
        ("type of an index between chunks", index, index..index + 1, 0),
        ("length of an index between chunks", index + 1, index..index + 1, 0),
        ("content of an index between chunks", index + 20, data_end..data_end + 1, 0),
        ("last chunk", chunks[6].1 - 1, chunks[6].0..chunks[6].0 + 1, lost),
        ("type of the end of the data", data_end, data_end..data_end + 1, 0),
        ("length of the end of the data", data_end + 1, data_end..data_end + 1, 0),
        ("checksum of the data", data_end + 9, data_end..data_end + 1, 0),
        ("index at the end", at(op::STATISTICS) + 12, data_end + 13..data_end + 14, 0),
        ("type in the index at the end", at(op::CHUNK_INDEX), data_end + 13..data_end + 14, 0),
        ("length in the index at the end", at(op::CHUNK_INDEX) + 1, data_end + 13..data_end + 14, 0),
        ("footer", footer + 9, data_end + 13..data_end + 14, 0),
        ("checksum in the footer", footer + 26, data_end + 13..data_end + 14, 0),
        ("end signature", file.len() - 3, file.len() - 8..file.len() - 7, 0),
    ] {
        for bit in [0, 4, 7] {
            let what = format!("bit {bit} of the {what}");
            let verdict = run(&flipped(file, place, bit)).unwrap_or_else(|error| panic!("{what}: {error}"));
            let [damage] = verdict.damage.as_slice() else { panic!("{what}: {verdict:?}") };
            assert!(located.contains(&(damage.offset as usize)), "{what}: {damage}, not in {located:?}");
            assert_eq!(verdict.missing, missing, "{what}: {damage}");
            assert!(verdict.differs_at.is_none() && verdict.complete, "{what}: {verdict:?}");
            // every hash was read, and was compared unless inputs were missing
            let hashes_lost = missing / HASH_EVERY;
            assert_eq!(verdict.compared + verdict.unverified, HASHES - hashes_lost, "{what}: {verdict:?}");
            assert_eq!(verdict.unverified > 0, missing > 0 && place < chunks[6].0, "{what}: {verdict:?}");
        }
    }
}

#[test]
fn a_damaged_chunk_is_named_with_its_tick() {
    let file = moved();
    let (chunk, end) = parts(file, op::CHUNK)[3];
    let verdict = run(&flipped(file, end - 9, 2)).unwrap();
    let [damage] = verdict.damage.as_slice() else { panic!("{verdict:?}") };
    assert_eq!((damage.chunk, damage.after_tick), (Some(3), Some(2 * FLUSH_EVERY - 1)));
    let text = damage.to_string();
    assert!(text.starts_with(&format!("byte {chunk}, chunk 3, after tick 39: ")), "{text}");
    // a reader that needs everything ends there
    let error = read(&flipped(file, end - 9, 2)).unwrap_err().to_string();
    assert!(error.contains("after tick 39") && error.contains("20 records are missing"), "{error}");
}

#[test]
fn missing_records_without_inputs_do_not_stop_the_comparison() {
    let file = recorded(false);
    let (_, end) = parts(&file, op::CHUNK)[3];
    let verdict = run(&flipped(&file, end - 9, 2)).unwrap();
    let lost = FLUSH_EVERY / HASH_EVERY;
    assert_eq!((verdict.missing, verdict.compared, verdict.unverified), (lost, HASHES - lost, 0), "{verdict:?}");
    assert_eq!((verdict.ticks, verdict.damage.len(), verdict.differs_at), (TICKS, 1, None));
}

#[test]
fn a_damaged_setup_is_an_error_that_says_where() {
    let file = moved();
    let (setup, end) = parts(file, op::CHUNK)[0];
    for place in [setup, setup + 1, setup + 33, setup + 60, end - 1] {
        let error = run(&flipped(file, place, 0)).unwrap_err();
        assert!(matches!(error, ReplayError::SetupDamaged { .. }), "{error}");
        assert!(error.to_string().contains(&format!("byte {setup}")), "{error}");
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let file = moved();
    for place in 0..file.len() {
        match read(&flipped(file, place, place as u32 % 8)) {
            Ok((_, damage, _)) => assert!(!damage.is_empty(), "byte {place}"),
            Err(ReplayError::Missing { damage: Some(_), .. } | ReplayError::SetupDamaged { .. }) => {}
            Err(error) => panic!("byte {place}: {error}"),
        }
    }
}

#[test]
fn a_missing_end_is_not_damage() {
    let file = moved();
    let mut most = 0;
    for length in 0..file.len() {
        match read(&file[..length]) {
            Ok((records, damage, is_complete)) => {
                assert!(damage.is_empty() && !is_complete, "{length} bytes: {damage:?}");
                assert!(records >= most, "{length} bytes");
                most = records;
            }
            Err(ReplayError::NoSetup) => assert_eq!(most, 0, "{length} bytes"),
            Err(error) => panic!("{length} bytes: {error}"),
        }
    }
    assert_eq!(most as u64, TICKS);
    // as after a power failure
    let chunks = parts(file, op::CHUNK);
    for length in [chunks[4].0, chunks[4].1] {
        let (records, damage, is_complete) = read(&[&file[..length], &[0; 3_000]].concat()).unwrap();
        assert!(damage.is_empty() && !is_complete && records >= 60, "{damage:?}");
    }
    // and damage before a missing end is found
    let (_, damage, _) = read(&flipped(&file[..chunks[6].0], chunks[5].1 - 3, 1)).unwrap();
    assert!(matches!(damage.as_slice(), [Damage { chunk: Some(5), .. }]), "{damage:?}");
}

#[test]
fn what_follows_the_end_is_reported() {
    let (records, damage, is_complete) = read(&[moved(), b"hello"].concat()).unwrap();
    assert!(matches!(damage.as_slice(), [Damage { cause: DamageCause::Trailing { bytes: 5 }, .. }]), "{damage:?}");
    assert!(is_complete && records as u64 == TICKS);
}

/// A disk that keeps its content after each write.
#[derive(Clone, Default)]
struct Watched {
    content: Rc<RefCell<Cursor<Vec<u8>>>>,
    states: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.content.borrow_mut().write(bytes)?;
        self.states.borrow_mut().push(self.content.borrow().get_ref().clone());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.content.borrow_mut().seek(to)
    }
}

#[test]
fn a_writer_killed_between_any_two_writes_leaves_no_damage() {
    let disk = Watched::default();
    // so small that unfinished chunks reach the disk
    record(BufWriter::with_capacity(64, disk.clone()), true);
    let states = disk.states.take();
    assert!(states.len() > 30, "{}", states.len());
    for (number, state) in states.iter().enumerate() {
        match read(state) {
            Ok((_, damage, _)) => assert!(damage.is_empty(), "write {number}: {damage:?}"),
            Err(ReplayError::NoSetup) => {}
            Err(error) => panic!("write {number}: {error}"),
        }
    }
}

/// A recording whose only chunk claims these sizes and has this content.
fn with_chunk(unpacked: u64, content: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(content, 19).expect("memory takes everything");
    let times_and_size = [0, 0, unpacked].map(u64::to_le_bytes).concat();
    let no_crc_but_compression = [&[0_u8; 4][..], &[4, 0, 0, 0], b"zstd"].concat();
    let chunk = [&times_and_size[..], &no_crc_but_compression, &(packed.len() as u64).to_le_bytes(), &packed].concat();
    let header = [1_u8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    [mcap::MAGIC, &header, &[op::CHUNK], &(chunk.len() as u64).to_le_bytes(), &chunk].concat()
}

#[test]
fn a_chunk_that_would_need_too_much_memory_is_not_unpacked() {
    let large = vec![0; 64 << 20];
    let long_message = [&[op::MESSAGE][..], &(9_u64 << 20).to_le_bytes(), &vec![b' '; 9 << 20]].concat();
    let nested = [&[op::MESSAGE][..], &u64::MAX.to_le_bytes(), &[0; 32]].concat();
    for (what, file, cause) in [
        ("a bomb", with_chunk(large.len() as u64, &large), DamageCause::TooLarge),
        ("a bomb that claims to be small", with_chunk(1_000, &large), DamageCause::Compression),
        ("a claim without content", with_chunk(u64::MAX, b""), DamageCause::TooLarge),
        ("a long message", with_chunk(long_message.len() as u64, &long_message), DamageCause::TooLarge),
        ("a message that claims more than there is", with_chunk(nested.len() as u64, &nested), DamageCause::Content),
    ] {
        let error = run(&file).expect_err(what);
        let ReplayError::SetupDamaged { damage } = error else { panic!("{what}: {error}") };
        assert_eq!(damage.cause, cause, "{what}");
    }
}

#[test]
fn a_recording_that_no_reader_accepts_is_not_begun() {
    let long = format!("<mujoco><!--{}--></mujoco>", "\"".repeat(4_000_000));
    let setup = Setup::new(text("long", &long));
    let error = Recorder::new(Cursor::new(Vec::new()), &setup, &build(&setup)).err().map(|error| error.to_string());
    assert_eq!(error, None, "the longest model text can be recorded");
    let robots = vec![text_robot(
        "Cart",
        &CART.replace("<worldbody>", &format!("<!--{}--><worldbody>", "\"".repeat(4_000_000))),
        0.0,
        0.0,
    )];
    let setup = Setup { robots, ..setup };
    let error = Recorder::new(Cursor::new(Vec::new()), &setup, &build(&setup)).err().map(|error| error.to_string());
    assert!(error.as_deref().unwrap_or_default().contains("too long"), "{error:?}");
}

#[test]
fn a_file_full_of_damage_is_given_up() {
    let file = moved();
    let (chunk, end) = parts(file, op::CHUNK)[1];
    let bad = flipped(&file[chunk..end], end - chunk - 1, 0);
    let all = [&file[..chunk], &bad.repeat(150)].concat();
    let (_, damage, _) = read(&all).unwrap();
    assert_eq!(damage.last().map(|damage| damage.cause), Some(DamageCause::GivenUp));
    assert_eq!(damage.len(), 101);
}
