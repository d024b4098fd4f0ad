/** The files of a new lens in Rust: a crate without dependencies, so that it builds wherever Rust does. */

const manifest = (name: string): string => `[package]
name = "${name}"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
crate-type = ["cdylib"]

[profile.release]
opt-level = "s"
lto = true
panic = "abort"
strip = true
`

const lensText = `//! Keeps the logs of one contract, and says how many topics each has.
mod abi;
mod json;

use abi::Item;
use std::cell::RefCell;

thread_local! {
    /// The argument \`address\`, in lower case.
    static WANTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The arguments, once before the first document: nil, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn set_param(item: *const u8) -> *const u8 {
    abi::answer(set(abi::read(item)))
}

/// One document out, of one document in; nil drops it.
#[unsafe(no_mangle)]
pub extern "C" fn transform() -> *const u8 {
    abi::answer(match abi::next() {
        Item::Document(text) => row_of(&text),
        // Nil, errors and the end of the stream go on as they are.
        other => other,
    })
}

fn set(item: Item) -> Item {
    let Item::Document(text) = item else {
        return Item::Error("the arguments are not a JSON object".into());
    };
    match json::member(&text, "address").map(json::text) {
        Some(Some(address)) if !address.is_empty() => {
            WANTED.with(|wanted| *wanted.borrow_mut() = Some(address.to_lowercase()));
            Item::Nil
        }
        Some(_) => Item::Error("the argument 'address' is not text".into()),
        None => Item::Error("missing required argument 'address'".into()),
    }
}

fn row_of(document: &str) -> Item {
    let Some(wanted) = WANTED.with(|wanted| wanted.borrow().clone()) else {
        return Item::Error("set_param must be called before transform".into());
    };
    let Some(address) = json::member(document, "address") else {
        return Item::Error("the document has no field 'address': the query of the View has to select it".into());
    };
    if json::text(address).map(|text| text.to_lowercase()) != Some(wanted) {
        return Item::Nil;
    }
    let topics = json::member(document, "topics").map_or(0, json::count);
    Item::Document(format!("{{\\"address\\":{address},\\"topicCount\\":{topics}}}"))
}
`

const abiText = `//! The lens ABI: an item is a type (one byte), the length of what follows (four bytes, little-endian), and that.
use std::cell::RefCell;

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "lens")]
unsafe extern "C" {
    #[link_name = "next"]
    fn host_next() -> *const u8;
}

/// What comes, and what is answered. JSON is text in UTF-8.
pub enum Item {
    Document(String),
    Nil,
    Error(String),
    End,
}

thread_local! {
    /// What the Host wrote last: one buffer, so that nothing is kept of a document.
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where the Host may write \`size\` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(size: usize) -> *mut u8 {
    INPUT.with(|input| {
        let mut input = input.borrow_mut();
        input.clear();
        input.resize(size.max(1), 0);
        input.as_mut_ptr()
    })
}

/// The next item of the source.
#[cfg(target_arch = "wasm32")]
pub fn next() -> Item {
    read(unsafe { host_next() })
}

#[cfg(not(target_arch = "wasm32"))]
pub fn next() -> Item {
    Item::End
}

/// The item at an address that the Host gave.
pub fn read(item: *const u8) -> Item {
    match unsafe { *item } as i8 {
        127 => Item::End,
        0 => Item::Nil,
        1 => Item::Document(payload(item)),
        kind if kind < 0 => Item::Error(payload(item)),
        _ => Item::Error("the source gave an item of an unknown type".into()),
    }
}

fn payload(item: *const u8) -> String {
    let bytes = unsafe {
        let length = u32::from_le_bytes(*item.add(1).cast::<[u8; 4]>());
        std::slice::from_raw_parts(item.add(5), length as usize)
    };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes an item; it holds until the next one is written.
pub fn answer(item: Item) -> *const u8 {
    let (kind, text) = match &item {
        Item::Document(text) => (1, text.as_str()),
        Item::Error(text) => (255, text.as_str()),
        Item::Nil => (0, ""),
        Item::End => (127, ""),
    };
    OUTPUT.with(|output| {
        let mut output = output.borrow_mut();
        output.clear();
        output.push(kind);
        output.extend_from_slice(&(text.len() as u32).to_le_bytes());
        output.extend_from_slice(text.as_bytes());
        output.as_ptr()
    })
}
`

const jsonText = `//! As much JSON as a lens of flat documents needs. For more, \`cargo add serde_json\` works as well.

/// The value of a member of an object, as it is written; the last one where there are several.
pub fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    let mut rest = object.trim_start().strip_prefix('{')?;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('}') {
            return found;
        }
        let key = &rest[..end_of(rest)?];
        rest = rest[key.len()..].trim_start().strip_prefix(':')?.trim_start();
        let value = &rest[..end_of(rest)?];
        if text(key)? == name {
            found = Some(value);
        }
        rest = rest[value.len()..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// How many elements a list has; 0 for anything else.
pub fn count(list: &str) -> usize {
    let Some(mut rest) = list.strip_prefix('[') else { return 0 };
    let mut elements = 0;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(']') {
            return elements;
        }
        let Some(end) = end_of(rest) else { return elements };
        elements += 1;
        rest = rest[end..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// What a string says; None for anything else, and for escapes of characters by their number.
pub fn text(value: &str) -> Option<String> {
    let inside = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut result = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        result.push(match character {
            '\\\\' => match characters.next()? {
                'n' => '\\n',
                'r' => '\\r',
                't' => '\\t',
                'u' => return None,
                plain => plain,
            },
            plain => plain,
        });
    }
    Some(result)
}

/// Where the value that a text begins with ends; None where it does not end, or there is none.
fn end_of(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if is_text {
            if is_escaped {
                is_escaped = false;
            } else if byte == b'\\\\' {
                is_escaped = true;
            } else if byte == b'"' {
                is_text = false;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            continue;
        }
        match byte {
            b'"' => is_text = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return (at > 0).then_some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b',' | b':' if depth == 0 => return (at > 0).then_some(at),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
    (depth == 0 && !is_text && !text.is_empty()).then_some(text.len())
}
`

const readme = (name: string): string => `# ${name}

A lens in Rust, without dependencies. \`rustup target add wasm32-unknown-unknown\` once; then

    viewmesh lens build
    viewmesh lens doctor ${name}.wasm --args '{"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}'

The lens is \`src/lib.rs\`; \`src/abi.rs\` talks to the Host.
`

/** Paths in the project, and texts. */
export function rustFiles(name: string): ReadonlyMap<string, string> {
  return new Map([
    ['Cargo.toml', manifest(name)],
    ['src/lib.rs', lensText],
    ['src/abi.rs', abiText],
    ['src/json.rs', jsonText],
    ['.gitignore', 'target\n'],
    ['README.md', readme(name)],
  ])
}
