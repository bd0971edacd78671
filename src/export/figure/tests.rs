use super::*;
use crate::cloud::Source;
use crate::progress::Silent;
use crate::run::{Engines, QuerySpec, RunSpec, presets};

/// A figure of runs on this processor.
fn figure(sweep: &Sweep, preset: Option<&Preset>) -> Figure {
    let mut figure = Figure::new(sweep, preset).unwrap();
    sweep
        .run(&mut Engines::default(), &Silent, |row| {
            figure.add(&row.spec.engine, &row.result?);
            Ok::<_, crate::run::RunError>(())
        })
        .unwrap();
    figure
}

fn small() -> Sweep {
    let base = RunSpec::new(Source::Generate { spec: "rounded-normal:n=400".to_owned(), seed: 0 }, QuerySpec::Count(50), 8);
    let engines = EngineChoice::list("kdtree,step").unwrap();
    Sweep { k: vec![16, 4, 1], engines, ..Sweep::new(base) }
}

#[test]
fn curves_are_what_was_measured_by_ascending_size() {
    let figure = figure(&small(), None);
    let time = figure.curves(Panel::Time, None);
    assert_eq!(time.iter().map(|curve| (curve.series, curve.dashed)).collect::<Vec<_>>(), [(0, false), (1, false)]);
    assert!(time.iter().all(|curve| curve.points.iter().map(|point| point[0]).eq([1.0, 4.0, 16.0])), "{time:?}");
    let points = figure.curves(Panel::Points, None);
    assert_eq!(points.iter().map(|curve| (curve.series, curve.dashed)).collect::<Vec<_>>(), [(1, false), (1, true)], "kdtree counts nothing");
    assert!(points[0].points.iter().zip(&points[1].points).all(|(accessed, retained)| accessed[1] >= retained[1]), "{points:?}");
    let speedup = figure.curves(Panel::Speedup, None);
    assert!(speedup[0].points.iter().all(|point| point[1] == 1.0), "the first is as fast as itself: {speedup:?}");
    for ((first, second), factor) in time[0].points.iter().zip(&time[1].points).zip(&speedup[1].points) {
        assert_eq!(first[1] / second[1], factor[1]);
    }
}

#[test]
fn a_figure_says_what_it_shows() {
    let text = figure(&small(), None).svg();
    for said in [
        "Search time in ms",
        "Points accessed and retained",
        ">k, neighbours per query<",
        ">kdtree<",
        ">step<",
        "n = 400, q = 50, d = 2, l2, rounded-normal (seed 0), on CPU<",
        ">16<",
    ] {
        assert!(text.contains(said), "{said} is missing from\n{text}");
    }
    assert!(!text.contains("paper"), "no publication is behind it");
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn numbers_of_the_paper_are_marked_only_where_sizes_are_its_own() {
    let preset = presets::find("step-12").unwrap();
    let own = preset.sweep(None, 0).unwrap();
    let other = Sweep { n: vec![300], ..own.clone() };
    assert_eq!(Figure::new(&own, Some(preset)).unwrap().stated_in(Panel::Speedup), [[8.0, 2.9]]);
    let text = figure(&Sweep { d: vec![2, 3], k: vec![5], ..other }, Some(preset)).svg();
    assert!(text.contains("RTX 3070, with its own data and sizes") && !text.contains("stated in the paper"), "{text}");
    assert!(text.contains("2.9 times as fast"), "{text}");
}

/// The minima of clusters are the one nearest neighbour already: nothing is read again.
#[test]
fn what_is_not_drawn_is_said() {
    let nearest = Sweep { engines: EngineChoice::list("step-exhaustive").unwrap(), k: vec![1, 8], ..small() };
    let zeros = figure(&nearest, None);
    assert!(zeros.has_zeros() && zeros.svg().contains("Counts of 0 are not drawn"));
    assert!(!figure(&small(), None).svg().contains("Counts of 0"));
}

#[test]
fn sizes_of_a_generator_are_said_once() {
    let of = |spec: &str| data(&Source::Generate { spec: spec.to_owned(), seed: 7 });
    assert_eq!(of("uniform"), "uniform (seed 7)");
    assert_eq!(of("gaussian-mixture: n=5,clusters=3, d=2,spread=1"), "gaussian-mixture:clusters=3,spread=1 (seed 7)");
}

#[test]
fn one_size_varies_or_there_is_no_figure() {
    let one = Sweep { k: vec![4, 4], ..small() };
    assert_eq!(Figure::new(&one, None).unwrap_err(), FigureError::OneSize);
    assert_eq!(Figure::new(&Sweep { d: vec![2, 3], ..small() }, None).unwrap_err(), FigureError::OneSize);
    // Nothing measured is a page that says so.
    assert!(Figure::new(&small(), None).unwrap().svg().contains("Nothing was measured"));
}
