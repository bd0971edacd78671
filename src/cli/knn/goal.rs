//! What `knn` is to find, by --radius and --metric.

use anyhow::bail;

use crate::cli::job::{Job, Request, check_device};
use crate::cli::usage::Usage;
use crate::engines::registry;
use crate::knn::{DeviceId, Goal, Metric, Parameters, Ranking};
use crate::run::{BatchError, EngineChoice};

/// What is asked for. A radius is the number that was typed, as its unit is known once the metric is.
///
/// # Errors
/// [`Usage`].
pub fn asked(radius: Option<&str>, ranking: Option<Ranking>) -> anyhow::Result<Goal> {
    Ok(match (radius, ranking) {
        (_, Some(Ranking::InnerProduct)) => Goal::LargestProduct,
        (Some(radius), _) => Goal::Within(number_and_unit(radius)?.0),
        (None, _) => Goal::Nearest,
    })
}

/// What a job is to find.
///
/// # Errors
/// [`Usage`], where the metric has not the radius's unit.
pub fn of(radius: Option<&str>, job: &Job) -> anyhow::Result<Goal> {
    match radius {
        Some(radius) => Ok(Goal::Within(length(radius, job.spec.metric)?)),
        None => asked(None, Some(job.ranking)),
    }
}

/// The flag that asks for a goal, as errors begin.
pub fn flag(goal: Goal) -> &'static str {
    match goal {
        Goal::Nearest => "",
        Goal::Within(_) => "--radius: ",
        Goal::LargestProduct => "--metric inner-product: ",
    }
}

/// Refuses what holds whatever is in the files.
///
/// # Errors
/// [`Usage`], and those of [`Request::check`].
pub fn check(goal: Goal, request: &Request) -> anyhow::Result<()> {
    let (searches, search) = match goal {
        Goal::Nearest => return request.check(),
        Goal::Within(_) => ("--radius searches", "radius"),
        Goal::LargestProduct => ("inner products are searched", "inner product"),
    };
    if let Some(device @ DeviceId::Gpu(_)) = request.device {
        bail!(Usage(format!("--device {device}: {searches} on the CPU; leave --device out")));
    }
    for choice in &request.engines {
        let EngineChoice::Named(method) = choice else { continue };
        if registry::find(method.engine).is_some_and(|engine| !engine.finds(goal)) {
            bail!(Usage(BatchError::Engine { engine: method.engine, goal }.to_string()));
        }
        if method.parameters != Parameters::NONE {
            bail!(Usage(format!("--engine {choice}: a search by {search} has no parameters")));
        }
    }
    if goal != Goal::LargestProduct {
        return request.check();
    }
    if request.exclude_self {
        request.check_own("--exclude-self")?;
    }
    check_device(request.device, &request.engines)?;
    let able = |choice: &EngineChoice| choice.engines().filter(|engine| engine.finds(goal)).map(|engine| engine.limits.k).max();
    match request.engines.iter().filter_map(able).max() {
        Some(most) if !(1..=most).contains(&request.k) => {
            bail!(Usage(format!("k = {}: neighbours per query go from 1 to {most} by inner product", request.k)))
        }
        _ => Ok(()),
    }
}

/// The parts of a length such as `5km`: the number, also as it was typed, and the unit.
fn number_and_unit(text: &str) -> anyhow::Result<(f64, &str, &str)> {
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok((value, number, unit)),
        _ => bail!(Usage(format!("--radius: `{text}` is not a distance: write a number of 0 or more"))),
    }
}

/// A length such as `5km`, in the metric's unit.
fn length(text: &str, metric: Metric) -> anyhow::Result<f64> {
    let (value, number, unit) = number_and_unit(text)?;
    let units: &[(&str, f64)] = match metric {
        Metric::L2 => &[("", 1.0)],
        Metric::Angular => &[("", 1.0), ("rad", 1.0), ("deg", std::f64::consts::PI / 180.0)],
        Metric::Cosine => &[("", 1.0)],
        Metric::Sky => &[("", 1.0), ("deg", 1.0), ("arcmin", 1.0 / 60.0), ("arcsec", 1.0 / 3600.0), ("rad", 180.0 / std::f64::consts::PI)],
        Metric::Haversine => &[("", 1.0), ("km", 1.0), ("m", 0.001), ("mi", 1.609_344), ("nmi", 1.852)],
    };
    match units.iter().find(|(name, _)| *name == unit) {
        Some(_) if metric == Metric::Cosine && value > 2.0 => {
            bail!(Usage(format!("--radius {number}: a cosine distance, 1 − cos of the angle, is from 0 to 2")))
        }
        Some((_, factor)) => Ok(value * factor),
        None if metric == Metric::L2 => {
            bail!(Usage(format!("--radius: with the l2 metric a distance is in the cloud's own unit: write {number}, not `{text}`")))
        }
        None if metric == Metric::Cosine => {
            bail!(Usage(format!("--radius: a cosine distance, 1 − cos of the angle, is from 0 to 2 and has no unit: write {number}, not `{text}`")))
        }
        None => {
            let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
            bail!(Usage(format!("--radius: the {metric} metric has no unit `{unit}`: use {}", known.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        for (text, metric, want) in [
            ("5km", Metric::Haversine, 5.0),
            ("500 m", Metric::Haversine, 0.5),
            ("2", Metric::Haversine, 2.0),
            ("1e-1mi", Metric::Haversine, 0.160_934_4),
            ("180deg", Metric::Angular, std::f64::consts::PI),
            ("1.5e3", Metric::L2, 1500.0),
        ] {
            assert!((length(text, metric).unwrap() - want).abs() < 1e-12, "{text}");
        }
        let refused = |text: &str, metric| length(text, metric).unwrap_err().to_string();
        assert_eq!(refused("5km", Metric::L2), "--radius: with the l2 metric a distance is in the cloud's own unit: write 5, not `5km`");
        assert_eq!(refused("5ft", Metric::Haversine), "--radius: the haversine metric has no unit `ft`: use km, m, mi, nmi");
        for text in ["-1", "nan", "inf", "", "km", "1,5"] {
            assert_eq!(refused(text, Metric::Haversine), format!("--radius: `{text}` is not a distance: write a number of 0 or more"), "{text}");
        }
    }
}
