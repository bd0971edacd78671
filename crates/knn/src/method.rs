//! A method: an engine with its parameters, as data, spelled `engine:key=value,…` everywhere.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::EngineId;
use super::id::serde_as_text;

/// A parameter that an engine declares.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Key in a method.
    pub name: &'static str,
    /// One sentence for help and tooltips.
    pub help: &'static str,
    pub values: AllowedValues,
    /// How an omitted parameter is chosen, in words: `from the tuned table`.
    pub default: &'static str,
}

/// The allowed values of a parameter.
#[derive(Clone, Debug)]
pub enum AllowedValues {
    /// Whole numbers, both ends included.
    Numbers(RangeInclusive<u32>),
    /// One of a list of words.
    Words(&'static [&'static str]),
}

impl AllowedValues {
    /// Whether a value is allowed, as spelled.
    pub fn allow(&self, value: &str) -> bool {
        match self {
            Self::Numbers(range) => {
                value.bytes().all(|byte| byte.is_ascii_digit())
                    && value.parse().is_ok_and(|number| range.contains(&number))
            }
            Self::Words(words) => words.contains(&value),
        }
    }
}

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers(range) => write!(f, "{} to {}", range.start(), range.end()),
            Self::Words(words) => f.write_str(&words.join(", ")),
        }
    }
}

/// Key–value pairs with unique keys, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// No parameters: the engine chooses them all.
    pub const NONE: Self = Self(Vec::new());

    /// Whether the engine chooses every parameter.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A value as spelled; `None` if the key is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// A value as a number; `None` if the key is not set or the value is not a number.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    /// Sets a parameter, replacing any earlier value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.0.iter_mut().find(|(of, _)| of == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Removes a parameter, so that the engine chooses it.
    pub fn unset(&mut self, name: &str) {
        self.0.retain(|(of, _)| of != name);
    }

    /// Checks that each parameter is declared and its value allowed.
    ///
    /// # Errors
    /// A message that names the parameter and the alternatives.
    pub fn check(&self, declared: &[Parameter]) -> Result<(), String> {
        for (name, value) in self.iter() {
            let Some(parameter) = declared.iter().find(|parameter| parameter.name == name) else {
                let names: Vec<&str> = declared.iter().map(|parameter| parameter.name).collect();
                let instead = if names.is_empty() {
                    "the engine has no parameters".to_owned()
                } else {
                    format!("available: {}", names.join(", "))
                };
                return Err(format!("unknown parameter `{name}`; {instead}"));
            };
            if !parameter.values.allow(value) {
                let list = if value.contains('|') { "; only sweep accepts alternatives" } else { "" };
                return Err(format!("{name} = {value}: must be {}{list}", parameter.values));
            }
        }
        Ok(())
    }
}

impl<N: Into<String>, V: ToString> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            parameters.set(&name.into(), value.to_string());
        }
        parameters
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// An engine and the parameters to run it with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    pub engine: EngineId,
    /// Parameters; the engine chooses any that are missing.
    pub parameters: Parameters,
}

impl Method {
    /// An engine that chooses all its parameters.
    pub fn new(engine: EngineId) -> Self {
        Self { engine, parameters: Parameters::default() }
    }
}

impl From<EngineId> for Method {
    fn from(engine: EngineId) -> Self {
        Self::new(engine)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.engine)?;
        if self.parameters.is_empty() { Ok(()) } else { write!(f, ":{}", self.parameters) }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (engine, list) = text.split_once(':').map_or((text, None), |(engine, list)| (engine, Some(list)));
        let mut method = Self::new(engine.trim().parse()?);
        for pair in list.into_iter().flat_map(|list| list.split(',')) {
            let (name, value) =
                pair.split_once('=').map(|(name, value)| (name.trim(), value.trim())).unwrap_or_default();
            if name.is_empty() || value.is_empty() {
                return Err(format!("`{}` is not a parameter: write {engine}:key=value,…", pair.trim()));
            }
            if method.parameters.get(name).is_some() {
                return Err(format!("{name} is given twice"));
            }
            method.parameters.set(name, value);
        }
        Ok(method)
    }
}

serde_as_text!(Method);

/// Splits a comma-separated list of methods. A comma before `key=` continues the current method, any other
/// comma starts a new one: `cuda:warps=8,window=16,kdtree` is two methods.
pub fn split_methods(list: &str) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for piece in list.split(',') {
        let continues = piece.find('=').is_some_and(|at| !piece[..at].contains(':'));
        match methods.last_mut().filter(|method| continues && method.contains(':')) {
            Some(method) => *method += &format!(",{piece}"),
            None => methods.push(piece.to_owned()),
        }
    }
    methods
}

/// Maximum number of methods that one list of alternatives may expand to.
pub const MAX_ALTERNATIVES: usize = 10_000;

