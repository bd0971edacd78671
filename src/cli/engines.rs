//! Takes engines, and lists them in the help.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

use super::usage::invalid;
use crate::engines::registry;
use crate::run::EngineChoice;

/// Takes engines by a function; shells complete those of this program.
#[derive(Clone, Copy)]
pub struct EngineParser<T>(fn(&str) -> Result<T, String>);

/// Takes an engine with its parameters.
pub fn one() -> EngineParser<EngineChoice> {
    EngineParser(str::parse)
}

/// Takes a list of engines with their parameters, of which each may have alternatives: `cuda:window=8|16,kdtree` are three.
pub fn list() -> EngineParser<Vec<EngineChoice>> {
    EngineParser(EngineChoice::list)
}

/// Takes what may be an engine of another program.
pub fn of_any_program() -> EngineParser<String> {
    EngineParser(|text| Ok(text.to_owned()))
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for EngineParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_str().ok_or_else(|| "it is no text".to_owned());
        text.and_then(self.0).map_err(|why| invalid(command, argument, value, &why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let auto = PossibleValue::new("auto").help("The engine that is predicted to be fastest of those that can run");
        let engines = registry::ENGINES.iter().map(|engine| {
            let parameters: Vec<&str> = engine.parameters.iter().map(|parameter| parameter.name).collect();
            let also = if parameters.is_empty() { String::new() } else { format!(" Parameters: {}", parameters.join(", ")) };
            PossibleValue::new(engine.id.as_str()).help(format!("{}{also}", engine.about))
        });
        Some(Box::new(std::iter::once(auto).chain(engines)))
    }
}
