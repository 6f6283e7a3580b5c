use super::*;

const TICK: Duration = Duration::from_millis(20);
const SILENCE: Duration = Duration::from_secs(5);
const A: AgentId = AgentId(1);
const B: AgentId = AgentId(2);
/// The clients that vote for them.
const SESSION_A: SessionId = SessionId(11);
const SESSION_B: SessionId = SessionId(22);
const ANOTHER: SessionId = SessionId(33);

fn clock(pace: Pace) -> (Clock, Instant) {
    let now = Instant::now();
    (Clock::new(pace, TICK, SILENCE, now), now)
}

/// Looks at the clock as often as it asks for. Who loses its vote meanwhile.
fn watch(clock: &mut Clock, from: Instant, until: Instant) -> Vec<AgentId> {
    let (mut now, mut dropped) = (from, Vec::new());
    loop {
        dropped.extend(clock.drop_silent(now));
        let gate = clock.gate(now);
        if now >= until {
            return dropped;
        }
        now = if let Gate::Until(look) = gate { look.min(until) } else { until };
    }
}

#[test]
fn a_pace_has_one_name_everywhere() {
    for pace in Pace::ALL {
        assert_eq!(pace.to_string().parse(), Ok(pace));
        assert_eq!(serde_json::to_string(&pace).unwrap(), format!("\"{pace}\""));
    }
    assert!("wall".parse::<Pace>().unwrap_err().to_string().contains("`wall`"));
}

#[test]
fn the_table_of_votes_and_pace() {
    for (pace, voters, votes, gate) in [
        (Pace::Realtime, 0, 0, Gate::Open),
        (Pace::Lockstep, 0, 0, Gate::Waiting),
        (Pace::Fast, 0, 0, Gate::Open),
        (Pace::Eager, 0, 0, Gate::Open),
        (Pace::Eager, 2, 2, Gate::Open),
        (Pace::Lockstep, 2, 2, Gate::Open),
        (Pace::Realtime, 2, 2, Gate::Open),
        (Pace::Fast, 2, 2, Gate::Open),
    ] {
        let (mut clock, now) = clock(pace);
        for agent in 0..voters {
            clock.enter(AgentId(agent), SessionId(u64::from(agent)), now);
        }
        for agent in 0..votes {
            assert!(clock.vote(AgentId(agent), Vote::Step, now));
        }
        assert_eq!(clock.gate(now), gate, "{pace:?} with {votes} of {voters} votes");
        if votes > 0 {
            clock.ticked(now);
            assert_eq!(clock.gate(now + TICK), Gate::Waiting, "a vote counts once");
        }
    }
}

#[test]
fn paced_ticks_keep_their_schedule() {
    let (mut clock, start) = clock(Pace::Realtime);
    for tick in 0..5 {
        let due = start + TICK * tick;
        assert_eq!(clock.gate(due), Gate::Open);
        let late = Duration::from_millis(3);
        assert_eq!(clock.lateness(due + late), Some(late));
        assert!(!clock.ticked(due + Duration::from_millis(3)), "being 3 ms late is not falling behind");
    }
    assert_eq!(clock.gate(start + TICK * 5 - Duration::from_millis(1)), Gate::Until(start + TICK * 5));
}

#[test]
fn an_eager_world_keeps_to_real_time_while_nobody_votes() {
    let (mut clock, start) = clock(Pace::Eager);
    clock.ticked(start);
    assert_eq!(clock.gate(start), Gate::Until(start + TICK));
    clock.enter(A, SESSION_A, start);
    for _ in 0..100 {
        clock.vote(A, Vote::Step, start);
        assert_eq!(clock.gate(start), Gate::Open);
        assert!(!clock.ticked(start));
    }
    clock.leave(A);
    assert_eq!(clock.gate(start), Gate::Until(start + TICK), "however fast it was before");
    let much_later = start + 100 * TICK;
    assert!(!clock.ticked(much_later), "nor was it slow: it waited for a voter");
    assert!(clock.ticked(much_later + 100 * TICK), "now it is");
}

#[test]
fn who_is_on_its_way_is_waited_for() {
    for pace in [Pace::Realtime, Pace::Lockstep, Pace::Eager, Pace::Fast] {
        let (mut clock, start) = clock(pace);
        clock.enter(A, SESSION_A, start);
        clock.vote(A, Vote::Step, start);
        clock.expect(start);
        assert_eq!(clock.gate(start), Gate::Waiting, "{pace:?}");
        let later = start + 2 * SILENCE;
        assert_eq!(clock.drop_silent(later), [], "nobody can be heard meanwhile");
        clock.arrived(later);
        assert_eq!(clock.gate(later), Gate::Open, "{pace:?}");
        clock.enter(B, SESSION_B, later);
        // others that come and go do not make it any younger
        let almost = later + SILENCE - TICK;
        assert_eq!(watch(&mut clock, later, almost), [], "{pace:?}");
        clock.expect(almost);
        clock.arrived(almost);
        assert_eq!(watch(&mut clock, almost, later + SILENCE), [B], "{pace:?}");
    }
}

