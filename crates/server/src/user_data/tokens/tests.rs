use std::os::unix::fs::PermissionsExt;

use super::*;

const DAY: Duration = Duration::from_secs(24 * 3600);
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

/// A fixed date.
fn date() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn load(folder: &Path, now: SystemTime) -> Tokens {
    Tokens::load_or_create(folder, MONTH, now).unwrap()
}

fn secrets(tokens: &Tokens) -> [&str; 2] {
    [&tokens.operator.secret, &tokens.viewer.secret]
}

#[test]
fn tokens_are_kept_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let (path, now) = (tokens_path(folder.path()), date());
    assert_eq!(Tokens::read(folder.path()), None);
    let first = load(folder.path(), now);
    assert_eq!((load(folder.path(), now), Tokens::read(folder.path())), (first.clone(), Some(first.clone())));
    let [operator, viewer] = secrets(&first);
    assert_eq!((operator.len(), first.operator.expires), (2 * TOKEN_BYTES, seconds_since_1970(now + MONTH)));
    assert_eq!(first.role(operator, now), Some(Role::Operator));
    assert_eq!(first.role(viewer, now), Some(Role::Viewer));
    for wrong in ["", "a", &operator[1..], &format!("{operator}0")] {
        assert_eq!(first.role(wrong, now), None, "{wrong}");
    }
    let printed = format!("{first:?}");
    assert!(!printed.contains(operator) && !printed.contains(viewer), "{printed}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // a file that others could read
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(Tokens::read(folder.path()), None);
    let new = load(folder.path(), now);
    assert!(secrets(&new) != secrets(&first) && load(folder.path(), now) == new);
    // a file that is damaged
    for text in ["", "operator = \"\"\nviewer = \"\"", "operator = 3", "[operator]\ntoken = \"a\"\nexpires = 1"] {
        fs::write(&path, text).unwrap();
        let tokens = load(folder.path(), now);
        assert!(tokens.are_well_formed() && secrets(&tokens) != secrets(&new), "{text}");
    }
}

#[test]
fn an_expired_token_gives_no_role_and_is_replaced_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (now, later) = (date(), date() + 10 * DAY);
    let first = load(folder.path(), now);
    let rotated = Tokens::rotate(folder.path(), &[Role::Viewer], MONTH, later).unwrap();
    assert_eq!(rotated.operator, first.operator);
    assert!(rotated.viewer != first.viewer && load(folder.path(), later) == rotated);
    assert_eq!(rotated.role(&first.viewer.secret, later), None);
    // the operator's token expires 10 days before the viewer's
    let end = now + MONTH;
    assert_eq!(rotated.role(&first.operator.secret, end - Duration::from_secs(1)), Some(Role::Operator));
    assert_eq!(rotated.role(&first.operator.secret, end), None);
    assert_eq!(rotated.role(&rotated.viewer.secret, end), Some(Role::Viewer));
    let renewed = load(folder.path(), end);
    assert!(renewed.operator != first.operator && renewed.viewer == rotated.viewer);
    assert_eq!(renewed.operator.expires, seconds_since_1970(end + MONTH));
}

#[test]
fn tokens_of_earlier_versions_keep_their_links_and_expire_from_now_on() {
    let folder = tempfile::tempdir().unwrap();
    let (operator, viewer) = ("0123456789abcdef", "fedcba9876543210");
    replace(&tokens_path(folder.path()), &format!("operator = \"{operator}\"\nviewer = \"{viewer}\"\n")).unwrap();
    let tokens = load(folder.path(), date());
    assert_eq!(secrets(&tokens), [operator, viewer]);
    assert_eq!(Tokens::read(folder.path()), Some(tokens), "the date is written");
    assert!(!secrets(&load(folder.path(), date() + MONTH)).contains(&operator));
}

#[test]
fn tokens_are_made_even_if_they_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let live = LiveTokens::open(&file.join("below"), MONTH, date()).unwrap();
    let first = live.current(date());
    assert!(first.are_well_formed());
    assert_eq!(live.current(date() + DAY), first, "the same for the whole run");
    assert!(Tokens::rotate(&file.join("below"), &[Role::Viewer], MONTH, date()).is_err());
}

#[test]
fn a_running_server_notices_rotated_deleted_and_expired_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let live = LiveTokens::open(folder.path(), MONTH, date()).unwrap();
    let mut changes = live.changes();
    let first = live.current(date());
    assert!(!changes.has_changed().unwrap());
    let rotated = Tokens::rotate(folder.path(), &[Role::Operator, Role::Viewer], MONTH, date()).unwrap();
    assert_eq!(*live.current(date()), rotated);
    assert!(changes.has_changed().unwrap() && **changes.borrow_and_update() == rotated);
    assert!(rotated.role(&first.operator.secret, date()).is_none());
    // a user who deletes the file gets new tokens at once
    fs::remove_file(tokens_path(folder.path())).unwrap();
    let new = live.current(date());
    assert!(secrets(&new) != secrets(&rotated) && Tokens::read(folder.path()).as_ref() == Some(&new));
    let renewed = live.current(date() + MONTH);
    assert!(secrets(&renewed) != secrets(&new) && changes.has_changed().unwrap());
    // another server of this user follows
    assert_eq!(LiveTokens::open(folder.path(), MONTH, date() + MONTH).unwrap().current(date() + MONTH), renewed);
}

#[test]
fn servers_that_start_together_share_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = std::thread::scope(|scope| {
        let made: Vec<_> = (0..8).map(|_| scope.spawn(|| load(folder.path(), date()))).collect();
        made.into_iter().map(|made| made.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(tokens.iter().all(|token| token == &tokens[0]), "{tokens:?}");
}
