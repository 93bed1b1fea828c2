//! Addresses as text.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Reads an IPv4 or IPv6 address as people write it, an IPv6 zone by number or by the name of an
/// interface among it (`fe80::1%eth0`, RFC 4007, section 11).
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] where `text` is no address or names no interface.
pub fn parse_address(text: &str, port: u16) -> io::Result<SocketAddr> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    if let Some((address, zone)) = text.split_once('%') {
        let address: Ipv6Addr = address.parse().map_err(|_| invalid())?;
        let zone = match zone.parse() {
            Ok(number) => number,
            Err(_) => interface_index(zone).ok_or_else(invalid)?,
        };
        return Ok(SocketAddrV6::new(address, port, 0, zone).into());
    }
    let address: IpAddr = text.parse().map_err(|_| invalid())?;
    Ok(SocketAddr::new(address, port))
}

#[cfg(unix)]
fn interface_index(name: &str) -> Option<u32> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: `name` is a string that ends in a zero byte and lives through the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    (index != 0).then_some(index)
}

/// Elsewhere zones go by number alone.
#[cfg(not(unix))]
fn interface_index(_name: &str) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::parse_address;
    use std::net::SocketAddr;

    #[test]
    fn both_families_are_read() {
        assert_eq!(parse_address("127.0.0.1", 80).unwrap(), "127.0.0.1:80".parse().unwrap());
        assert_eq!(parse_address("::1", 0).unwrap(), "[::1]:0".parse().unwrap());
    }

    #[test]
    fn a_zone_is_a_number_or_an_interface() {
        let SocketAddr::V6(numbered) = parse_address("fe80::1%7", 1).unwrap() else {
            panic!("a zone makes it IPv6")
        };
        assert_eq!(numbered.scope_id(), 7);
        assert!(parse_address("fe80::1%no-such-interface", 1).is_err());
        assert!(parse_address("fe80::1%", 1).is_err());
        assert!(parse_address("fe80::1%a\0b", 1).is_err());
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in
            ["", "localhost", "1.2.3", "1.2.3.4.5", "256.0.0.1", "127.0.0.1%1", "::1::", "[::1]"]
        {
            assert!(parse_address(text, 1).is_err(), "{text}");
        }
    }
}
