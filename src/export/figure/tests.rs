use super::*;
use crate::cloud::Source;
use crate::progress::NoProgress;
use crate::run::{EnginePool, QuerySpec, RunSpec, presets};

/// A figure of runs on the CPU.
fn figure(sweep: &Sweep, preset: Option<&'static Preset>) -> Figure {
    let mut figure = Figure::new(sweep, preset).unwrap();
    sweep
        .run(&mut EnginePool::default(), &NoProgress, |row| {
            figure.add(&row.spec.engine, &row.result?);
            Ok::<_, crate::run::RunError>(())
        })
        .unwrap();
    figure
}

fn small() -> Sweep {
    let base = RunSpec::new(
        Source::Generate { spec: "rounded-normal:n=400".to_owned(), seed: 0 },
        QuerySpec::Count(50),
        8,
    );
    let engines = EngineChoice::list("kdtree,step").unwrap();
    Sweep { k: vec![16, 4, 1], engines, ..Sweep::new(base) }
}

#[test]
fn curve_points_are_sorted_by_size() {
    let figure = figure(&small(), None);
    let time = figure.curves(PanelQuantity::Time, None);
    assert_eq!(
        time.iter().map(|curve| (curve.series, curve.dashed)).collect::<Vec<_>>(),
        [(0, false), (1, false)]
    );
    assert!(
        time.iter().all(|curve| curve.points.iter().map(|point| point[0]).eq([1.0, 4.0, 16.0])),
        "{time:?}"
    );
    let points = figure.curves(PanelQuantity::Points, None);
    assert_eq!(
        points.iter().map(|curve| (curve.series, curve.dashed)).collect::<Vec<_>>(),
        [(1, false), (1, true)],
        "kdtree has no counters"
    );
    assert!(
        points[0].points.iter().zip(&points[1].points).all(|(accessed, retained)| accessed[1] >= retained[1]),
        "{points:?}"
    );
    let speedup = figure.curves(PanelQuantity::Speedup, None);
    assert!(
        speedup[0].points.iter().all(|point| point[1] == 1.0),
        "the first method has a speedup of 1: {speedup:?}"
    );
    for ((first, second), factor) in time[0].points.iter().zip(&time[1].points).zip(&speedup[1].points) {
        assert_eq!(first[1] / second[1], factor[1]);
    }
}

