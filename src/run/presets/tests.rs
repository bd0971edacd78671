use super::*;
use crate::cloud::{self, generate};
use crate::progress::NoProgress;

fn file() -> Source {
    Source::File { path: "points.csv".into(), columns: crate::cloud::ColumnChoice::Default }
}

#[test]
fn preset_names_resolve_and_are_unique() {
    let names: Vec<&String> = all().flat_map(|preset| &preset.names).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(find(name).unwrap().names.contains(name));
        assert!(!names[..at].contains(name) && *name != "list", "{name}");
    }
    for figure in 5..=12 {
        assert!(names.iter().any(|name| name.starts_with(&format!("step-{figure}"))), "figure {figure}");
    }
    for figure in 1..=14 {
        assert_eq!(find(&format!("hanak-5.{figure}")).unwrap().names.len(), 1);
    }
    assert_eq!(
        find("step-4").unwrap_err().to_string(),
        "unknown preset `step-4`; `--preset list` lists them"
    );
}

/// Engines and parameters exist, sizes are within their limits, and there is a size to plot against.
#[test]
fn every_preset_is_a_runnable_sweep() {
    for preset in all() {
        let name = &preset.names[0];
        let source = if matches!(preset.data, DataSource::File { .. }) { Some(file()) } else { None };
        let sweep = preset.sweep(source, 0).unwrap();
        sweep.check().unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(
            (sweep.varied().is_some() || preset.axes.is_some())
                && !preset.panels.is_empty()
                && !preset.about.is_empty(),
            "{name}"
        );
        for spec in sweep.specs() {
            let engine = spec.engine.engines().next().unwrap_or_else(|| panic!("{name}: {}", spec.engine));
            assert!(
                engine.limits.metrics.contains(&spec.metric) && spec.k <= engine.limits.k,
                "{name}: {}",
                spec.engine
            );
            if let Source::Generate { spec: cloud, .. } = &spec.data {
                let cloud = generate::check(cloud).unwrap();
                let value = |key| cloud.value(key).unwrap() as usize;
                assert!(
                    value("d") <= engine.limits.d && value("n") <= engine.limits.n,
                    "{name}: {} with {cloud}",
                    spec.engine
                );
                let q = if let QuerySpec::Count(count) = spec.queries { count as usize } else { 0 };
                assert!((1..=value("n")).contains(&q), "{name}: {q} rows are drawn of {cloud}");
            }
        }
        let marks = preset.stated.iter().flat_map(|stated| &stated.at);
        let x = sweep.varied().map_or_else(Vec::new, |size| sweep.values(size));
        for (panel, at, y) in marks {
            assert!(
                preset.panels.contains(panel) && x.contains(&Some(*at as u64)) && *y > 0.0,
                "{name}: {at}, {y}"
            );
        }
    }
}

#[test]
fn the_default_preset_matches_table_2() {
    let sweep = find("step-5a").unwrap().sweep(None, 0).unwrap();
    let last = sweep.specs().into_iter().rev().find(|spec| spec.queries == QuerySpec::Count(65_536)).unwrap();
    assert_eq!((last.k, last.metric), (128, Metric::L2));
    assert_eq!(last.data, Source::Generate { spec: "rounded-normal:n=65536,d=2".to_owned(), seed: 0 });
}

/// The sizes of a preset, with methods that exist here.
fn sizes(preset: &str) -> Vec<[u64; 3]> {
    let preset = find(preset).unwrap();
    let base = RunSpec::new(
        Source::Generate { spec: "uniform".to_owned(), seed: 0 },
        QuerySpec::Count(preset.q[0]),
        1,
    );
    let q = preset.q.iter().copied().map(QuerySpec::Count).collect();
    let sweep = Sweep { n: preset.n.clone(), work: preset.work, q, d: preset.d.clone(), ..Sweep::new(base) };
    let of = |spec: RunSpec| {
        let (Source::Generate { spec: cloud, .. }, QuerySpec::Count(q)) = (spec.data, spec.queries) else {
            panic!("{}", preset.about)
        };
        let cloud = generate::check(&cloud).unwrap();
        [cloud.value("n").unwrap() as u64, q, cloud.value("d").unwrap() as u64]
    };
    sweep.specs().into_iter().map(of).collect()
}

