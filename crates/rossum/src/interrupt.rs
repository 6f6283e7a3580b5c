//! Ctrl-C during long work that has little to put away.

/// Exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// From now on ctrl-C ends the program at once, with the exit code that says so.
pub(crate) fn ends_the_program() -> anyhow::Result<()> {
    ends_the_program_after(|| {})
}

/// The same, once something has been put away.
pub(crate) fn ends_the_program_after(put_away: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            put_away();
            eprintln!("rossum: interrupted");
            std::process::exit(INTERRUPTED);
        }
    })?;
    Ok(())
}
