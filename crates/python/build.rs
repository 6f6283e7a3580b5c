//! Lets the extension module find the MuJoCo library in the Python package `mujoco`, which is installed beside it.

fn main() {
    let origin = if cfg!(target_os = "macos") { "@loader_path" } else { "$ORIGIN" };
    println!("cargo::rustc-link-arg-cdylib=-Wl,-rpath,{origin}/../mujoco");
    println!("cargo::rerun-if-changed=build.rs");
}
