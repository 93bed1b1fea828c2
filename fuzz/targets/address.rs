//! `fuzz::address` on whatever libFuzzer makes up.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::address(data));

/// Fuzz targets are built by cargo-fuzz: `npm run fuzz`.
#[cfg(not(fuzzing))]
fn main() {}
