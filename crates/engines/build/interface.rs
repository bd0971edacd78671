//! Translates the headers `cuda/**/*interface.cuh`, which define the interface between host and device, to
//! Rust.
//!
//! Such a header may contain only the following, one per line, and comments, which become documentation. An
//! enumeration may span several lines.
//!
//! ```text
//! constexpr unsigned NAME = 128;              pub const NAME: u32 = 128;
//! enum Name : unsigned { A = 1, B };          pub mod name { pub const A: u32 = 1; pub const B: u32 = 2; }
//! struct Name { … };                          #[repr(C)] pub struct Name { … }, with a member a line
//! #define WARPSCOPE_X(K) x_k##K               pub fn x(k: impl Display) -> String
//! #define WARPSCOPE_X x                       pub const X: &str = "x";
//! ```
//!
//! C++ on the device and `repr(C)` on the host use the same layout for members of these types. Functions of a
//! struct are skipped. Anything else is rejected, because it would be missing in Rust.

use std::fmt::Write as _;

/// Translates a header to Rust. `name` is only used in messages.
///
/// # Errors
/// The first line that is not supported.
pub fn to_rust(header: &str, name: &str) -> Result<String, String> {
    let (mut rust, mut doc, mut item) = (String::new(), String::new(), None::<Struct>);
    let mut plain: Vec<String> = Vec::new();
    let mut unfinished = String::new();
    for (number, line) in header.lines().enumerate() {
        let wrong = |what: &str| format!("{name}:{}: {what}: {line}", number + 1);
        let (code, comment) =
            line.split_once("//").map_or((line, None), |(code, comment)| (code, Some(comment.trim())));
        unfinished += code.trim();
        if unfinished.starts_with("enum ") && !unfinished.ends_with("};") {
            unfinished.push(' ');
            continue;
        }
        let code = std::mem::take(&mut unfinished);
        let code = code.as_str();
        if code.is_empty() {
            match comment {
                Some(comment) => _ = writeln!(doc, "/// {comment}"),
                None => doc.clear(),
            }
            continue;
        }
        if let Some(comment) = comment {
            _ = writeln!(doc, "/// {comment}");
        }
        if let Some(members) = &mut item {
            if code == "};" {
                let done = item.take().expect("it was just there");
                plain.extend(done.plain.then(|| done.name.clone()));
                rust += &done.rust();
            } else if !code.contains('(') {
                members.add(code, &doc, &plain).ok_or_else(|| wrong("unsupported member type"))?;
            }
        } else if let Some(structure) = code.strip_prefix("struct ").and_then(|rest| rest.strip_suffix(" {"))
        {
            item = Some(Struct {
                name: structure.to_owned(),
                doc: doc.clone(),
                members: String::new(),
                plain: true,
            });
        } else if code == "#pragma once"
            || code.starts_with("#include ")
            || code.starts_with("namespace ")
            || code == "}"
        {
        } else {
            let found = constant(code)
                .or_else(|| enumeration(code))
                .or_else(|| entry(code))
                .ok_or_else(|| wrong("cannot be translated to Rust"))?;
            rust += &doc;
            rust += &found;
        }
        doc.clear();
    }
    match item {
        Some(Struct { name: open, .. }) => Err(format!("{name}: struct {open} is not closed")),
        None if !unfinished.is_empty() => Err(format!("{name}: {unfinished}is not closed")),
        None => Ok(rust),
    }
}

struct Struct {
    name: String,
    doc: String,
    members: String,
    /// Whether all members are `unsigned` or plain structs, so that it may be read from any bytes.
    plain: bool,
}

impl Struct {
    fn add(&mut self, code: &str, doc: &str, plain: &[String]) -> Option<()> {
        let code = code.strip_suffix(';')?;
        let code = code.strip_prefix("const ").unwrap_or(code);
        let (of, name) = code.rsplit_once(' ')?;
        let rust = match of {
            "unsigned" => "u32",
            "unsigned long long" => "u64",
            "float" => "f32",
            "double" => "f64",
            pointer if pointer.ends_with('*') => "CUdeviceptr",
            other if other.starts_with(char::is_uppercase) && other.chars().all(char::is_alphanumeric) => {
                other
            }
            _ => return None,
        };
        self.plain &= rust == "u32" || plain.iter().any(|name| name == rust);
        let (name, rust) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            Some((name, length)) => (name, format!("[{rust}; {}]", length.parse::<usize>().ok()?)),
            None => (name, rust.to_owned()),
        };
        _ = writeln!(self.members, "{doc}pub {name}: {rust},");
        Some(())
    }

    fn rust(self) -> String {
        let Self { name, doc, members, plain } = self;
        let more = if plain { ", Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable" } else { "" };
        format!(
            "{doc}#[repr(C)]\n#[derive(Clone, Copy, Debug, Default, PartialEq{more})]\npub struct {name} \
             {{\n{members}}}\n// SAFETY: the device's struct, member for member: both are made of one \
             text.\nunsafe impl cudarc::driver::DeviceRepr for {name} {{}}\n"
        )
    }
}