#[test]
fn after_a_stall_the_world_does_not_sprint() {
    let (mut clock, start) = clock(Pace::Realtime);
    clock.ticked(start);
    let woken = start + Duration::from_secs(10);
    let mut burst = 0;
    while clock.gate(woken) == Gate::Open {
        clock.ticked(woken);
        burst += 1;
    }
    assert_eq!(burst, 1);
    assert_eq!(clock.overruns(), 1);
}

#[test]
fn a_silent_voter_loses_its_vote_and_the_rest_go_on() {
    let (mut clock, start) = clock(Pace::Lockstep);
    clock.enter(A, SESSION_A, start);
    clock.enter(B, SESSION_B, start);
    clock.vote(A, Vote::Step, start);
    assert_eq!(watch(&mut clock, start, start + SILENCE - TICK), []);
    assert_eq!(watch(&mut clock, start + SILENCE - TICK, start + SILENCE), [B]);
    assert_eq!(clock.gate(start + SILENCE), Gate::Open);
    assert!(!clock.vote(B, Vote::Step, start + SILENCE), "a dropped agent's vote no longer counts");
}

#[test]
fn a_reset_needs_everyone_and_takes_the_last_seed() {
    let (mut clock, now) = clock(Pace::Lockstep);
    clock.enter(A, SESSION_A, now);
    clock.enter(B, SESSION_B, now);
    clock.vote(B, Vote::Reset(Some(7)), now);
    assert!(matches!(clock.gate(now), Gate::Until(_)));
    clock.vote(A, Vote::Reset(Some(9)), now);
    assert_eq!(clock.gate(now), Gate::Reset(Some(9)));
    clock.vote(A, Vote::Reset(None), now);
    assert_eq!(clock.gate(now), Gate::Reset(Some(7)), "no seed means any");
    clock.was_reset(now);
    assert_eq!(clock.gate(now), Gate::Waiting);
}

#[test]
fn a_wish_for_a_reset_outlives_the_steps_of_others() {
    let (mut clock, now) = clock(Pace::Lockstep);
    clock.enter(A, SESSION_A, now);
    clock.enter(B, SESSION_B, now);
    clock.vote(A, Vote::Reset(Some(3)), now);
    clock.vote(B, Vote::Step, now);
    assert_eq!(clock.gate(now), Gate::Open);
    clock.ticked(now);
    clock.vote(B, Vote::Reset(None), now);
    assert_eq!(clock.gate(now), Gate::Reset(Some(3)));
}

#[test]
fn pausing_stops_everything_and_resuming_does_not_sprint() {
    let (mut clock, start) = clock(Pace::Realtime);
    clock.pause(true, start);
    clock.enter(A, SESSION_A, start);
    assert_eq!(clock.gate(start + SILENCE), Gate::Waiting);
    assert_eq!(clock.drop_silent(start + SILENCE), [], "nobody is late while time stands still");
    clock.vote(A, Vote::Reset(None), start);
    assert_eq!(clock.gate(start), Gate::Reset(None), "a reset needs no time");
    clock.leave(A);
    let later = start + Duration::from_secs(60);
    clock.pause(false, later);
    assert_eq!(clock.gate(later), Gate::Open);
    assert!(!clock.ticked(later));
    assert_eq!(clock.gate(later), Gate::Until(later + TICK));
}

#[test]
fn silence_counts_only_while_another_client_waits() {
    use Pace::{Eager, Fast, Lockstep, Realtime};
    type Waits = fn(&mut Clock, Instant);
    let check = |paces: &[Pace], what: &str, waits: Waits, wanted: &[AgentId]| {
        for &pace in paces {
            let (mut clock, start) = clock(pace);
            clock.enter(A, SESSION_A, start);
            // alone, then one after the other
            let mut now = start + Duration::from_secs(3600);
            assert_eq!(watch(&mut clock, start, now), [], "{pace:?}: alone");
            waits(&mut clock, now);
            let almost = now + SILENCE - Duration::from_millis(1);
            assert_eq!(watch(&mut clock, now, almost), [], "{pace:?}: {what}, not yet");
            now += SILENCE;
            assert_eq!(watch(&mut clock, almost, now), wanted, "{pace:?}: {what}");
            let dropped = watch(&mut clock, now, now + Duration::from_secs(3600));
            assert_eq!(dropped, [], "{pace:?}: {what}, in the end");
        }
    };
    let enters: Waits = |clock, now| clock.enter(B, SESSION_B, now);
    check(&Pace::ALL, "nobody", |_, _| {}, &[]);
    check(&Pace::ALL, "another one is silent, too", enters, &[]);
    let steps: Waits = |clock, now| {
        clock.enter(B, SESSION_B, now);
        clock.vote(B, Vote::Step, now);
    };
    check(&Pace::ALL, "another one has voted for a step", steps, &[A]);
    let resets: Waits = |clock, now| {
        clock.enter(B, SESSION_B, now);
        clock.vote(B, Vote::Reset(None), now);
    };
    check(&Pace::ALL, "another one has voted for a reset", resets, &[A]);
    let own: Waits = |clock, now| {
        clock.enter(B, SESSION_A, now);
        clock.vote(B, Vote::Step, now);
        clock.await_tick(SESSION_A, now);
    };
    check(&Pace::ALL, "it has voted for its other agent", own, &[]);
    let moves: Waits = |clock, now| clock.await_tick(ANOTHER, now);
    check(&[Realtime, Eager, Fast], "another one moves a robot without a vote", moves, &[A]);
    check(&[Lockstep], "the same where time passes only by votes", moves, &[]);
    let leaves: Waits = |clock, now| {
        clock.await_tick(ANOTHER, now);
        clock.forget(ANOTHER);
    };
    check(&Pace::ALL, "another one has gone", leaves, &[]);
    let both: Waits = |clock, now| {
        clock.await_tick(SESSION_A, now);
        clock.enter(B, SESSION_B, now);
        clock.vote(B, Vote::Step, now);
    };
    check(&Pace::ALL, "both wait, one of them with a vote", both, &[A]);
}