#[test]
fn preset_sizes_match_the_thesis() {
    let all_are = |preset: &str, distances: u64| sizes(preset).iter().all(|[n, q, _]| n * q == distances);
    assert!(
        ["hanak-5.3", "hanak-5.6", "hanak-5.9"].into_iter().all(|preset| all_are(preset, 1 << 30))
            && all_are("hanak-5.11", 1 << 28)
    );
    assert_eq!(sizes("hanak-5.3")[0], [1 << 24, 64, 4]);
    assert_eq!([sizes("hanak-5.6")[0][0], sizes("hanak-5.6")[5][0]], [1 << 20, 1 << 15]);
    // Equal work for every q and d, except where the points would exceed 1 GiB.
    for [n, q, d] in sizes("hanak-5.1") {
        assert!(n * q * d == 1 << 34 || (n * d == 1 << 28 && n * q * d < 1 << 34), "{n} {q} {d}");
        assert!(n >= q, "queries are rows");
    }
}

#[test]
fn file_presets_need_an_input_and_use_its_sizes() {
    let preset = find("step-9b").unwrap();
    let why = preset.sweep(None, 0).unwrap_err().to_string();
    assert!(why.starts_with("preset `step-9b` needs --input FILE: the publication used ANNSIFT1M"), "{why}");
    let sweep = find("step-12b").unwrap().sweep(Some(file()), 0).unwrap();
    assert_eq!((sweep.n.len(), sweep.d.len(), sweep.base.data), (0, 0, file()));
}

#[test]
fn modified_sweeps_are_not_marked_as_published() {
    let preset = find("step-5d").unwrap();
    let sweep = preset.sweep(None, 3).unwrap();
    assert!(preset.is_as_published(&sweep));
    assert!(!preset.is_as_published(&Sweep { n: vec![100], ..sweep.clone() }));
    assert!(!preset.is_as_published(&Sweep { q: vec![QuerySpec::All], ..sweep.clone() }));
    let base = RunSpec { metric: Metric::Angular, ..sweep.base.clone() };
    assert!(!preset.is_as_published(&Sweep { base, ..sweep.clone() }));
    let small = FreeMemory { host: 1 << 20, ..FreeMemory::UNLIMITED };
    assert!(!preset.is_as_published(&Sweep { free_memory: small, ..sweep.clone() }), "halved");
    assert!(preset.is_as_published(&Sweep { engines: vec![EngineChoice::Auto], ..sweep }));
}

#[test]
fn methods_unsupported_by_the_device_are_replaced_or_skipped() {
    let methods = EngineChoice::list("cuda:kernel=direct,step:spheres=naive,kdtree").unwrap();
    let (kept, said) = on_device(methods.clone(), DeviceKind::Cpu);
    assert_eq!(
        kept.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["lockstep", "step:spheres=naive", "kdtree"]
    );
    assert_eq!(said, ["cuda:kernel=direct does not run on the CPU; its twin lockstep does"]);
    let (kept, said) = on_device(methods, DeviceKind::Gpu);
    assert_eq!(kept.len(), 2);
    assert_eq!(said, ["kdtree does not run on an NVIDIA GPU and is skipped"]);
}

/// With the default seed no row is rounded to 0. Otherwise rows would be dropped, and there would be fewer
/// queries than published.
#[test]
fn generated_rows_are_nonzero() {
    let source = Source::Generate { spec: "rounded-normal:n=65536,d=2".to_owned(), seed: 0 };
    let cloud = cloud::load(&source, true, &NoProgress).unwrap();
    assert!(cloud.points().chunks(2).all(|row| row != [0.0, 0.0]));
}
