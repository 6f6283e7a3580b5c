//! `rossum doctor`: what is present on this machine and what is missing, part by part.

use std::{
    fs,
    io::Write,
    net::{TcpListener, UdpSocket},
    path::PathBuf,
    process::Command,
    thread,
};

use server::{
    Scenario,
    config::ServerConfig,
    library::{self, ModelKind},
    serve::build_world,
    session::{EndpointKind, PROTOCOLS},
};

use crate::serve::DEFAULT_SCENARIO;

/// The version this program is made for.
const MUJOCO: &str = "3.17.0";

enum Finding {
    Good(String),
    /// Something works less well, or not at all, but the rest does.
    Lacking(String),
    /// Nothing works.
    Broken(String),
}

use Finding::{Broken, Good, Lacking};

type Examination = fn() -> Finding;

pub(crate) fn run(out: &mut dyn Write) -> anyhow::Result<()> {
    let parts: [(&str, Examination); 13] = [
        ("MuJoCo", mujoco),
        ("models", models),
        ("scenarios", scenarios),
        ("protocols", protocols),
        ("ports", ports),
        ("processors", processors),
        ("console", console_pages),
        ("voice", voice),
        ("hearing", hearing),
        ("faces", faces),
        ("sound", sound),
        ("films", films),
        ("set-up", set_up),
    ];
    let mut broken = 0;
    for (part, examine) in parts {
        let (mark, text) = match examine() {
            Good(text) => ("ok     ", text),
            Lacking(text) => ("lacking", text),
            Broken(text) => {
                broken += 1;
                ("BROKEN ", text)
            }
        };
        writeln!(out, "{mark}  {part:<10}  {text}")?;
    }
    if broken > 0 {
        anyhow::bail!("{broken} of {} parts are broken", parts.len());
    }
    Ok(())
}

fn mujoco() -> Finding {
    let version = physics::mujoco_version();
    let place = library_path().map(|path| format!(" in {}", path.display())).unwrap_or_default();
    if version == MUJOCO {
        Good(format!("version {version}{place}"))
    } else {
        Broken(format!("version {version}{place}, but {MUJOCO} is needed; build again with `make build`"))
    }
}

/// Where the loaded library is, as far as the system tells.
fn library_path() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.contains("libmujoco"))?;
    line.split_whitespace().nth(5).map(PathBuf::from)
}

fn models() -> Finding {
    let (robots, fields) = (library::models(ModelKind::Robot), library::models(ModelKind::Field));
    Good(format!("robots {}; fields {}", robots.join(", "), fields.join(", ")))
}

fn scenarios() -> Finding {
    let names = library::scenarios();
    for name in &names {
        if let Err(error) = Scenario::load(name).and_then(|scenario| scenario.setup()) {
            return Broken(format!("{name}: {error}"));
        }
    }
    Good(names.join(", "))
}

fn protocols() -> Finding {
    let names: Vec<_> = PROTOCOLS.iter().map(|protocol| format!("{} ({})", protocol.name, protocol.title)).collect();
    Good(names.join(", "))
}

fn console_pages() -> Finding {
    if !console::is_built() {
        return Lacking("the program was built without its console; install Node.js 20 and build again".to_owned());
    }
    let kilobytes = console::PAGES.iter().map(|page| page.bytes.len()).sum::<usize>() / 1000;
    let tokens = server::user_data::folder().join("tokens.toml");
    Good(format!("{} files, {kilobytes} kB; its tokens are in {}", console::PAGES.len(), tokens.display()))
}

/// The ports of the default scenario.
fn ports() -> Finding {
    match taken_ports() {
        Ok(taken) if taken.is_empty() => Good(format!("those of the {DEFAULT_SCENARIO} are free")),
        Ok(taken) => {
            let taken: Vec<_> = taken.iter().map(u16::to_string).collect();
            Lacking(format!("{} taken: is a server running? `rossum serve --free-ports` uses others", taken.join(", ")))
        }
        Err(error) => Broken(format!("{error:#}")),
    }
}

