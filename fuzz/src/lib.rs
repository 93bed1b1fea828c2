//! What must hold of any bytes from outside, one function for each fuzz target.
//!
//! A target (`fuzz/targets/NAME.rs`) runs the function of its name on what the fuzzer makes up. The
//! tests below run it on the corpus (`fuzz/corpus/NAME/`), so that `cargo test --workspace` repeats
//! whatever fuzzing once found.

use std::net::{IpAddr, SocketAddr};

use oxwire::net::parse_address;

/// An address that is read is the one that was written, and nothing but addresses is read.
pub fn address(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(address) = parse_address(text, 80) else {
        assert!(text.parse::<IpAddr>().is_err(), "an address was refused");
        return;
    };
    assert_eq!(address.port(), 80);
    let (written, zone) = match text.split_once('%') {
        Some((written, zone)) => (written, Some(zone)),
        None => (text, None),
    };
    assert_eq!(written.parse(), Ok(address.ip()));
    if let (Some(Ok(number)), SocketAddr::V6(address)) = (zone.map(str::parse), address) {
        assert_eq!(address.scope_id(), number);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Runs a check on each file of a target's corpus.
    fn replay(target: &str, check: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut files = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            check(&fs::read(path).unwrap());
            files += 1;
        }
        assert!(files > 0, "{target} has no corpus");
    }

    #[test]
    fn address() {
        replay("address", super::address);
    }
}
