//! What lines of a figure are called, and which methods are of one line.

use crate::knn::Method;
use crate::run::EngineChoice;
use crate::run::presets::{Against, Axes};

/// The names of lines.
#[derive(Debug, Default, PartialEq)]
pub struct Lines {
    /// Each once, in the order of methods; empty for the only one where sizes tell lines apart.
    pub names: Vec<String>,
    /// The name of each method, as a place in `names`.
    pub of_method: Vec<usize>,
    /// What is said of all methods at once.
    pub common: Vec<String>,
}

impl Lines {
    /// Lines of a preset's figure: methods that differ in what stands on the x axis, or in the parameter whose best value counts, are one, and
    /// what all have in common is not repeated. Without axes, a line for each method, by its full name.
    pub fn of(methods: &[EngineChoice], axes: Option<Axes>) -> Self {
        let Some(axes) = axes else {
            return Self { names: methods.iter().map(ToString::to_string).collect(), of_method: (0..methods.len()).collect(), common: Vec::new() };
        };
        let shared: Vec<(String, String)> = methods.first().map_or_else(Vec::new, |first| {
            let by_all = |(name, value): &(&str, &str)| methods.iter().all(|method| method.parameters().get(name) == Some(value));
            first.parameters().iter().filter(by_all).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        });
        let x = if let Against::Parameter { name, .. } = axes.x { Some(name) } else { None };
        let name_of = |choice: &EngineChoice| {
            let EngineChoice::Named(Method { engine, parameters }) = choice else { return choice.to_string() };
            let mut method = Method { engine: *engine, parameters: parameters.clone() };
            let best = axes.best.filter(|name| parameters.get(name).is_some());
            for name in shared.iter().map(|(name, _)| name.as_str()).chain(x).chain(best) {
                method.parameters.unset(name);
            }
            best.map_or_else(|| method.to_string(), |best| format!("{method}, best {best}"))
        };
        let mut lines = Self::default();
        for name in methods.iter().map(name_of) {
            let at = lines.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                lines.names.push(name);
                lines.names.len() - 1
            });
            lines.of_method.push(at);
        }
        if let ([name], Some(_)) = (&mut lines.names[..], axes.curve) {
            lines.common.push(std::mem::take(name));
        }
        lines.common.extend(shared.into_iter().map(|(name, value)| format!("{name}={value}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::sweep::Size;

    fn lines(methods: &str, axes: Option<Axes>) -> Lines {
        Lines::of(&EngineChoice::list(methods).unwrap(), axes)
    }

    const AXES: Axes = Axes { x: Against::Size(Size::K), curve: None, panel: None, best: None };

    #[test]
    fn what_all_have_in_common_is_said_once() {
        let found = lines("bits:slots=ballot,timed=selection,warp-select:timed=selection", Some(AXES));
        assert_eq!((found.names, found.common), (vec!["bits:slots=ballot".to_owned(), "warp-select".to_owned()], vec!["timed=selection".to_owned()]));
        let found = lines("bits:timed=selection", None);
        assert_eq!((found.names, found.common), (vec!["bits:timed=selection".to_owned()], vec![]), "a sweep of its own");
    }

    #[test]
    fn values_of_which_the_best_counts_are_a_line_beside_the_default() {
        let found = lines("warp-select:queue=2|3,bits,warp-select", Some(Axes { best: Some("queue"), ..AXES }));
        assert_eq!(found.names, ["warp-select, best queue", "bits", "warp-select"]);
        assert_eq!(found.of_method, [0, 0, 1, 2]);
    }

    #[test]
    fn values_on_the_axis_are_a_line_that_sizes_tell_from_others() {
        let x = Against::Parameter { name: "parts", about: "" };
        let found = lines("bits:parts=1|2|4,timed=selection", Some(Axes { x, curve: Some(Size::K), ..AXES }));
        assert_eq!((found.names, found.of_method), (vec![String::new()], vec![0, 0, 0]));
        assert_eq!(found.common, ["bits", "timed=selection"]);
    }
}
