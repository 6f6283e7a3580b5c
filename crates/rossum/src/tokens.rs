//! `rossum tokens`: the secrets that admit clients to the console of this user's servers.

use std::{
    io::Write,
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use server::user_data::{self, Tokens};
use wire::console::Role;

use crate::table::table;

/// Options of `rossum tokens`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Without one, the tokens are listed, but not printed
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the token of a role, for use in a script
    Show {
        /// The role
        role: RoleName,
    },
    /// Replace tokens: running servers refuse the old ones at once, and end sessions that use them
    Rotate {
        /// The role whose token is replaced; both if none is given
        role: Option<RoleName>,
        /// Days after which the new tokens expire
        #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum RoleName {
    Operator,
    Viewer,
}

impl RoleName {
    fn role(self) -> Role {
        match self {
            Self::Operator => Role::Operator,
            Self::Viewer => Role::Viewer,
        }
    }
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let folder = user_data::folder();
    match &options.action {
        None => list(&read(&folder)?, user_data::today(), out),
        Some(Action::Show { role }) => Ok(writeln!(out, "{}", read(&folder)?.of(role.role()).secret)?),
        Some(Action::Rotate { role, days }) => {
            let roles = role.map_or_else(|| vec![Role::Operator, Role::Viewer], |role| vec![role.role()]);
            let (lifetime, now) = (Duration::from_secs(u64::from(*days) * 24 * 3600), user_data::today());
            let tokens = Tokens::rotate(&folder, &roles, lifetime, now)
                .with_context(|| format!("failed to write {}", user_data::tokens_path(&folder).display()))?;
            list(&tokens, now, out)
        }
    }
}

fn read(folder: &Path) -> anyhow::Result<Tokens> {
    let path = user_data::tokens_path(folder);
    Tokens::read(folder)
        .with_context(|| format!("no tokens in {}; `rossum serve` makes them when it starts", path.display()))
}

fn list(tokens: &Tokens, now: SystemTime, out: &mut dyn Write) -> anyhow::Result<()> {
    let row = |name: &str, role| {
        let token = tokens.of(role);
        let date = i64::try_from(token.expires).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let date = date.map_or_else(|| "never".to_owned(), |date| date.to_string());
        let state = if token.has_expired(now) { "expired, replaced at the next start" } else { "valid" };
        [name.to_owned(), date, state.to_owned()]
    };
    let rows = [row("operator", Role::Operator), row("viewer", Role::Viewer)];
    Ok(write!(out, "{}", table(["role", "expires", "state"], &rows))?)
}
