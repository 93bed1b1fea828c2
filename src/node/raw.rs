//! Node-API without conversions: one C call per argument, nothing allocated, nothing referenced.

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::sys;

/// A native function as Node-API calls it.
pub type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// One argument of a call, valid until the call returns.
#[derive(Clone, Copy)]
pub struct Argument {
    env: sys::napi_env,
    value: sys::napi_value,
}

impl Argument {
    /// The value itself.
    pub fn value(self) -> sys::napi_value {
        self.value
    }

    /// A number as a 32-bit integer, or `None` for what is no number.
    pub fn int(self) -> Option<i32> {
        let mut result = 0;
        // SAFETY: `env` and `value` belong to the call under way, `result` outlives this one.
        let status = unsafe { sys::napi_get_value_int32(self.env, self.value, &mut result) };
        (status == sys::Status::napi_ok).then_some(result)
    }

    /// A number as an index, or `None` for what is no number or is negative.
    pub fn index(self) -> Option<usize> {
        let mut result = 0;
        // SAFETY: as in `int`.
        let status = unsafe { sys::napi_get_value_int64(self.env, self.value, &mut result) };
        if status == sys::Status::napi_ok { usize::try_from(result).ok() } else { None }
    }

    /// A boolean; what is none counts as `false`.
    pub fn boolean(self) -> bool {
        let mut result = false;
        // SAFETY: as in `int`.
        unsafe { sys::napi_get_value_bool(self.env, self.value, &mut result) };
        result
    }

    /// A string of at most 255 bytes of UTF-8, or `None` for a longer one and what is no string.
    pub fn short_string(self) -> Option<String> {
        let mut bytes = [0u8; 257];
        let mut length = 0;
        // SAFETY: as in `int`; Node-API writes at most `bytes.len()` bytes.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                self.env,
                self.value,
                bytes.as_mut_ptr().cast(),
                bytes.len(),
                &mut length,
            )
        };
        if status != sys::Status::napi_ok || length > 255 {
            return None;
        }
        String::from_utf8(bytes.get(..length)?.to_vec()).ok()
    }

    /// An element of an array.
    pub fn element(self, index: u32) -> Option<Self> {
        let mut value = ptr::null_mut();
        // SAFETY: as in `int`.
        let status = unsafe { sys::napi_get_element(self.env, self.value, index, &mut value) };
        (status == sys::Status::napi_ok).then_some(Self { env: self.env, value })
    }

    /// How many elements an array has, or `None` for what is no array.
    pub fn array_length(self) -> Option<u32> {
        let mut length = 0;
        // SAFETY: as in `int`.
        let status = unsafe { sys::napi_get_array_length(self.env, self.value, &mut length) };
        (status == sys::Status::napi_ok).then_some(length)
    }

    /// Where the bytes of a `Uint8Array` are now, and how many, or `None` for what is none. A detached
    /// one has no bytes.
    fn memory(self) -> Option<(*mut u8, usize)> {
        let mut kind = 0;
        let mut data = ptr::null_mut();
        let mut length = 0;
        // SAFETY: as in `int`; what is not asked for is null.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.value,
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        // The length is one of elements, so these must be bytes.
        if status != sys::Status::napi_ok || kind != sys::TypedarrayType::uint8_array {
            return None;
        }
        if data.is_null() || length == 0 {
            return Some((ptr::NonNull::dangling().as_ptr(), 0));
        }
        Some((data.cast(), length))
    }

    /// The bytes of a view into an `ArrayBuffer`, as they are at this moment.
    ///
    /// # Safety
    ///
    /// The slice must be gone before JavaScript runs again, since JavaScript may free the memory;
    /// and it may only be handed to the kernel, since another thread may write to the memory of a
    /// `SharedArrayBuffer` meanwhile.
    pub unsafe fn bytes<'a>(self) -> Option<&'a [u8]> {
        let (data, length) = self.memory()?;
        // SAFETY: `data` and `length` come from the engine and hold until JavaScript runs again.
        Some(unsafe { std::slice::from_raw_parts(data, length) })
    }

    /// The bytes of a view into an `ArrayBuffer`, to be written to.
    ///
    /// # Safety
    ///
    /// That of [`Argument::bytes`], and there must be no other slice of the same memory.
    pub unsafe fn bytes_mut<'a>(self) -> Option<&'a mut [u8]> {
        let (data, length) = self.memory()?;
        // SAFETY: as in `bytes`.
        Some(unsafe { std::slice::from_raw_parts_mut(data, length) })
    }
}

