//! Joining and leaving the game.

use world::SessionId;

use super::*;

#[test]
fn an_agent_that_joins_a_running_game_is_in_lockstep_immediately() {
    let mut game = TestGame::sync(true);
    let a = game.join("T1 Reds 2");
    game.send(a, "(syn)");
    game.cycles(1);
    let b = game.connect();
    let world = game.run.world().snapshot();
    let mut out = Outbox::default();
    game.agents[b].session.receive(peer(b), &mut frame("(init T1 Blues 2)"), Context::new(&world, game.now), &mut out);
    game.execute(b, out);
    let blueprint = game.run.next_blueprint(game.now).expect("a robot to build");
    game.send_only(a, "(syn)");
    assert!(!game.cycle_only(), "no cycle runs while its robot is being built");
    game.run.install(blueprint.build(), game.now);
    game.latest = game.run.world().snapshot();
    game.deliver();
    assert_eq!((game.received(a), game.received(b)), (2, 1));
    assert_eq!(game.cycles_while_open(), 0, "nor before its first message");
    game.send(b, "(syn)");
    for count in 1..5 {
        game.cycles(1);
        assert_eq!(game.cycles_while_open(), 0);
        assert_eq!(game.received(b), count + 1);
        game.send(b, "(syn)");
        game.send(a, "(syn)");
    }
}

/// Compares with the first message of the league's server, which shows a robot where it spawns in either order.
#[test]
fn the_first_perception_shows_the_spawn() {
    for (what, config, pace) in [
        ("real time", Config::default(), Pace::Fast),
        ("sync", Config::sync(false), Pace::Lockstep),
        ("sequential", Config::sync(true), Pace::Lockstep),
    ] {
        for (init, height) in [("T1 Reds 2", 0.673), ("K1 Reds 2", 1.0), ("ant Reds 2", 0.0)] {
            let mut game = TestGame::on("fifa", config, pace);
            let agent = game.join(init);
            if what != "sequential" {
                assert_eq!(game.received(agent), 0, "{what}: it is sent when the next cycle begins");
                game.cycles(1);
            }
            assert_eq!(game.received(agent), 1, "{what}");
            let first = game.last(agent);
            assert_eq!(first.time.get(), 0.0, "{what}: {init}");
            assert_eq!(game.position(agent), [-5.0, 37.0, height], "{what}: {init}");
            assert_eq!(first.orientations[0].values.map(|value| value.get()), [0.707, 0.0, 0.0, -0.707]);
            assert_eq!(first.gyros[0].values.map(|value| value.get()), [0.0; 3], "{what}: {init}");
            for joint in &first.joints {
                let state = [joint.angle_deg, joint.velocity_deg].map(|value| value.get());
                assert_eq!(state, [0.0; 2], "{what}: {init}: {}", joint.name.as_str());
            }
            assert!(first.see.is_some(), "{what}: {init}");
        }
    }
}

#[test]
fn a_silent_agent_is_closed_and_the_others_continue() {
    let mut game = TestGame::sync(false);
    let a = game.join("T1 Reds 2");
    let b = game.join("T1 Blues 2");
    game.cycles_while_open();
    game.send(a, "(syn)");
    for _ in 1..SILENCE.as_millis() / CYCLE.as_millis() {
        assert!(!game.cycle());
    }
    assert_eq!(game.closed(b), None);
    game.cycle();
    assert_eq!(game.closed(b), Some("no message in time"));
    assert_eq!(game.closed(a), None);
    for _ in 0..10 {
        game.send(a, "(syn)");
        game.cycles(1);
    }
    assert_eq!(game.run.world().catalogue().agents.len(), 1, "its robot is removed");
    let c = game.join("T1 Blues 2");
    assert_eq!(game.closed(c), None, "its number is free");
}

#[test]
fn an_agent_that_plays_alone_may_pause() {
    for sequential in [false, true] {
        let mut game = TestGame::sync(sequential);
        let agent = game.join("T1 Reds 2");
        game.cycles_while_open();
        let minute = 60 * 1_000 / CYCLE.as_millis();
        for _ in 0..minute {
            assert!(!game.cycle());
        }
        assert_eq!(game.closed(agent), None);
        game.send(agent, "(syn)");
        game.cycles(1);
    }
}

