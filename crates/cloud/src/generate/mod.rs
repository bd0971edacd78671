//! Generated clouds: a spec and a seed give the same points everywhere.
//!
//! A spec is `name:key=value,…`, for instance `gaussian-mixture:n=1e6,d=3,clusters=20`; omitted keys have the
//! defaults of the [`catalogue`]. Coordinates are rounded to f32 here, so building a cloud from them is
//! exact. They are computed only with +, −, ×, ÷, √ and rounding (see [`draw`]), and so do not depend on the
//! platform's mathematical library.

pub(super) mod draw;
mod shapes;

use std::fmt;
use std::str::FromStr;

use super::{CloudError, Column, Coordinates, Source, memory};
use crate::progress::Progress;

/// Changes whenever a spec and seed give different points; part of the generator's key.
pub const VERSION: u32 = 1;

/// Maximum number of generated coordinates, n × d: 8 GiB of f32.
pub const MAX_VALUES: u64 = 1 << 31;

/// One family of clouds.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// The name in a spec.
    pub name: &'static str,
    /// A one-line description of the points.
    pub about: &'static str,
    /// The parameters, in display order.
    pub parameters: &'static [Parameter],
    shape: shapes::Shape,
}

/// One numeric parameter of a spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The key in a spec.
    pub key: &'static str,
    /// A one-line description for the help.
    pub about: &'static str,
    /// The value if the spec does not set it.
    pub default: f64,
    /// The smallest allowed value.
    pub min: f64,
    /// The largest allowed value.
    pub max: f64,
    /// Whether it must be a whole number.
    pub whole: bool,
}

impl Parameter {
    const fn whole(key: &'static str, about: &'static str, default: u32, min: u32, max: u64) -> Self {
        Self { key, about, default: default as f64, min: min as f64, max: max as f64, whole: true }
    }

    const fn real(key: &'static str, about: &'static str, default: f64, max: f64) -> Self {
        Self { key, about, default, min: 0.0, max, whole: false }
    }
}

const N: Parameter = Parameter::whole("n", "number of points", 100_000, 1, MAX_VALUES);

const fn dims(default: u32, min: u32) -> Parameter {
    Parameter::whole("d", "number of dimensions", default, min, 1 << 20)
}

/// All generators, in display order.
pub fn catalogue() -> &'static [Generator] {
    const CATALOGUE: &[Generator] = &[
        Generator {
            name: "uniform",
            about: "independent coordinates in [0, 1)",
            parameters: &[N, dims(2, 1)],
            shape: shapes::uniform,
        },
        Generator {
            name: "gaussian-mixture",
            about: "normal clusters around centres in the unit cube",
            parameters: &[
                N,
                dims(2, 1),
                Parameter::whole("clusters", "number of clusters", 20, 1, 1 << 20),
                Parameter::real("spread", "standard deviation of a cluster", 0.03, 1e6),
            ],
            shape: shapes::gaussian_mixture,
        },
        Generator {
            name: "rounded-normal",
            about: "normal coordinates around 0, rounded to 16-bit integers: many equal distances",
            parameters: &[
                N,
                dims(2, 1),
                Parameter::real("spread", "standard deviation before rounding", 4096.0, 32_767.0),
            ],
            shape: shapes::rounded_normal,
        },
        Generator {
            name: "sphere",
            about: "uniform on the surface of the unit sphere",
            parameters: &[N, dims(3, 2)],
            shape: shapes::sphere,
        },
        Generator {
            name: "swiss-roll",
            about: "a rolled-up sheet in three dimensions",
            parameters: &[N, Parameter::real("noise", "standard deviation from the sheet", 0.0, 1e6)],
            shape: shapes::swiss_roll,
        },
        Generator {
            name: "spiral",
            about: "an Archimedean spiral in the plane",
            parameters: &[
                N,
                Parameter::real("turns", "number of turns", 3.0, 1000.0),
                Parameter::real(
                    "noise",
                    "standard deviation from the line, whose outer radius is 1",
                    0.01,
                    1e6,
                ),
            ],
            shape: shapes::spiral,
        },
        Generator {
            name: "grid",
            about: "a cubic lattice of unit spacing: many equal distances; n becomes the nearest s^d",
            parameters: &[N, dims(2, 1)],
            shape: shapes::grid,
        },
        Generator {
            name: "duplicates",
            about: "few distinct positions, each shared by many points",
            parameters: &[
                N,
                dims(2, 1),
                Parameter::whole("distinct", "number of distinct positions", 1000, 1, 1 << 23),
            ],
            shape: shapes::duplicates,
        },
        Generator {
            name: "descending",
            about: "distances to the last row descend: the worst case if that row is the query",
            parameters: &[N, dims(2, 1)],
            shape: shapes::descending,
        },
    ];
    CATALOGUE
}

