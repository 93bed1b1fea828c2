//! Lets the linker leave Node-API symbols to the process that loads the addon.

fn main() {
    napi_build::setup();
}