#[test]
fn a_tick_ends_the_wait() {
    let (mut clock, start) = clock(Pace::Eager);
    clock.enter(A, SESSION_A, start);
    clock.await_tick(ANOTHER, start);
    clock.vote(A, Vote::Step, start);
    clock.ticked(start);
    assert_eq!(watch(&mut clock, start, start + 2 * SILENCE), []);
}

#[test]
fn while_the_server_stands_still_nobody_is_silent() {
    let seconds = Duration::from_secs_f64;
    for before in [0.0, 0.001, 0.4, 2.0, 4.6, 4.999] {
        for stop in [0.8, 4.0, 10.0, 36_000.0] {
            for pace in Pace::ALL {
                let what = format!("{pace:?}: stopped for {stop} s, {before} s after a vote");
                let stopped = |clock: &mut Clock, start: Instant| {
                    clock.enter(A, SESSION_A, start);
                    clock.enter(B, SESSION_B, start);
                    clock.vote(B, Vote::Step, start);
                    if before > 0.0 {
                        assert_eq!(watch(clock, start, start + seconds(before)), [], "{what}");
                    }
                    // what has arrived meanwhile takes a moment to get to the world
                    let resumed = start + seconds(before + stop);
                    let handled = resumed + seconds(0.9);
                    assert_eq!(watch(clock, resumed, handled), [], "{what}");
                    (resumed, handled)
                };
                let (mut clock, start) = clock(pace);
                let (_, handled) = stopped(&mut clock, start);
                assert!(clock.vote(A, Vote::Step, handled), "{what}");
                assert_eq!(clock.gate(handled), Gate::Open, "{what}");
                // one that really is silent goes: the time that it had left still runs
                let mut clock = Clock::new(pace, TICK, SILENCE, start);
                let (resumed, handled) = stopped(&mut clock, start);
                let left = SILENCE - seconds(before) + seconds(1.0);
                assert_eq!(watch(&mut clock, handled, resumed + left), [A], "{what}");
            }
        }
    }
}

#[test]
fn after_a_stop_lockstep_takes_one_tick_for_one_set_of_votes() {
    let (mut clock, mut now) = clock(Pace::Lockstep);
    clock.enter(A, SESSION_A, now);
    clock.enter(B, SESSION_B, now);
    clock.vote(B, Vote::Step, now);
    watch(&mut clock, now, now + TICK);
    now += Duration::from_secs(10);
    clock.vote(A, Vote::Step, now);
    let mut burst = 0;
    while clock.drop_silent(now).is_empty() && clock.gate(now) == Gate::Open {
        clock.ticked(now);
        burst += 1;
    }
    assert_eq!((burst, clock.overruns()), (1, 0));
}

#[test]
fn an_agent_that_its_client_has_left_behind_can_be_taken_over() {
    let (mut clock, start) = clock(Pace::Lockstep);
    clock.enter(A, SESSION_A, start);
    let hour = Duration::from_secs(3600);
    assert!(!clock.contest(A, start + hour), "it may be alone and pause");
    assert_eq!(watch(&mut clock, start + hour, start + 2 * hour), [], "nobody asks again");
    assert!(clock.contest(A, start + 2 * hour), "somebody does");
    assert!(clock.vote(A, Vote::Step, start + 2 * hour));
    assert!(!clock.contest(A, start + 2 * hour), "it waits itself");
    clock.ticked(start + 2 * hour);
    let asked = start + 3 * hour;
    assert!(!clock.contest(A, asked), "it was heard since");
    assert_eq!(watch(&mut clock, asked, asked + TICK), []);
    let resumed = asked + Duration::from_secs(10);
    assert!(!clock.contest(A, resumed), "the server was stopped: its vote may have arrived");
    // up to half a second of the stop may have counted
    let almost = resumed + SILENCE - Duration::from_millis(600);
    assert_eq!(watch(&mut clock, resumed, almost), []);
    assert!(!clock.contest(A, almost));
    assert_eq!(watch(&mut clock, almost, resumed + SILENCE), []);
    assert!(clock.contest(A, resumed + SILENCE));
}