/// `constexpr unsigned NAME = 128;`
fn constant(code: &str) -> Option<String> {
    let (name, value) = code.strip_prefix("constexpr unsigned ")?.strip_suffix(';')?.split_once(" = ")?;
    let value: u32 = value.parse().ok()?;
    Some(format!("pub const {name}: u32 = {value};\n"))
}

/// `enum Name : unsigned { A = 1, B };`
fn enumeration(code: &str) -> Option<String> {
    let (name, rest) = code.strip_prefix("enum ")?.split_once(" : unsigned { ")?;
    let (mut constants, mut next) = (String::new(), 0u32);
    for enumerator in rest.strip_suffix(" };")?.split(", ") {
        let (enumerator, value) = match enumerator.split_once(" = ") {
            Some((enumerator, value)) => (enumerator, value.parse().ok()?),
            None => (enumerator, next),
        };
        _ = write!(constants, " pub const {enumerator}: u32 = {value};");
        next = value + 1;
    }
    Some(format!("pub mod {} {{{constants} }}\n", snake(name)))
}

/// `#define WARPSCOPE_X_ENTRY(K) x_k##K` and `#define WARPSCOPE_X x`
fn entry(code: &str) -> Option<String> {
    let rest = code.strip_prefix("#define WARPSCOPE_")?;
    let Some((name, rest)) = rest.split_once('(').filter(|(name, _)| !name.contains(' ')) else {
        let (name, symbol) = rest.split_once(' ')?;
        return Some(format!("pub const {name}: &str = {symbol:?};\n"));
    };
    let (parameters, template) = rest.split_once(") ")?;
    let parameters: Vec<&str> = parameters.split(", ").collect();
    let pieces = template.split("##").map(|piece| {
        if parameters.contains(&piece) { format!("{{{}}}", piece.to_lowercase()) } else { piece.to_owned() }
    });
    let symbol: String = pieces.collect();
    let parameters: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("{}: impl std::fmt::Display", parameter.to_lowercase()))
        .collect();
    Some(format!(
        "pub fn {}({}) -> String {{ format!({symbol:?}) }}\n",
        name.to_lowercase(),
        parameters.join(", ")
    ))
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_declarations_are_translated_to_rust() {
        let header = "#pragma once\n\nnamespace warpscope::a {\n\n// Of a tile.\nconstexpr unsigned ROWS = \
                      128;  // at most\nenum Kind : unsigned {\n    ONE = 1, TWO\n};\n#define \
                      WARPSCOPE_A_ENTRY(K, BUILD) a_k##K##_##BUILD\n#define WARPSCOPE_B b\n}  // namespace\n";
        let rust = to_rust(header, "a").unwrap();
        assert!(rust.contains("/// Of a tile.\n/// at most\npub const ROWS: u32 = 128;\n"), "{rust}");
        assert!(
            rust.contains("pub mod kind { pub const ONE: u32 = 1; pub const TWO: u32 = 2; }\n"),
            "{rust}"
        );
        assert!(rust.contains(
            "pub fn a_entry(k: impl std::fmt::Display, build: impl std::fmt::Display) -> String { \
             format!(\"a_k{k}_{build}\") }\n"
        ));
        assert!(rust.contains("pub const B: &str = \"b\";\n"), "{rust}");
    }

    #[test]
    fn struct_members_keep_their_order() {
        let header = "struct A {\n    const float* rows;  // n x d\n    unsigned n;\n    B b;\n    C \
                      forms[4];\n    double scale;\n\n    int f() const { return 1; }\n};\n";
        let rust = to_rust(header, "a").unwrap();
        let members = "/// n x d\npub rows: CUdeviceptr,\npub n: u32,\npub b: B,\npub forms: [C; 4],\npub \
                       scale: f64,\n}";
        assert!(rust.contains(members) && rust.contains("#[repr(C)]") && !rust.contains("Eq, "), "{rust}");
        let nested =
            to_rust("struct A {\n    unsigned a;\n};\nstruct B {\n    A all[2];\n};\n", "a").unwrap();
        assert_eq!(nested.matches("bytemuck::Pod").count(), 2, "{nested}");
    }

    #[test]
    fn unsupported_declarations_are_rejected() {
        for line in [
            "constexpr float X = 1;",
            "constexpr unsigned X = Y;",
            "struct A {\n    int a;\n};",
            "struct A {",
            "enum A : unsigned { B",
            "using A = B;",
            "struct A {\n    short a : 3;\n};",
        ] {
            assert!(to_rust(line, "a").is_err(), "{line}");
        }
    }
}