#[test]
fn a_refused_agent_is_closed_with_the_reason() {
    let mut game = TestGame::new();
    for init in ["T1 Reds 2", "T1 Blues 2"] {
        let joined = game.join(init);
        assert_eq!(game.closed(joined), None);
    }
    game.cycles(2);
    for (message, wanted) in [
        ("(init T2 Reds 3)", "unknown robot `T2`"),
        ("(init t1 Reds 3)", "did you mean `T1`"),
        ("(init ../../../etc/passwd Reds 3)", "unknown robot"),
        ("(init robots/T1/robot.xml Reds 3)", "unknown robot"),
        ("(init /tmp/robot.xml Reds 3)", "unknown robot"),
        ("(init T1 Greens 1)", "team `Greens` cannot join"),
        ("(init T1 Reds 2)", "already has a number 2"),
        ("(init T1 Reds -102)", "already has a number 2"),
        ("(init T1 Reds)", "no readable `init`"),
        ("(init T1 Reds two)", "no readable `init`"),
        ("(syn)", "no readable `init`"),
        ("(init T1 Reds 3", ""),
        ("hello", ""),
    ] {
        let agent = game.connect();
        game.send(agent, "");
        assert_eq!(game.closed(agent), None, "an empty message has no effect");
        game.send(agent, message);
        let reason = game.closed(agent).unwrap_or_else(|| panic!("{message} is accepted"));
        assert!(reason.contains(wanted), "{message}: {reason}");
    }
    // a robot that is not part of the game
    let rover = game.join("rover Reds 5");
    game.cycles(2);
    assert!(game.closed(rover).is_some_and(|reason| reason.contains("not in the game")), "{:?}", game.closed(rover));
    assert_eq!(game.run.world().catalogue().agents.len(), 2);
    let agent = game.join("T1 Reds 5");
    game.cycles(2);
    assert_eq!((game.closed(agent), game.received(agent)), (None, 2));
}

#[test]
fn a_full_team_is_refused() {
    let mut game = TestGame::on("fifa7vs7", Config::default(), Pace::Fast);
    for number in 1..=7 {
        game.join(&format!("ant Reds {number}"));
    }
    let eighth = game.join("ant Reds 8");
    assert!(game.closed(eighth).is_some_and(|reason| reason.contains("already has 7 players")));
}

#[test]
fn all_robots_of_the_league_can_play() {
    let mut game = TestGame::new();
    for (init, joints, motor) in [("T1 Reds 2", 23, "te1"), ("K1 Reds 3", 22, "rle6"), ("ant Blues 1", 8, "l4e1")] {
        let agent = game.join(init);
        game.cycles(2);
        let perception = game.last(agent);
        assert_eq!(perception.joints.len(), joints, "{init}");
        for count in [
            perception.orientations.len(),
            perception.positions.len(),
            perception.gyros.len(),
            perception.accelerometers.len(),
        ] {
            assert_eq!(count, 1, "{init}: {}", game.last_text(agent));
        }
        game.send(agent, &format!("({motor} 10 0 5 1 0)"));
        game.cycles(5);
        assert_eq!(game.agents[agent].refusals, [""; 0], "{init}");
        assert_eq!(game.closed(agent), None, "{init}");
    }
}

#[test]
fn a_robot_that_cannot_be_built_leaves_its_number_free() {
    // parsed, but refused by the engine: a moving body without mass
    let text = r#"<mujoco><worldbody><body name="torso"><freejoint/></body></worldbody></mujoco>"#;
    let ghost = Source::from_text("ghost", text, &Limits::default()).unwrap();
    let mut game = TestGame::new();
    game.models = Arc::new(Models([("ghost".to_owned(), ghost)].into_iter().collect()));
    for _ in 0..20 {
        let ghost = game.join("ghost Reds 1");
        assert!(game.closed(ghost).is_some(), "it cannot be built");
    }
    let a = game.join("T1 Reds 1");
    game.cycles(2);
    assert_eq!((game.closed(a), game.received(a)), (None, 2));
}

#[test]
fn a_freed_number_can_be_reused_immediately() {
    let mut game = TestGame::new();
    let a = game.join("T1 Reds 2");
    game.cycles(1);
    game.leave_only(a);
    let b = game.join("T1 Reds 2");
    game.cycles(2);
    assert_eq!((game.closed(b), game.received(b)), (None, 2));
    let c = game.join("T1 Reds 2");
    assert!(game.closed(c).is_some_and(|reason| reason.contains("number 2")), "{:?}", game.closed(c));
}