fn taken_ports() -> anyhow::Result<Vec<u16>> {
    let scenario = Scenario::load(DEFAULT_SCENARIO)?;
    let (_, world) = build_world(&scenario)?;
    let ServerConfig { bind, http_port, .. } = scenario.base.server;
    let is_free = |port: u16, kind: &EndpointKind| match kind {
        EndpointKind::Datagram(_) | EndpointKind::Conversation(_) => UdpSocket::bind((bind, port)).is_ok(),
        EndpointKind::Stream(_) => TcpListener::bind((bind, port)).is_ok(),
    };
    let mut taken = Vec::new();
    for (_, service) in &scenario.services {
        for endpoint in
            service.endpoints(world.catalogue(), scenario.base.world.pace.into()).map_err(anyhow::Error::msg)?
        {
            if !is_free(endpoint.port, &endpoint.kind) {
                taken.push(endpoint.port);
            }
        }
    }
    if TcpListener::bind((bind, http_port)).is_err() {
        taken.push(http_port);
    }
    Ok(taken)
}

fn processors() -> Finding {
    match thread::available_parallelism() {
        Ok(count) if count.get() >= 2 => Good(format!("{count}")),
        Ok(_) => Lacking("1; the world and its clients share it, so full games run below real time".to_owned()),
        Err(error) => Lacking(format!("unknown: {error}")),
    }
}

/// What the puppet of Oz speaks with.
fn voice() -> Finding {
    match puppet::speech::find_espeak() {
        Some((library, _)) => Good(format!("espeak-ng in {}", library.display())),
        None => Lacking(
            "no espeak-ng, so the puppet moves its mouth in silence; run scripts/fetch-puppet voice, or install libespeak-ng1"
                .to_owned(),
        ),
    }
}

fn hearing() -> Finding {
    match puppet::hearing::Recogniser::load(&puppet::fetched_folder("hearing").unwrap_or_default()) {
        Ok(_) => Good("Moonshine recognises what the puppet hears".to_owned()),
        Err(error) => Lacking(format!("the puppet understands nothing: {error}")),
    }
}

fn faces() -> Finding {
    match puppet::faces::Watcher::load(
        &puppet::fetched_folder("faces").unwrap_or_default(),
        puppet::faces::Names::new(),
    ) {
        Ok(_) => Good("BlazeFace finds faces, and they can have names".to_owned()),
        Err(error) => Lacking(format!("the puppet sees no faces: {error}")),
    }
}

fn sound() -> Finding {
    let player = puppet::speech::sink::PlayerSink::find().map_err(|error| format!("the puppet is not heard: {error}"));
    let recorder = puppet::hearing::recorder().map_err(|error| format!("the puppet does not hear: {error}"));
    match (player, recorder) {
        (Ok(_), Ok(recorder)) => Good(format!("there are programs that play sound and record it ({recorder})")),
        (Err(why), Ok(_)) | (Ok(_), Err(why)) => Lacking(why),
        (Err(unheard), Err(deaf)) => Lacking(format!("{unheard}; {deaf}")),
    }
}

fn films() -> Finding {
    match Command::new("ffmpeg").arg("-version").output() {
        Ok(output) if output.status.success() => {
            Good("ffmpeg reads films and cameras for the puppet's eyes".to_owned())
        }
        _ => Lacking("no ffmpeg, so the puppet's eyes see the scene and pictures, not films or a camera".to_owned()),
    }
}

/// What building the project needs. A built program runs without it.
fn set_up() -> Finding {
    let works = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let needs: [(&str, &str, &[&str]); 3] = [
        ("Rust (cargo)", "cargo", &["--version"]),
        ("Python 3 with pip", "python3", &["-m", "pip", "--version"]),
        ("Node with npm", "npm", &["--version"]),
    ];
    let missing: Vec<_> =
        needs.iter().filter(|(_, program, args)| !works(program, args)).map(|(name, ..)| *name).collect();
    if missing.is_empty() {
        Good("Rust, Python 3 with pip, Node with npm".to_owned())
    } else {
        Lacking(format!("{} missing; needed to build, not to run", missing.join(", ")))
    }
}
