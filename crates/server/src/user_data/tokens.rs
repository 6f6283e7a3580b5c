//! The secrets that admit clients to the console and its pages: one for each role, kept for the user between runs, valid
//! until a date, and replaceable while servers run.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use tracing::{info, warn};
use wire::console::Role;

use super::{is_private, lock, replace};

/// Random bytes of a token.
const TOKEN_BYTES: usize = 16;

/// The current date, which decides whether a token has expired.
#[expect(clippy::disallowed_methods, reason = "tokens expire on a date")]
pub fn today() -> SystemTime {
    SystemTime::now()
}

/// The file of the tokens in the user's folder.
pub fn tokens_path(folder: &Path) -> PathBuf {
    folder.join("tokens.toml")
}

fn seconds_since_1970(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The secret of one role. It is not printed for debugging.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The secret itself.
    #[serde(rename = "token")]
    pub secret: String,
    /// When it expires, in s since 1970-01-01T00:00:00Z.
    pub expires: u64,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires", &self.expires).finish_non_exhaustive()
    }
}

impl Token {
    fn random(lifetime: Duration, now: SystemTime) -> io::Result<Self> {
        Ok(Self { secret: random_secret()?, expires: seconds_since_1970(now + lifetime) })
    }

    fn is_well_formed(&self) -> bool {
        self.secret.len() >= TOKEN_BYTES && self.secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }

    /// Whether it has expired.
    pub fn has_expired(&self, now: SystemTime) -> bool {
        self.expires <= seconds_since_1970(now)
    }
}

/// The secrets of both roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Admits operators, who may do everything.
    pub operator: Token,
    /// Admits viewers, who may only watch.
    pub viewer: Token,
}

/// The file as earlier versions wrote it: tokens that never expire.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnlimitedTokens {
    operator: String,
    viewer: String,
}

impl Tokens {
    /// The user's tokens, expired ones included. `None` if no server has made any yet, or the file is damaged or readable
    /// by other users.
    pub fn read(folder: &Path) -> Option<Self> {
        let path = tokens_path(folder);
        let text = fs::read_to_string(&path).ok().filter(|_| is_private(&path))?;
        toml::from_str(&text).ok().filter(Self::are_well_formed)
    }

