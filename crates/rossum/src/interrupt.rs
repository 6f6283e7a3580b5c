//! Handling of ctrl-C in commands without a graceful shutdown.

/// Exit code after an interrupt.
const INTERRUPTED: i32 = 130;

/// From now on, ctrl-C exits the program immediately.
pub(crate) fn exit_on_ctrl_c() -> anyhow::Result<()> {
    exit_on_ctrl_c_after(|| {})
}

/// From now on, ctrl-C exits the program after `cleanup`.
pub(crate) fn exit_on_ctrl_c_after(cleanup: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            cleanup();
            eprintln!("rossum: interrupted");
            std::process::exit(INTERRUPTED);
        }
    })?;
    Ok(())
}
