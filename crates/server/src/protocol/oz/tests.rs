use std::path::Path;

use world::clock::Pace;

use super::*;
use crate::{Scenario, serve::build_world};

#[test]
fn files_are_relative_to_the_scenario_and_print_as_text() {
    let resolved = |section: toml::Table| (PROTOCOL.configure)(section, Path::new("/folder")).unwrap().config();
    let section = "sound = 'said.wav'\nears = 'heard.wav'\ncamera = 'talk.mp4'".parse().unwrap();
    let printed = resolved(section);
    for (key, expected) in
        [("sound", "/folder/said.wav"), ("ears", "/folder/heard.wav"), ("camera", "/folder/talk.mp4")]
    {
        assert_eq!(printed[key].as_str(), Some(expected));
    }
    let section: toml::Table = "sound = 'none'\nears = 'tcp:15220'\ncamera = 'v4l:/dev/video0'".parse().unwrap();
    let printed = resolved(section.clone());
    for (key, expected) in section {
        assert_eq!(printed[&key], expected);
    }
}

#[test]
fn the_port_is_that_of_the_document() {
    for (section, expected) in [("", 7331), ("port = 7400", 7400)] {
        let text = format!("[[robot]]\nname = \"Alice\"\nmodel = \"alice\"\n[oz]\n{section}\n");
        let scenario = Scenario::parse("test", &text, Path::new("")).unwrap();
        let (_, world) = build_world(&scenario).unwrap();
        let (_, service) = scenario.services.iter().find(|(name, _)| *name == "oz").unwrap();
        let endpoints = service.endpoints(world.catalogue(), Pace::Realtime).unwrap();
        let ports: Vec<u16> = endpoints.iter().map(|endpoint| endpoint.port).collect();
        assert_eq!(ports, [expected], "{section}");
    }
}

#[test]
fn the_robot_blinks_twice_a_second_unless_configured_otherwise() {
    for (section, expected) in [("", 2.0), ("blink = 0.25", 0.25), ("blink = 99.0", 10.0), ("blink = -1.0", 0.0)] {
        let text = format!("[[robot]]\nname = \"Alice\"\nmodel = \"alice\"\n[oz]\n{section}\n");
        let (_, mut world) = build_world(&Scenario::parse("test", &text, Path::new("")).unwrap()).unwrap();
        world.tick();
        let view = world.take_snapshot();
        assert_eq!(view.view::<puppet::puppet::PuppetView>().unwrap().blinks, expected, "{section}");
    }
}

#[test]
fn a_section_has_its_limits() {
    for (section, expected) in [
        ("robot = \"Bob\"", "Bob"),
        ("frames = 0", "frames"),
        ("quality = 101", "quality"),
        ("ears = \"tcp:99999999\"", "ears"),
        ("camera = \"v4l:\"", "camera"),
        ("[[oz.person]]\npicture = \"nobody.png\"\nposition = [1, 0, 1]", "nobody.png"),
    ] {
        let text = format!("[[robot]]\nname = \"Alice\"\nmodel = \"alice\"\n[oz]\n{section}\n");
        let error = match Scenario::parse("test", &text, Path::new("")) {
            Err(error) => error.to_string(),
            Ok(scenario) => {
                let (_, world) = build_world(&scenario).unwrap();
                let service = &scenario.services.iter().find(|(name, _)| *name == "oz").unwrap().1;
                service.endpoints(world.catalogue(), Pace::Realtime).unwrap_err()
            }
        };
        assert!(error.contains(expected), "{section}: {error}");
    }
}