#[test]
fn figures_label_axes_series_and_conditions() {
    let text = figure(&small(), None).svg();
    for said in [
        "search time in ms",
        "Distance evaluations and retained points",
        ">k, neighbours per query<",
        ">kdtree<",
        ">step<",
        "n = 400, q = 50, d = 2, l2, rounded-normal (seed 0), on CPU<",
        ">16<",
    ] {
        assert!(text.contains(said), "{said} is missing from\n{text}");
    }
    assert!(!text.contains("paper"), "there is no publication");
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn published_numbers_are_marked_only_at_published_sizes() {
    let preset = presets::find("step-12").unwrap();
    let own = preset.sweep(None, 0).unwrap();
    let other = Sweep { n: vec![300], ..own.clone() };
    assert_eq!(Figure::new(&own, Some(preset)).unwrap().stated_in(PanelQuantity::Speedup), [[8.0, 2.9]]);
    let text = figure(&Sweep { d: vec![2, 3], k: vec![5], ..other }, Some(preset)).svg();
    assert!(
        text.contains("RTX 3070, with other data and sizes") && !text.contains("stated in the paper"),
        "{text}"
    );
    assert!(text.contains("2.9 times as fast"), "{text}");
}

/// The minima of clusters are already the nearest neighbour for k = 1, so no point is read again.
#[test]
fn figures_note_omitted_zeros() {
    let nearest = Sweep { engines: EngineChoice::list("step-exhaustive").unwrap(), k: vec![1, 8], ..small() };
    let zeros = figure(&nearest, None);
    assert!(zeros.has_zeros() && zeros.svg().contains("Counts of 0 are not drawn"));
    assert!(!figure(&small(), None).svg().contains("Counts of 0"));
}

/// A figure of a preset with other methods and sizes.
fn of_preset(name: &str, engines: &str, with: impl Fn(Sweep) -> Sweep) -> Figure {
    let base = RunSpec {
        repeats: 3,
        ..RunSpec::new(
            Source::Generate { spec: "uniform:n=300".to_owned(), seed: 0 },
            QuerySpec::Count(20),
            8,
        )
    };
    let sweep = Sweep { engines: EngineChoice::list(engines).unwrap(), ..Sweep::new(base) };
    figure(&with(sweep), Some(presets::find(name).unwrap()))
}

#[test]
fn the_best_parameter_value_is_plotted_at_each_size() {
    let mut figure = of_preset("hanak-5.5", "warp-select:queue=2|3|4,warp-select", |sweep| Sweep {
        k: vec![4, 40],
        ..sweep
    });
    let [best, default] = &figure.curves(PanelQuantity::Throughput, None)[..] else { panic!("two lines") };
    for (at, [x, y]) in best.points.iter().enumerate() {
        let of = |run: &&Measurement| run.size(Size::K) as f64 == *x && run.method < 3;
        let fastest =
            figure.measured.iter().filter(of).min_by(|a, b| a.mean_ms.total_cmp(&b.mean_ms)).unwrap();
        assert_eq!(*y, 300.0 * 20.0 / (fastest.mean_ms / 1e3));
        assert_eq!(best.notes[at], (fastest.method + 2).to_string());
        assert!(best.deviations[at] > 0.0 && default.notes[at].is_empty());
    }
    for run in &mut figure.measured {
        run.peak = Some(2e11);
    }
    let text = figure.svg();
    for said in [
        ">Throughput in distances per second<",
        ">warp-select, best queue<",
        ">warp-select<",
        ">% of bandwidth<",
        "Right axis: reading 4 bytes per distance once",
        "Means of 3 repeats after 0 untimed; bars are \u{b1} one standard deviation.",
        "The thesis (Han\u{e1}k 2023) states for an NVIDIA Tesla V100, with other data and sizes",
    ] {
        assert!(text.contains(said), "{said} is missing from\n{text}");
    }
    figure.measured[0].peak = None;
    let text = figure.svg();
    assert!(!text.contains("% of bandwidth") && text.contains("bandwidth is omitted"), "{text}");
}

#[test]
fn each_query_count_has_its_own_panel() {
    let work = Some(crate::run::sweep::WorkBudget { product: 1 << 14, values: u64::MAX });
    let q = [16, 64].map(QuerySpec::Count).to_vec();
    let figure = of_preset("hanak-5.6", "bits", |sweep| Sweep {
        work,
        q: q.clone(),
        k: vec![4, 8],
        d: vec![2],
        ..sweep
    });
    assert_eq!(figure.panel_values(), [Some(16), Some(64)]);
    assert!(
        figure.panel_values().into_iter().all(|panel_value| figure
            .curves(PanelQuantity::Throughput, panel_value)[0]
            .points
            .len()
            == 2)
    );
    let text = figure.svg();
    assert!(text.contains(">n = 512, q = 16<") && text.contains(">n = 128, q = 64<"), "{text}");
    assert!(!text.contains("n = 128 to 512"), "panels say it");
    let why = Figure::new(&Sweep { d: vec![2, 3], ..small() }, presets::find("hanak-5.6").ok())
        .unwrap_err()
        .to_string();
    assert_eq!(why, "the figure of hanak-5.6 cannot show several values of --d; give one");
}

#[test]
fn parameters_and_k_shares_can_be_the_axis() {
    let figure = of_preset("hanak-5.7", "bits:parts=1|2|4", |sweep| Sweep { k: vec![4, 8], ..sweep });
    let curves = figure.curves(PanelQuantity::Throughput, None);
    assert_eq!(curves.len(), 2, "one line per k");
    assert!(
        curves.iter().all(|curve| curve.points.iter().map(|point| point[0]).eq([1.0, 2.0, 4.0])),
        "{curves:?}"
    );
    let text = figure.svg();
    assert!(text.contains(">parts, partitions of a row<") && text.contains(">k = 8<"), "{text}");
    assert!(figure.conditions().contains(&"bits".to_owned()), "{:?}", figure.conditions());
    let figure =
        of_preset("hanak-5.10", "bits,warp-select", |sweep| Sweep { shares: vec![1, 5, 10], ..sweep });
    let curves = figure.curves(PanelQuantity::Throughput, None);
    assert!(
        curves.len() == 2
            && curves.iter().all(|curve| curve.points.iter().map(|point| point[0]).eq([1.0, 5.0, 10.0])),
        "{curves:?}"
    );
    assert!(figure.svg().contains(">k, % of n<"));
}

#[test]
fn transfer_time_counts_the_upload_once() {
    let figure = of_preset("hanak-5.14", "bits", |sweep| Sweep { k: vec![4, 8], d: vec![2, 3], ..sweep });
    for curve in figure.curves(PanelQuantity::Transfer, None) {
        for [x, y] in curve.points {
            let of_cloud = |run: &&Measurement| run.size(Size::D) as f64 == x;
            let upload = figure.measured.iter().find(of_cloud).unwrap().upload_ms;
            let run = figure.measured.iter().filter(of_cloud).nth(curve.series).unwrap();
            assert!(upload > 0.0 && (run.mean_ms / (upload + run.download_ms) - y).abs() < 1e-9 * y, "{y}");
        }
    }
    // Figures with a line per size omit the first method, whose speedup is 1 everywhere.
    let figure =
        of_preset("hanak-5.13", "lockstep,bits", |sweep| Sweep { k: vec![4, 8], d: vec![2, 3], ..sweep });
    let curves = figure.curves(PanelQuantity::Speedup, None);
    assert_eq!(
        curves.iter().map(|curve| figure.series_name(figure.series()[curve.series])).collect::<Vec<_>>(),
        ["bits, k = 4", "bits, k = 8"]
    );
    assert!(curves.iter().all(|curve| {
        curve.points.len() == 2 && curve.deviations.iter().all(|deviation| *deviation > 0.0)
    }));
}

/// Presets draw all sizes that they vary.
#[test]
fn every_preset_has_a_figure() {
    for preset in presets::all().filter(|preset| matches!(preset.data, presets::DataSource::Generated(_))) {
        let sweep = preset.sweep(None, 0).unwrap();
        let figure =
            Figure::new(&sweep, Some(preset)).unwrap_or_else(|why| panic!("{}: {why}", preset.names[0]));
        assert!(figure.is_as_published, "{}", preset.names[0]);
    }
}

#[test]
fn data_labels_omit_generator_sizes() {
    let of = |spec: &str| data(&Source::Generate { spec: spec.to_owned(), seed: 7 });
    assert_eq!(of("uniform"), "uniform (seed 7)");
    assert_eq!(
        of("gaussian-mixture: n=5,clusters=3, d=2,spread=1"),
        "gaussian-mixture:clusters=3,spread=1 (seed 7)"
    );
}

#[test]
fn figures_need_exactly_one_varying_size() {
    let one = Sweep { k: vec![4, 4], ..small() };
    assert_eq!(Figure::new(&one, None).unwrap_err(), FigureError::OneSize);
    assert_eq!(Figure::new(&Sweep { d: vec![2, 3], ..small() }, None).unwrap_err(), FigureError::OneSize);
    // Without measurements, the page says so.
    assert!(Figure::new(&small(), None).unwrap().svg().contains("No measurements"));
}