/// Runs `body` on the arguments of a call and the data that its function was created with. Missing
/// arguments are `undefined`. A panic becomes an exception.
///
/// # Safety
///
/// `env` and `info` are those of a call under way.
pub unsafe fn call<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(*mut c_void, [Argument; N]) -> sys::napi_value,
) -> sys::napi_value {
    let mut values = [ptr::null_mut(); N];
    let mut count = N;
    let mut data = ptr::null_mut();
    // SAFETY: `values` has room for `count` values.
    unsafe {
        sys::napi_get_cb_info(
            env,
            info,
            &mut count,
            values.as_mut_ptr(),
            ptr::null_mut(),
            &mut data,
        );
    }
    let arguments = values.map(|value| Argument { env, value });
    catch_unwind(AssertUnwindSafe(|| body(data, arguments))).unwrap_or_else(|_| {
        let code = c"ERR_INTERNAL_ASSERTION";
        let text = c"oxwire met a state it holds impossible; please report it with the steps to it";
        // SAFETY: both strings end in a zero byte.
        unsafe { sys::napi_throw_error(env, code.as_ptr(), text.as_ptr()) };
        ptr::null_mut()
    })
}

/// A number for JavaScript.
pub fn number(env: sys::napi_env, value: i32) -> sys::napi_value {
    let mut result = ptr::null_mut();
    // SAFETY: `env` is that of the call under way; `result` outlives this one.
    unsafe { sys::napi_create_int32(env, value, &mut result) };
    result
}

/// A count for JavaScript, exact up to 2^53.
pub fn count(env: sys::napi_env, value: u64) -> sys::napi_value {
    let mut result = ptr::null_mut();
    // SAFETY: as in `number`.
    unsafe { sys::napi_create_double(env, value as f64, &mut result) };
    result
}

/// A boolean for JavaScript.
pub fn boolean(env: sys::napi_env, value: bool) -> sys::napi_value {
    let mut result = ptr::null_mut();
    // SAFETY: as in `number`.
    unsafe { sys::napi_get_boolean(env, value, &mut result) };
    result
}

/// A string for JavaScript.
pub fn string(env: sys::napi_env, value: &str) -> sys::napi_value {
    let mut result = ptr::null_mut();
    let length = value.len() as isize;
    // SAFETY: as in `number`; `value` has `length` bytes of UTF-8.
    unsafe { sys::napi_create_string_utf8(env, value.as_ptr().cast(), length, &mut result) };
    result
}

/// An object for JavaScript, without properties.
pub fn object(env: sys::napi_env) -> sys::napi_value {
    let mut result = ptr::null_mut();
    // SAFETY: as in `number`.
    unsafe { sys::napi_create_object(env, &mut result) };
    result
}

/// Gives an object a property of its own: no setter of a prototype runs.
pub fn set(env: sys::napi_env, object: sys::napi_value, name: &CStr, value: sys::napi_value) {
    let attributes = sys::PropertyAttributes::writable
        | sys::PropertyAttributes::enumerable
        | sys::PropertyAttributes::configurable;
    let property = sys::napi_property_descriptor {
        utf8name: name.as_ptr(),
        name: ptr::null_mut(),
        method: None,
        getter: None,
        setter: None,
        value,
        attributes,
        data: ptr::null_mut(),
    };
    // SAFETY: as in `number`; the name ends in a zero byte.
    unsafe { sys::napi_define_properties(env, object, 1, &property) };
}

/// Gives an object a native function, which will be called with `data`.
pub fn set_function(
    env: sys::napi_env,
    object: sys::napi_value,
    name: &CStr,
    callback: Callback,
    data: *mut c_void,
) {
    let mut function = ptr::null_mut();
    let length = name.count_bytes() as isize;
    // SAFETY: as in `set`.
    unsafe {
        sys::napi_create_function(env, name.as_ptr(), length, Some(callback), data, &mut function);
    }
    set(env, object, name, function);
}