#[test]
fn a_killed_agent_is_gone_within_a_second_and_nobody_misses_a_cycle() {
    type Dies = fn(&mut TestGame, usize);
    let half = |message: &str| {
        let bytes = frame(message);
        bytes[..bytes.len() / 2].to_vec()
    };
    let beams: Dies = |game, agent| {
        game.send(agent, "(beam -3 1 0)");
    };
    let init: Dies = |game, agent| game.send_only(agent, "(init T1 Reds 2)");
    let second = 1_000 / CYCLE.as_millis();
    for is_sync in [false, true] {
        let play = |what: &str, is_playing: bool, dies: &dyn Fn(&mut TestGame, usize)| {
            let mut game = if is_sync { TestGame::sync(true) } else { TestGame::new() };
            let witness = game.join("T1 Blues 1");
            let cycles = |game: &mut TestGame, count: u128| {
                for _ in 0..count {
                    game.send(witness, "(he1 10 0 5 1 0)(syn)");
                    game.cycle();
                }
            };
            cycles(&mut game, 2);
            let victim = if is_playing { game.join("T1 Reds 2") } else { game.connect() };
            dies(&mut game, victim);
            game.leave_only(victim);
            let died_at = game.tick();
            // the cycles of a second at most, with the witness in lockstep
            let is_gone = |game: &TestGame| game.run.world().catalogue().agents.len() == 1;
            game.deliver();
            while !is_gone(&game) || game.tick() == died_at {
                cycles(&mut game, 1);
                assert!(u128::from(game.tick() - died_at) <= second, "{what}: sync = {is_sync}");
            }
            let hash = game.run.world().state_hash();
            let next = game.join("T1 Reds 2");
            assert_eq!(game.closed(next), None, "{what}: its number is free");
            // in sequential order, it has also perceived its spawn before the first cycle
            let cycles = game.tick() + u64::from(is_sync);
            assert_eq!(game.received(witness) as u64, cycles, "{what}: the witness missed a cycle");
            assert_eq!(game.closed(witness), None);
            hash
        };
        let before = play("before a message", false, &|_, _| {});
        let bytes = half("(init T1 Reds 2)");
        assert_eq!(play("in its init", false, &|game, agent| game.send_bytes_only(agent, &bytes)), before);
        play("while it joins", false, &init);
        let plays = play("while it plays", true, &|_, _| {});
        let bytes = half("(beam -3 1 0)(lle4 30 0 60 2 0)");
        assert_eq!(play("in a message", true, &|game, agent| game.send_bytes_only(agent, &bytes)), plays);
        play("after a message", true, &beams);
    }
}

#[test]
fn an_agent_can_rejoin() {
    let mut game = TestGame::new();
    let witness = game.join("T1 Blues 1");
    let trainer = game.watch();
    for round in 0..3 {
        let a = game.join("T1 Reds 2");
        assert_eq!(game.closed(a), None);
        game.cycles(3);
        assert_eq!(game.received(a), 3);
        if round == 2 {
            game.send(trainer, "(kickOff)");
            game.cycles(1);
        }
        game.leave(a);
        game.cycles(1);
        assert_eq!(game.run.world().catalogue().agents.len(), 1);
    }
    let perception = game.last(witness);
    assert_eq!(perception.game.team_right.unwrap().as_str(), "Reds", "once a game has begun, team names are kept");
    assert_eq!(game.received(witness) as u64, game.tick(), "the other agents are unaffected");
}

#[test]
fn an_empty_team_gives_its_name_back_before_the_kick_off() {
    let mut game = TestGame::new();
    let trainer = game.watch();
    let plays = |game: &mut TestGame, init: &str| {
        let agent = game.join(init);
        game.cycles(1);
        game.closed(agent).map_or(Ok(agent), |reason| Err(reason.to_owned()))
    };
    let names = |game: &TestGame, agent| {
        let state = game.last(agent).game;
        [state.team_left, state.team_right].map(|name| name.map(|name| name.as_str().to_owned()))
    };
    let named = |left: &str, right: &str| [left, right].map(|name| Some(name.to_owned()));
    // two clients that connect once
    for init in ["T1 Thrown 1", "T1 Away 1"] {
        let agent = plays(&mut game, init).unwrap();
        game.leave(agent);
    }
    let reds = plays(&mut game, "T1 Reds 2").unwrap();
    let blues = plays(&mut game, "T1 Blues 2").unwrap();
    game.cycles(1);
    assert_eq!(names(&game, reds), named("Reds", "Blues"));
    assert!(plays(&mut game, "T1 Greens 2").is_err(), "two teams are there");
    // the side of a team that has gone is free, and the other one keeps its own
    game.leave(reds);
    let more = plays(&mut game, "T1 Blues 3").unwrap();
    let greens = plays(&mut game, "T1 Greens 2").unwrap();
    game.cycles(1);
    assert_eq!(names(&game, blues), named("Greens", "Blues"));
    // once a game has begun, a team may come back
    game.send(trainer, "(kickOff)");
    game.cycles(1);
    for gone in [greens, blues, more] {
        game.leave(gone);
    }
    game.cycles(1);
    assert!(plays(&mut game, "T1 Reds 2").unwrap_err().contains("`Greens` and `Blues` are playing"));
    game.send(trainer, "(reset)");
    let reds = plays(&mut game, "T1 Reds 2").unwrap();
    game.cycles(1);
    assert_eq!(names(&game, reds), [Some("Reds".to_owned()), None]);
}

