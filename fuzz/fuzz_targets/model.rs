//! Models: whatever the scan accepts is compiled by the engine, or refused by it, without a crash. The limits are lower than
//! the server's, so that each is soon done.

#![no_main]

use libfuzzer_sys::fuzz_target;
use physics::{Assembly, Limits, Source};

fuzz_target!(|text: &str| {
    // what the server accepts is scanned in time
    let _ = Source::from_text("fuzz", text, &Limits::default());
    let limits = Limits {
        elements: 200,
        texture_pixels: 1 << 12,
        hfield_cells: 1 << 12,
        values: 1 << 10,
        values_in_all: 1 << 14,
        memory_bytes: 1 << 24,
        ..Limits::default()
    };
    if let Ok(source) = Source::from_text("fuzz", text, &limits) {
        let assembly = Assembly::new(source);
        let _ = (assembly.compile(), assembly.visuals());
    }
});