/// Expands alternatives: `cuda:warps=4|8,window=8|16` gives four methods.
///
/// # Errors
/// A message if there would be more than [`MAX_ALTERNATIVES`].
pub fn alternatives(method: &str) -> Result<Vec<String>, String> {
    let Some((engine, list)) = method.split_once(':') else { return Ok(vec![method.to_owned()]) };
    // Count before expanding: the methods might not fit into memory.
    let counts = list.split(',').map(|pair| pair.split('|').count());
    let count = counts.fold(1usize, usize::saturating_mul);
    if count > MAX_ALTERNATIVES {
        return Err(format!(
            "the alternatives of {engine} expand to more than {MAX_ALTERNATIVES} methods; give fewer \
             alternatives"
        ));
    }
    let mut all = vec![String::new()];
    for pair in list.split(',') {
        let (name, values) = pair.split_once('=').map_or(("", pair), |(name, values)| (name, values));
        let equals = if name.is_empty() { "" } else { "=" };
        let longer = |before: &String| {
            let comma = if before.is_empty() { "" } else { "," };
            values.split('|').map(|value| format!("{before}{comma}{name}{equals}{value}")).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all.into_iter().map(|parameters| format!("{engine}:{parameters}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> [Parameter; 2] {
        [
            Parameter { name: "warps", help: "", values: AllowedValues::Numbers(1..=32), default: "8" },
            Parameter {
                name: "kernel",
                help: "",
                values: AllowedValues::Words(&["direct", "filter"]),
                default: "direct",
            },
        ]
    }

    #[test]
    fn methods_round_trip() {
        for text in ["cuda", "cuda:warps=8", "cuda:kernel=direct,warps=8,window=16"] {
            let method: Method = text.parse().unwrap();
            assert_eq!(method.to_string(), text);
            assert_eq!(
                serde_json::from_str::<Method>(&serde_json::to_string(&method).unwrap()).unwrap(),
                method
            );
        }
        let spaced: Method = "cuda: warps = 8 , window=16".parse().unwrap();
        assert_eq!(spaced.to_string(), "cuda:warps=8,window=16");
    }

    #[test]
    fn invalid_methods_are_rejected() {
        let why = |text: &str| text.parse::<Method>().unwrap_err();
        assert_eq!(why("cuda:warps"), "`warps` is not a parameter: write cuda:key=value,…");
        assert_eq!(why("cuda:"), "`` is not a parameter: write cuda:key=value,…");
        assert_eq!(why("cuda:warps=8,warps=4"), "warps is given twice");
        assert!(why("Cuda").starts_with("invalid engine name `Cuda`"));
    }

    #[test]
    fn parameters_are_checked_against_declarations() {
        let check = |text: &str| text.parse::<Method>().unwrap().parameters.check(&declared());
        assert_eq!(check("cuda:warps=8,kernel=filter"), Ok(()));
        assert_eq!(check("cuda:warps=33"), Err("warps = 33: must be 1 to 32".to_owned()));
        assert_eq!(check("cuda:warps=+8"), Err("warps = +8: must be 1 to 32".to_owned()));
        assert_eq!(check("cuda:kernel=fast"), Err("kernel = fast: must be direct, filter".to_owned()));
        assert_eq!(
            check("cuda:wraps=8"),
            Err("unknown parameter `wraps`; available: warps, kernel".to_owned())
        );
        assert_eq!(
            "x:a=1".parse::<Method>().unwrap().parameters.check(&[]),
            Err("unknown parameter `a`; the engine has no parameters".to_owned())
        );
    }

    #[test]
    fn method_lists_are_split_only_between_methods() {
        assert_eq!(split_methods("cuda:warps=8,window=16,kdtree"), ["cuda:warps=8,window=16", "kdtree"]);
        assert_eq!(
            split_methods("kdtree,cuda:warps=8,lockstep,auto"),
            ["kdtree", "cuda:warps=8", "lockstep", "auto"]
        );
        assert_eq!(
            split_methods("cuda:warps=8,cuda:warps=4,window=2"),
            ["cuda:warps=8", "cuda:warps=4,window=2"]
        );
        // Without a method to continue, the pair is reported as an invalid method of its own.
        assert_eq!(split_methods("cuda,warps=8"), ["cuda", "warps=8"]);
    }

    #[test]
    fn alternatives_expand_to_one_method_each() {
        assert_eq!(alternatives("cuda").unwrap(), ["cuda"]);
        assert_eq!(alternatives("cuda:window=8|16").unwrap(), ["cuda:window=8", "cuda:window=16"]);
        let four = ["cuda:a=1,b=3", "cuda:a=1,b=4", "cuda:a=2,b=3", "cuda:a=2,b=4"];
        assert_eq!(alternatives("cuda:a=1|2,b=3|4").unwrap(), four);
        assert_eq!(alternatives("cuda:8").unwrap(), ["cuda:8"]);
    }

    #[test]
    fn too_many_combinations_of_alternatives_are_refused() {
        let pairs = |count: usize| (0..count).map(|at| format!("p{at}=1|2")).collect::<Vec<_>>().join(",");
        assert_eq!(alternatives(&format!("cuda:{}", pairs(13))).map(|all| all.len()), Ok(8192));
        let why =
            "the alternatives of cuda expand to more than 10000 methods; give fewer alternatives".to_owned();
        // 2⁶⁴ would wrap around to 0.
        for count in [14, 40, 64, 1000] {
            assert_eq!(alternatives(&format!("cuda:{}", pairs(count))), Err(why.clone()));
        }
    }
}
