//! Identifiers of engines and devices, spelled alike on the command line and in files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest engine id, in bytes.
const MAX_LENGTH: usize = 24;

/// An engine's name: 1 to 24 lowercase ASCII letters, digits and hyphens, beginning with a letter. Stored
/// inline, so that it is `Copy`. The engine may be unknown to this program, because recordings may come from
/// a newer version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EngineId([u8; MAX_LENGTH]);

impl EngineId {
    /// Checks the name at compile time if called in a constant.
    ///
    /// # Panics
    /// If the name is not 1 to 24 lowercase ASCII letters, digits and hyphens, beginning with a letter.
    pub const fn new(name: &str) -> Self {
        match Self::parse(name) {
            Some(id) => id,
            None => panic!("an engine id is 1 to 24 lowercase letters, digits and hyphens"),
        }
    }

    const fn parse(name: &str) -> Option<Self> {
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes.len() > MAX_LENGTH || !bytes[0].is_ascii_lowercase() {
            return None;
        }
        let mut letters = [0; MAX_LENGTH];
        let mut at = 0;
        while at < bytes.len() {
            if !(bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() || bytes[at] == b'-') {
                return None;
            }
            letters[at] = bytes[at];
            at += 1;
        }
        Some(Self(letters))
    }

    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&letter| letter == 0).unwrap_or(MAX_LENGTH);
        str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EngineId {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::parse(name).ok_or_else(|| {
            format!("invalid engine name `{name}`: must be 1 to 24 lowercase letters, digits and hyphens")
        })
    }
}

/// The kind of processor that an engine runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    Cpu,
    Gpu,
}

impl DeviceKind {
    /// The default device of this kind.
    pub const fn first(self) -> DeviceId {
        match self {
            Self::Cpu => DeviceId::Cpu,
            Self::Gpu => DeviceId::Gpu(0),
        }
    }

    /// The name with its article, for sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "the CPU",
            Self::Gpu => "an NVIDIA GPU",
        }
    }
}

/// A device: `cpu`, a GPU by the driver's ordinal (`0`, `1`, …, as numbered under `CUDA_VISIBLE_DEVICES`), or
/// several GPUs that share the work (`0,1`, `all`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceId {
    Cpu,
    /// A GPU by its ordinal, from 0.
    Gpu(u32),
    Gpus(GpuSet),
}

/// At least two GPUs, or all GPUs of the machine, by ordinals below 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GpuSet(u64);

impl GpuSet {
    /// All GPUs of the machine, however many there are.
    pub const ALL: Self = Self(u64::MAX);

    /// The first `count` GPUs; `None` for fewer than two or more than 63.
    pub fn first(count: u32) -> Option<Self> {
        (2..64).contains(&count).then(|| Self((1 << count) - 1))
    }

    /// Its GPUs, ascending.
    pub fn devices(self) -> impl Iterator<Item = DeviceId> {
        (0..64).filter(move |ordinal| self.0 >> ordinal & 1 == 1).map(DeviceId::Gpu)
    }
}

impl DeviceId {
    /// The first of several GPUs; any other device is itself.
    pub fn first(self) -> Self {
        match self {
            Self::Gpus(gpus) => gpus.devices().next().unwrap_or(Self::Gpu(0)),
            device => device,
        }
    }

    pub const fn kind(self) -> DeviceKind {
        match self {
            Self::Cpu => DeviceKind::Cpu,
            Self::Gpu(_) | Self::Gpus(_) => DeviceKind::Gpu,
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.pad("cpu"),
            Self::Gpu(ordinal) => f.pad(&ordinal.to_string()),
            Self::Gpus(GpuSet::ALL) => f.pad("all"),
            Self::Gpus(gpus) => {
                let ordinals: Vec<String> = gpus.devices().map(|gpu| gpu.to_string()).collect();
                f.pad(&ordinals.join(","))
            }
        }
    }
}

impl FromStr for DeviceId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "all" => Ok(Self::Gpus(GpuSet::ALL)),
            _ if text.contains(',') => {
                let mut gpus = GpuSet(0);
                for part in text.split(',') {
                    match part.parse() {
                        Ok(Self::Gpu(ordinal)) if ordinal < 63 && gpus.0 >> ordinal & 1 == 0 => {
                            gpus.0 |= 1 << ordinal
                        }
                        _ => return Err(format!("invalid device `{text}`: use different GPU numbers (0,1)")),
                    }
                }
                Ok(Self::Gpus(gpus))
            }
            _ if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().map(Self::Gpu).map_err(|_| format!("there is no GPU `{text}`"))
            }
            _ => {
                Err(format!("invalid device `{text}`: use cpu, a GPU number (0, 1, …), several (0,1) or all"))
            }
        }
    }
}

/// Serialises a type as the text that `Display` writes and `FromStr` parses.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use serde_as_text;

serde_as_text!(EngineId);
serde_as_text!(DeviceId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_ids_round_trip() {
        for name in ["cuda", "cuda-split", "k2", "an-engine-of-24-letters-"] {
            let id = EngineId::new(name);
            assert_eq!((id.as_str(), id.to_string()), (name, name.to_owned()));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<EngineId>(&json).unwrap(), id);
        }
        for wrong in ["", "Cuda", "two words", "a-name-longer-than-24-letters", "-", "8k", "é"] {
            assert!(wrong.parse::<EngineId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn device_ids_round_trip() {
        for (text, device) in [("cpu", DeviceId::Cpu), ("0", DeviceId::Gpu(0)), ("17", DeviceId::Gpu(17))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
            assert_eq!(serde_json::to_string(&device).unwrap(), format!("\"{text}\""));
        }
        let gpus = "3,0,1".parse::<DeviceId>().unwrap();
        assert_eq!(gpus.to_string(), "0,1,3");
        let DeviceId::Gpus(set) = gpus else { panic!("{gpus}") };
        assert_eq!(set.devices().collect::<Vec<_>>(), [0, 1, 3].map(DeviceId::Gpu));
        assert_eq!("all".parse::<DeviceId>().map(|all| all.to_string()), Ok("all".to_owned()));
        assert_eq!(GpuSet::first(2).map(DeviceId::Gpus), "0,1".parse().ok());
        assert_eq!(GpuSet::first(1), None);
        for wrong in ["gpu", "-1", "99999999999", "0,", "0,0", "0,cpu", "0,1,64", "+1"] {
            assert!(wrong.parse::<DeviceId>().is_err(), "{wrong}");
        }
    }
}