    /// Reads the user's tokens, or makes new ones the first time; an expired one is replaced. Otherwise they stay the same,
    /// so that open pages can reconnect after a restart. If they cannot be written, a warning is logged and they are valid
    /// for this run.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn load_or_create(folder: &Path, lifetime: Duration, now: SystemTime) -> io::Result<Self> {
        let _lock = lock(folder);
        Self::load_or_create_locked(folder, lifetime, now)
    }

    fn load_or_create_locked(folder: &Path, lifetime: Duration, now: SystemTime) -> io::Result<Self> {
        let tokens = match Self::read_or_warn(folder, lifetime, now) {
            Some(mut tokens) => {
                for token in [&mut tokens.operator, &mut tokens.viewer] {
                    if token.has_expired(now) {
                        *token = Token::random(lifetime, now)?;
                    }
                }
                tokens
            }
            None => Self { operator: Token::random(lifetime, now)?, viewer: Token::random(lifetime, now)? },
        };
        if Self::read(folder).as_ref() != Some(&tokens)
            && let Err(error) = tokens.write(folder)
        {
            warn!(path = %tokens_path(folder).display(), %error, "tokens not saved, valid for this run only");
        }
        Ok(tokens)
    }

    /// Replaces the tokens of some roles. Running servers notice it, and end the sessions that used the old ones.
    ///
    /// # Errors
    /// If the system has no random numbers, or the file cannot be written.
    pub fn rotate(folder: &Path, roles: &[Role], lifetime: Duration, now: SystemTime) -> io::Result<Self> {
        let _lock = lock(folder);
        let mut tokens = Self::load_or_create_locked(folder, lifetime, now)?;
        for role in roles {
            let token = match role {
                Role::Operator => &mut tokens.operator,
                Role::Viewer => &mut tokens.viewer,
            };
            *token = Token::random(lifetime, now)?;
        }
        tokens.write(folder)?;
        Ok(tokens)
    }

    /// The tokens in the file, if it can be used; logs why not.
    fn read_or_warn(folder: &Path, lifetime: Duration, now: SystemTime) -> Option<Self> {
        let path = tokens_path(folder);
        let text = fs::read_to_string(&path).ok()?;
        if !is_private(&path) {
            warn!(path = %path.display(), "tokens replaced: other users could read the file");
            return None;
        }
        let unlimited = |tokens: UnlimitedTokens| {
            let expires = seconds_since_1970(now + lifetime);
            let limited = |secret| Token { secret, expires };
            Self { operator: limited(tokens.operator), viewer: limited(tokens.viewer) }
        };
        let tokens = toml::from_str(&text).or_else(|_| toml::from_str(&text).map(unlimited));
        let tokens = tokens.ok().filter(Self::are_well_formed);
        if tokens.is_none() {
            warn!(path = %path.display(), "tokens replaced: the file is invalid");
        }
        tokens
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        replace(&tokens_path(folder), &toml::to_string(self).map_err(io::Error::other)?)
    }

    fn are_well_formed(&self) -> bool {
        let Self { operator, viewer } = self;
        operator.is_well_formed() && viewer.is_well_formed() && operator.secret != viewer.secret
    }

    /// The token of a role.
    pub fn of(&self, role: Role) -> &Token {
        match role {
            Role::Operator => &self.operator,
            Role::Viewer => &self.viewer,
        }
    }

    /// The role that a secret gives, if it has not expired; compares in constant time.
    pub fn role(&self, secret: &str, now: SystemTime) -> Option<Role> {
        let matches = |token: &Token| bool::from(token.secret.as_bytes().ct_eq(secret.as_bytes()));
        let role = match (matches(&self.operator), matches(&self.viewer)) {
            (true, _) => Some(Role::Operator),
            (_, true) => Some(Role::Viewer),
            _ => None,
        };
        role.filter(|role| !self.of(*role).has_expired(now))
    }
}

pub(super) fn random_secret() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Identifies a version of a file: inode, time of the last change in s and ns, size.
type Stamp = (u64, i64, i64, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
}

/// The user's tokens as they are now: follows changes of the file, and replaces tokens that expire. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LiveTokens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    lifetime: Duration,
    /// The version of the file that was read last; none if there was no file.
    read: Mutex<Option<Stamp>>,
    current: watch::Sender<Arc<Tokens>>,
}

impl LiveTokens {
    /// Reads or makes the tokens in a folder. New ones are valid for `lifetime`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn open(folder: &Path, lifetime: Duration, now: SystemTime) -> io::Result<Self> {
        let tokens = Tokens::load_or_create(folder, lifetime, now)?;
        let read = Mutex::new(stamp(&tokens_path(folder)));
        let current = watch::Sender::new(Arc::new(tokens));
        Ok(Self(Arc::new(Inner { folder: folder.to_owned(), lifetime, read, current })))
    }

    /// The tokens that are valid now. Asks the file system whether the file has changed.
    pub fn current(&self, now: SystemTime) -> Arc<Tokens> {
        let mut read = self.0.read.lock();
        let known = Arc::clone(&self.0.current.borrow());
        let has_expired = known.operator.has_expired(now) || known.viewer.has_expired(now);
        let found = stamp(&tokens_path(&self.0.folder));
        if *read == found && !has_expired {
            return known;
        }
        let tokens = match Tokens::load_or_create(&self.0.folder, self.0.lifetime, now) {
            Ok(tokens) => Arc::new(tokens),
            Err(error) => {
                warn!(%error, "tokens not renewed");
                return known;
            }
        };
        *read = found;
        if tokens != known {
            self.0.current.send_replace(Arc::clone(&tokens));
            info!("the console's tokens have changed; `rossum tokens show operator` prints the new one");
        }
        tokens
    }

    /// Receives the tokens whenever they change. [`current`](Self::current) notices changes of the file.
    pub fn changes(&self) -> watch::Receiver<Arc<Tokens>> {
        self.0.current.subscribe()
    }
}

#[cfg(test)]
mod tests;
