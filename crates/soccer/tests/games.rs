//! Whole games: what happens to ball and players in each, and what the league's reference server made of it.
//!
//! `games.txt` was recorded by running the referee of `rcsssmj` 0.2.1 over random scenes. One command a line:
//!
//! | line                             | meaning                                                                      |
//! | -------------------------------- | ---------------------------------------------------------------------------- |
//! | `game BOOK PHASE MS`             | a new game, the clock at so many ms                                          |
//! | `j PLAYER X Y Z`                 | a player joins (`l1`: left team, number 1), its torso there                  |
//! | `p PLAYER X Y Z`, `b X Y Z`      | a player, the ball is moved                                                  |
//! | `k SIDE`, `d`, `m MODE`          | kick-off, drop ball, a mode is called                                        |
//! | `c -`, `c f PLAYER`, `c h PLAYER`| from now on nobody, a foot, a stretched arm touches the ball                 |
//! | `n COUNT`                        | so many cycles of 125 ms pass                                                |
//! | `= CYCLE MODE MS LEFT RIGHT ...` | in this one of them something happened: mode, clock, score, and after each bar the ball placed (`B`), a player relocated (`R`), a foul (`F`) |
//!
//! Cycles without such a line changed neither mode nor score and had no decision. Cycles are of 125 ms because sums of
//! those are exact in binary: with 20 ms the reference's clocks are off by a cycle now and then.

#![expect(clippy::unwrap_used, reason = "a record that cannot be read fails the test")]

use std::{collections::VecDeque, time::Duration};

