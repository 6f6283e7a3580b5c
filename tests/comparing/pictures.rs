//! The pictures that monitors receive.

use super::{
    Differences,
    expression::{Node, check_digits, numbers, shape},
};

/// A picture without the appearance of the robots, which differs between servers.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The world's time, in cycles of 20 ms.
    pub(crate) cycle: i64,
    pub(crate) is_full: bool,
    /// Position of the ball.
    pub(crate) ball: [f64; 3],
    /// Team and number, in the order of the tree. Only in full pictures.
    pub(crate) agents: Vec<String>,
    /// Game time, in s.
    pub(crate) game_time: f64,
    /// The rest of the game's state, as encoded.
    pub(crate) game: String,
    /// The environment, as encoded. Only in full pictures.
    pub(crate) environment: Option<String>,
}

/// Parses pictures in order of arrival: most of them contain only changes.
pub(crate) fn read_all(texts: &[String]) -> Vec<Picture> {
    let (mut ball, mut way_to_ball) = ([f64::NAN; 3], Vec::new());
    let mut pictures = Vec::new();
    for text in texts {
        let [Node::List(parts)] = &Node::read(text)[..] else { panic!("no list: {text}") };
        let [rsmp, time, graph, game, environment @ ..] = &parts[..] else { panic!("parts are missing: {text}") };
        assert_eq!(rsmp, &Node::read("(RSMP 1 0)")[0]);
        let [version, kind, tree] = graph.list() else { panic!("no graph: {text}") };
        assert_eq!(version, &Node::read("(sg 1 0)")[0]);
        assert_eq!(time.list()[0], Node::read("(gt 1 0)")[0]);
        assert_eq!(game.list()[0], Node::read("(gs 1 0)")[0]);
        let is_full = match kind.word() {
            "full" => true,
            "diff" => false,
            other => panic!("a `{other}` picture"),
        };
        assert_eq!(environment.len(), usize::from(is_full), "the environment is in full pictures only");
        let mut agents = Vec::new();
        if is_full {
            way_to_ball = find_ball(tree).expect("a ball");
            find_agents(tree, &mut agents);
        }
        if let Some(position) = position_at(tree, &way_to_ball) {
            ball = position;
        }
        let game_text = section(text, "((gs 1 0)");
        check_digits(game_text, 2);
        let (_, rest) = game_text.split_once("(time ").expect("a game time");
        let (game_time, rest) = rest.split_once(')').expect("an end");
        pictures.push(Picture {
            cycle: (time.list()[1].number() * 50.0).round() as i64,
            is_full,
            ball,
            agents,
            game_time: game_time.parse().expect("a time"),
            game: rest.to_owned(),
            environment: is_full.then(|| section(text, "((ge 1 0)").to_owned()),
        });
        assert!(shape(text).starts_with("((RSMP % %)((gt % %)#)((sg % %)"), "{}", &text[..80.min(text.len())]);
    }
    pictures
}

/// The text from a mark to the end of its list.
fn section<'a>(text: &'a str, mark: &str) -> &'a str {
    let begin = text.find(mark).unwrap_or_else(|| panic!("no {mark} in {text}"));
    let mut depth = 0;
    for (index, letter) in text[begin..].char_indices() {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return &text[begin..=begin + index];
        }
    }
    panic!("{mark} has no end in {text}")
}

fn children(node: &Node) -> impl Iterator<Item = &Node> {
    node.list().iter().filter(|child| child.head() == "nd")
}

/// The way from the root to the transform below the ball's node.
fn find_ball(node: &Node) -> Option<Vec<usize>> {
    if node.list().contains(&Node::read("(ball)")[0]) {
        return Some(vec![0]);
    }
    let below = |(index, child)| Some([vec![index], find_ball(child)?].concat());
    children(node).enumerate().find_map(below)
}

fn find_agents(node: &Node, found: &mut Vec<String>) {
    for part in node.list() {
        if part.head() == "agent" {
            found.push(part.list()[1..].iter().map(Node::word).collect::<Vec<_>>().join(" "));
        }
    }
    children(node).for_each(|child| find_agents(child, found));
}

/// The last row of the transform at a node, if it has one.
fn position_at(node: &Node, way: &[usize]) -> Option<[f64; 3]> {
    if let [next, rest @ ..] = way {
        let child = children(node).nth(*next).expect("a diff has the tree of the last full picture");
        return position_at(child, rest);
    }
    let transform = node.list().iter().find(|part| part.head() == "SLT")?;
    let [x, y, z, _] = &transform.list()[13..] else { panic!("no transform: {transform:?}") };
    let [x, y, z] = [x, y, z].map(Node::number);
    Some([x, y, z])
}

/// The numbers of two environments, and everything else about them, are equal.
pub(crate) fn compare_environments(theirs: &str, ours: &str, found: &mut Differences) {
    found.check_equal(shape(ours), shape(theirs), "the environment");
    found.check_equal(numbers(ours), numbers(theirs), "the environment's numbers");
}