/// Validates a spec without generating anything.
///
/// # Errors
/// [`CloudError::Generate`] if the generator or a parameter is unknown, or a value is out of range.
pub fn check(spec: &str) -> Result<Spec, CloudError> {
    spec.parse().map_err(|why| CloudError::Generate { spec: spec.to_owned(), why })
}

/// Generates a cloud from its spec: finite coordinates, each exactly an f32.
///
/// # Errors
/// [`CloudError::Generate`] if the spec is invalid or exceeds [`MAX_VALUES`]; [`CloudError::Memory`] and
/// [`CloudError::Cancelled`].
pub fn generate(spec: &str, seed: u64, progress: &dyn Progress) -> Result<Coordinates, CloudError> {
    generate_within(memory::available().unwrap_or(u64::MAX), spec, seed, progress)
}

/// Like [`generate`], with `free` bytes of memory available.
fn generate_within(
    free: u64,
    spec: &str,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Coordinates, CloudError> {
    let fail = |why| CloudError::Generate { spec: spec.to_owned(), why };
    let parsed = check(spec)?;
    let mut canvas = shapes::Canvas::new(free, progress);
    (parsed.generator().shape)(&parsed, &mut draw::CloudRng::new(seed), &mut canvas).map_err(|stop| {
        match stop {
            shapes::StopReason::Cancelled => CloudError::Cancelled,
            shapes::StopReason::Impossible(why) => fail(why),
            shapes::StopReason::Memory(bytes) => CloudError::Memory {
                bytes,
                origin: Source::Generate { spec: spec.to_owned(), seed }.to_string(),
            },
        }
    })?;
    let (dims, values) = canvas.finish();
    Ok(Coordinates::new(Column::unnamed(dims), values))
}

// Parses and formats generator specs.

/// A generator with a value for each of its parameters.
#[derive(Clone, Debug)]
pub struct Spec {
    generator: &'static Generator,
    /// Values in the order of [`Generator::parameters`].
    values: Vec<f64>,
}

impl Spec {
    /// The generator that draws the points.
    pub fn generator(&self) -> &'static Generator {
        self.generator
    }

    /// A parameter's value; `None` if the generator has no such parameter.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.generator.parameters.iter().position(|parameter| parameter.key == key).map(|at| self.values[at])
    }

    /// The value of a parameter that the generator is known to have.
    fn real(&self, key: &str) -> f64 {
        self.value(key).unwrap_or_else(|| unreachable!("{} has no parameter {key}", self.generator.name))
    }

    fn whole(&self, key: &str) -> usize {
        self.real(key) as usize
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let generator = catalogue()
            .iter()
            .find(|generator| generator.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let names: Vec<_> = catalogue().iter().map(|generator| generator.name).collect();
                format!("unknown generator `{name}`; available: {}", names.join(", "))
            })?;
        let mut values: Vec<f64> = generator.parameters.iter().map(|parameter| parameter.default).collect();
        let mut given = vec![false; values.len()];
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (key, value) =
                setting.split_once('=').ok_or_else(|| format!("`{setting}` is not key=value"))?;
            let (key, value) = (key.trim(), value.trim());
            let at =
                generator.parameters.iter().position(|parameter| parameter.key == key).ok_or_else(|| {
                    let keys: Vec<_> = generator.parameters.iter().map(|parameter| parameter.key).collect();
                    format!("{name} has no parameter `{key}`; available: {}", keys.join(", "))
                })?;
            if std::mem::replace(&mut given[at], true) {
                return Err(format!("`{key}` is given twice"));
            }
            let parameter = &generator.parameters[at];
            let number = number(value).filter(|number| !parameter.whole || number.fract() == 0.0);
            let kind = if parameter.whole { "a whole number" } else { "a number" };
            values[at] = number.ok_or_else(|| format!("{key}={value} is not {kind}"))?;
            if !(parameter.min..=parameter.max).contains(&values[at]) {
                return Err(format!(
                    "{key}={value}: must be between {} and {}",
                    parameter.min, parameter.max
                ));
            }
        }
        Ok(Self { generator, values })
    }
}

/// Parses a finite number such as `100000`, `100_000` or `1e5`.
fn number(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

impl fmt::Display for Spec {
    /// Writes every parameter, so that a spec keeps its meaning if a default changes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.generator.name)?;
        for (i, (parameter, value)) in self.generator.parameters.iter().zip(&self.values).enumerate() {
            write!(f, "{}{}={value}", if i == 0 { ':' } else { ',' }, parameter.key)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