use glam::{DQuat, DVec2, DVec3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use soccer::{
    Decision, Phase, PlayMode, PlayerId, Referee, RuleBook, Scene, Side,
    scene::{Ball, BodyPart, Contact, Player, Pose, TorsoBox},
};

const CYCLE: Duration = Duration::from_millis(125);

/// Ball and players, moved by the script and by the referee's decisions.
struct World {
    referee: Referee,
    ball: DVec3,
    players: Vec<Player>,
    contact: Option<(PlayerId, bool)>,
    rng: ChaCha8Rng,
    /// Mode and score at the last line of the record.
    told: Option<(PlayMode, u32, u32)>,
}

impl World {
    fn new(words: &[&str]) -> Self {
        let book = RuleBook::from_name(words[0]).unwrap();
        let phase = Phase::from_index(words[1].parse().unwrap()).unwrap();
        let time = Duration::from_millis(words[2].parse().unwrap());
        Self {
            referee: Referee::new(book, book.rules().field, phase, Some(time)),
            ball: DVec3::new(0.0, 0.0, 0.11),
            players: Vec::new(),
            contact: None,
            rng: ChaCha8Rng::seed_from_u64(0),
            told: None,
        }
    }

    fn carry_out(&mut self, decisions: &[Decision], happened: &mut Vec<String>) {
        for decision in decisions {
            match *decision {
                Decision::PlaceBall { position, .. } => {
                    self.ball = position;
                    happened.push(format!("B {} {}", rounded(position.x), rounded(position.y)));
                }
                Decision::Relocate { player, to } => {
                    let moved = self.players.iter_mut().find(|p| p.id == player).unwrap();
                    let z = moved.torso.position.z;
                    *moved = player_at(player, DVec3::new(to.x, to.y, z));
                    let (x, y, heading) = (rounded(to.x), rounded(to.y), rounded(to.heading));
                    happened.push(format!("R {} {x} {y} {heading}", tag(player)));
                }
            }
        }
    }

    /// One cycle; what happened in it, if anything did.
    fn cycle(&mut self) -> Option<String> {
        let contact = self.contact.map(|(player, arm)| {
            let torso = self.players.iter().find(|p| p.id == player).unwrap().torso.position;
            let part = BodyPart::Arm { position: torso + DVec3::new(0.4, 0.0, 0.0), radius: 0.03 };
            Contact { player, part: if arm { part } else { BodyPart::Other } }
        });
        let mut decisions = Vec::new();
        let scene = Scene {
            cycle: CYCLE,
            ball: Ball { position: self.ball, velocity: DVec3::ZERO },
            players: &self.players,
            contacts: contact.as_slice(),
        };
        self.referee.judge(&scene, &mut decisions);
        let mut happened = Vec::new();
        self.carry_out(&decisions, &mut happened);
        happened.extend(self.referee.fouls().iter().map(|call| format!("F {} {}", tag(call.player), call.foul.id())));
        let told = (self.referee.mode(), self.referee.score(Side::Left), self.referee.score(Side::Right));
        if happened.is_empty() && self.told == Some(told) {
            return None;
        }
        self.told = Some(told);
        happened.insert(0, self.state());
        Some(happened.join(" | "))
    }

    fn state(&self) -> String {
        let referee = &self.referee;
        let (left, right) = (referee.score(Side::Left), referee.score(Side::Right));
        format!("{} {} {left} {right}", referee.mode().name(), referee.play_time().as_millis())
    }
}

/// As the record has it: four decimals at most, at least one.
fn rounded(value: f64) -> String {
    format!("{:?}", (value * 1e4).round() / 1e4 + 0.0)
}

fn tag(player: PlayerId) -> String {
    format!("{}{}", if player.side == Side::Left { 'l' } else { 'r' }, player.number)
}

fn player(tag: &str) -> PlayerId {
    PlayerId::new(side(&tag[..1]), tag[1..].parse().unwrap())
}

fn side(letter: &str) -> Side {
    if letter == "l" { Side::Left } else { Side::Right }
}

fn point(words: &[&str]) -> DVec3 {
    DVec3::from_slice(&words.iter().map(|word| word.parse().unwrap()).collect::<Vec<f64>>())
}

/// A robot of the T1's measures, upright at any height.
fn player_at(id: PlayerId, position: DVec3) -> Player {
    Player {
        id,
        active: true,
        torso: Pose { position, rotation: DQuat::IDENTITY },
        torso_box: TorsoBox { center: DVec3::new(0.06, 0.0, 0.12), half_size: DVec2::new(0.075, 0.1) },
        camera_height: position.z + 0.42485,
        camera_along_torso: 0.42485,
        head_top: position.z + 0.41485 + 0.08,
    }
}

fn replay(record: &str) {
    let mut lines: VecDeque<(usize, &str)> = record.lines().enumerate().collect();
    let mut world = None;
    while let Some((number, line)) = lines.pop_front() {
        let words: Vec<&str> = line.split(' ').collect();
        let (command, words) = (words[0], &words[1..]);
        if command == "game" {
            world = Some(World::new(words));
            continue;
        }
        let world: &mut World = world.as_mut().unwrap();
        let (mut decisions, ball) = (Vec::new(), world.ball);
        match command {
            "j" => world.players.push(player_at(player(words[0]), point(&words[1..]))),
            "p" => {
                let moved = world.players.iter_mut().find(|p| p.id == player(words[0])).unwrap();
                *moved = player_at(moved.id, point(&words[1..]));
            }
            "b" => world.ball = point(words),
            "c" => world.contact = words.get(1).map(|tag| (player(tag), words[0] == "h")),
            "k" => world.referee.kick_off(Some(side(words[0])), &mut world.rng, &mut decisions),
            "d" => world.referee.drop_ball(ball, &mut decisions),
            "m" => world.referee.set_play_mode(PlayMode::from_name(words[0]).unwrap(), ball, &mut decisions),
            "n" => {
                for cycle in 0..words[0].parse::<usize>().unwrap() {
                    let found = world.cycle().map(|happened| format!("= {cycle} {happened}"));
                    let prefix = format!("= {cycle} ");
                    let recorded =
                        lines.pop_front_if(|(_, line)| line.starts_with(&prefix)).map(|(_, line)| line.to_owned());
                    assert_eq!(found, recorded, "cycle {cycle} of line {}", number + 1);
                }
            }
            "=" => assert_eq!(format!("end {}", world.state()), words.join(" "), "line {}", number + 1),
            _ => panic!("line {}: {line}", number + 1),
        }
        world.carry_out(&decisions, &mut Vec::new());
    }
}

#[test]
fn games_go_as_they_did_on_the_reference() {
    replay(include_str!("games.txt"));
}

/// For longer records: `ROSSUM_GAMES=path cargo test -p soccer -- --ignored`.
#[test]
#[ignore = "needs a record"]
fn games_of_a_record() {
    let path = std::env::var("ROSSUM_GAMES").unwrap();
    replay(&std::fs::read_to_string(path).unwrap());
}
