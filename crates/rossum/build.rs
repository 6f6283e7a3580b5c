//! Lets the binary find the MuJoCo library by itself: beside it, in `../lib`, or in the user's cache.

fn main() {
    let cache = std::env::var("DEP_ROSSUM_PHYSICS_LIB").expect("the physics crate says where MuJoCo is");
    let origin = if cfg!(target_os = "macos") { "@executable_path" } else { "$ORIGIN" };
    for folder in [origin, &format!("{origin}/../lib"), &cache] {
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
