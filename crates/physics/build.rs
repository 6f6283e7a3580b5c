//! Makes the MuJoCo library findable when tests and programs run.
//!
//! `cargo run` and `cargo test` put library folders below the target folder on the loader's path, so a link in
//! `OUT_DIR` is enough for them. A binary that is started by itself gets an rpath from its own build script, which
//! reads the folder from `DEP_ROSSUM_PHYSICS_LIB`.

use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process::Command};

fn main() {
    let scripts = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../scripts");
    let fetch = Command::new(scripts.join("fetch-mujoco")).output().expect("scripts/fetch-mujoco can be started");
    assert!(fetch.status.success(), "{}", String::from_utf8_lossy(&fetch.stderr).trim());
    let lib = PathBuf::from(String::from_utf8(fetch.stdout).expect("the cache's path is UTF-8").trim());

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for entry in fs::read_dir(&lib).expect("the library's folder can be read") {
        let file = entry.expect("the library's folder can be read").path();
        let link = out.join(file.file_name().expect("a listed file has a name"));
        let _ = fs::remove_file(&link);
        symlink(&file, &link).expect("OUT_DIR can be written");
        // a deleted cache is fetched again
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::metadata=lib={}", lib.display());
    println!("cargo::rerun-if-changed={}", scripts.join("mujoco.lock").display());
    println!("cargo::rerun-if-changed={}", scripts.join("fetch-mujoco").display());
}