#[test]
fn leaving_before_the_robot_is_built_frees_the_number() {
    for is_waiting in [false, true] {
        let mut game = if is_waiting { TestGame::sync(true) } else { TestGame::new() };
        let a = game.join("T1 Blues 1");
        game.cycle();
        let b = game.connect();
        let world = game.run.world().snapshot();
        let mut out = Outbox::default();
        game.agents[b].session.receive(
            peer(b),
            &mut frame("(init T1 Reds 2)"),
            Context::new(&world, game.now),
            &mut out,
        );
        game.execute(b, out);
        game.leave(b);
        game.send(a, "(syn)");
        game.cycle();
        let c = game.join("T1 Reds 2");
        assert_eq!(game.closed(c), None, "is_waiting = {is_waiting}");
    }
}

#[test]
fn garbage_before_init_closes_the_connection() {
    for (message, is_closed) in
        [("hello", true), (")", true), ("(foo 1)", true), ("(((", true), ("", false), (" ", false)]
    {
        let mut game = TestGame::new();
        let agent = game.connect();
        game.send(agent, message);
        assert_eq!(game.closed(agent).is_some(), is_closed, "`{message}`");
    }
    // while playing it has no effect
    let mut game = TestGame::new();
    let agent = game.join("T1 Reds 2");
    game.send(agent, "hello");
    game.cycles(2);
    assert_eq!(game.closed(agent), None);
}

#[test]
fn nothing_is_sent_to_connections_that_have_not_joined() {
    for config in [Config::default(), Config::sync(false), Config::sync(true)] {
        let mut game = TestGame::on("fifa", config, Pace::Fast);
        let [silent, empty, refused, garbage] = std::array::from_fn(|_| game.connect());
        let player = game.join("T1 Reds 2");
        game.send(refused, "(init T2 Reds 3)");
        game.send(garbage, "(beam -3 0 0)");
        for _ in 0..10 {
            game.send(empty, "");
            game.send(player, "(syn)");
            game.cycles(1);
        }
        assert!(game.received(player) >= 10, "{config:?}");
        for connection in [silent, empty, refused, garbage] {
            assert_eq!(game.received(connection), 0, "{config:?}: {connection}");
        }
        // and the silent one may still join
        game.send(silent, "(init T1 Blues 2)");
        game.cycle();
        assert_eq!(game.received(silent), 1, "{config:?}");
    }
}

/// Programs that have the game in their own process use sessions without connections.
#[test]
fn a_session_tells_whether_it_is_awaited_and_what_it_perceives() {
    let mut game = TestGame::sync(true);
    let mut session = game.agents_port().session(peer(0));
    let mut out = StreamOutbox::default();
    let world = game.run.world().snapshot();
    let message = AgentMessage::decode(b"(init T1 Reds 2)").unwrap();
    session.handle(Input::Message { from: peer(0), message }, Context::new(&world, game.now), &mut out);
    assert!(!session.is_awaited() && session.perceive(&world).is_none(), "it is joining");
    for command in out.take().commands {
        game.run.handle(SessionId(0), 1, command, game.now);
    }
    let blueprint = game.run.next_blueprint(game.now).expect("a robot to build");
    game.run.install(blueprint.build(), game.now);
    let world = game.run.world().snapshot();
    for (_, answer) in game.run.take_answers() {
        session.handle(Input::Answer(answer), Context::new(&world, game.now), &mut out);
    }
    let replies = out.take().replies;
    let [(_, first)] = &replies[..] else { panic!("it perceives its spawn") };
    assert!(session.is_awaited());
    assert_eq!(session.perceive(&world).as_ref(), Some(first));
    assert!(session.is_awaited(), "that was not its turn");
    let message = AgentMessage::default();
    session.handle(Input::Message { from: peer(0), message }, Context::new(&world, game.now), &mut out);
    assert!(!session.is_awaited() && out.commands.len() == 1, "it has voted");
}
