//! Parses and formats generator specs.

use std::fmt;
use std::str::FromStr;

use super::{Generator, catalogue};

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
    pub(super) fn real(&self, key: &str) -> f64 {
        self.value(key).unwrap_or_else(|| unreachable!("{} has no parameter {key}", self.generator.name))
    }

    pub(super) fn whole(&self, key: &str) -> usize {
        self.real(key) as usize
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let generator = catalogue().iter().find(|generator| generator.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = catalogue().iter().map(|generator| generator.name).collect();
            format!("there is no generator `{name}`; there are {}", names.join(", "))
        })?;
        let mut values: Vec<f64> = generator.parameters.iter().map(|parameter| parameter.default).collect();
        let mut given = vec![false; values.len()];
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').ok_or_else(|| format!("`{setting}` is not key=value"))?;
            let (key, value) = (key.trim(), value.trim());
            let at = generator.parameters.iter().position(|parameter| parameter.key == key).ok_or_else(|| {
                let keys: Vec<_> = generator.parameters.iter().map(|parameter| parameter.key).collect();
                format!("{name} has no parameter `{key}`; it has {}", keys.join(", "))
            })?;
            if std::mem::replace(&mut given[at], true) {
                return Err(format!("`{key}` is given twice"));
            }
            let parameter = &generator.parameters[at];
            let number = number(value).filter(|number| !parameter.whole || number.fract() == 0.0);
            let kind = if parameter.whole { "a whole number" } else { "a number" };
            values[at] = number.ok_or_else(|| format!("{key}={value} is not {kind}"))?;
            if !(parameter.min..=parameter.max).contains(&values[at]) {
                return Err(format!("{key}={value} is outside {} to {}", parameter.min, parameter.max));
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
    /// With every parameter written out, so that changing a default does not change the meaning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.generator.name)?;
        for (i, (parameter, value)) in self.generator.parameters.iter().zip(&self.values).enumerate() {
            write!(f, "{}{}={value}", if i == 0 { ':' } else { ',' }, parameter.key)?;
        }
        Ok(())
    }
}
