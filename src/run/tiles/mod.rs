//! Neighbours among points that are larger than the memory: tiles of points and blocks of queries.
//!
//! Each tile is searched by an ordinary engine, and the best lists are merged in the order of all engines, so
//! that they are those of one search over all points. A tile is skipped for queries whose list is nearer than
//! its box. Ranking by the file's values follows once, over the rows of the lists (`ranking`).

mod loader;
mod near;
mod plan;
mod ranking;
mod within;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::batches::{AnswerBatch, Arithmetic, BatchAnswers, largest_k};
use super::engines::single_pass;
use super::execute::continue_if;
use super::problem::{LoadedSpec, queries, query_cloud_of};
use super::{EnginePool, Phase, QuerySpec, RunError, RunRecord, RunSpec, Stage};
use crate::cloud::{ColumnChoice, PointCloud, TiledCloud};
use crate::exact::{Margin, search_k};
use crate::knn::distance::{squared_distance_to_box, squared_gap};
use crate::knn::{BestLists, PointSettings, Points, Problem, ProblemParameters, Queries, Radius};
use crate::text;
use loader::TileLoader;
use near::{QueryGroups, Tile};
pub use plan::TilePlan;

/// A search over tiles.
pub struct TiledSearch {
    spec: RunSpec,
    /// The spec of a block of queries over a tile.
    tile_spec: RunSpec,
    tiled: Arc<TiledCloud>,
    plan: TilePlan,
    tiles: Vec<Tile>,
    /// Two points with the extents of all, over which queries are checked.
    spanning: Arc<Points>,
    queries: TileQueries,
    /// The queries to answer: ascending ranges, all by default.
    pub(super) answered: Option<Vec<Range<usize>>>,
    pub arithmetic: Arithmetic,
    /// Whether the lists are ranked by the file's values.
    is_refined: bool,
    /// Search radius; `None` to search for k neighbours.
    pub radius: Option<Radius>,
}

/// What is queried.
enum TileQueries {
    All,
    Rows(Vec<u32>),
    /// Points of their own, with their problem over the spanning points.
    Cloud(Arc<PointCloud>, Box<Problem>),
}

/// Queries that are searched together.
struct Block {
    /// Their problem over the spanning points.
    problem: Problem,
    /// The cloud that they are rows of.
    cloud: Arc<PointCloud>,
    /// Their rows: in all points, or in a cloud of their own.
    rows: Vec<u32>,
}

/// How a search over tiles was done.
#[derive(Clone, Debug, Default)]
pub struct TiledAnswer {
    /// The engines, separated by commas, in the order of their first tiles.
    pub engine: String,
    pub device: Option<String>,
    pub index: bool,
    /// Why the preferred engine was not used.
    pub fallback: Option<String>,
    pub stats: TileStats,
}

/// The tiles of a search.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TileStats {
    pub tiles: usize,
    /// Points of the largest tile.
    pub points: usize,
    pub query_blocks: usize,
    /// How often a tile was read for the search, after the passes that precede it.
    pub tiles_read: u64,
    pub why: String,
}

impl std::fmt::Display for TileStats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |number: usize, one, many| text::count(number as u64, one, many);
        let (tiles, points) = (count(self.tiles, "tile", "tiles"), count(self.points, "point", "points"));
        let blocks = count(self.query_blocks, "block", "blocks");
        let reads = text::count(self.tiles_read, "read", "reads");
        write!(f, "{tiles} of up to {points}, {blocks} of queries, {reads}: {}", self.why)
    }
}

impl TiledAnswer {
    fn add(&mut self, record: &RunRecord) {
        let engine = record.engine.as_str();
        if self.engine.is_empty() {
            engine.clone_into(&mut self.engine);
            self.fallback.clone_from(&record.fallback);
        } else if !self.engine.split(", ").any(|known| known == engine) {
            self.engine += &format!(", {engine}");
        }
        self.device = Some(record.device.name.clone());
        self.index |= record.samples.iter().any(|sample| sample.phase == Phase::BuildIndex);
    }
}

impl TiledSearch {
    /// Reads all tiles once, for the boxes of their points and for rows that the metric rejects.
    ///
    /// # Errors
    /// As [`super::build_problem`], and those of reading the file.
    pub fn new(
        spec: &RunSpec,
        tiled: &Arc<TiledCloud>,
        query_cloud: Option<&Arc<PointCloud>>,
        arithmetic: Arithmetic,
        plan: TilePlan,
        stage: &mut Stage<'_>,
    ) -> Result<Self, RunError> {
        let header = tiled.header();
        let arrangement = arrangement(spec);
        let query_cloud = query_cloud_of(LoadedSpec::new(spec, header, query_cloud))?;
        let is_refined = arithmetic == Arithmetic::File
            && !Margin::new(spec.metric, header, query_cloud.as_deref().unwrap_or(header)).is_zero();
        let setup = ProblemParameters::from(spec);
        setup.check()?;
        let own = setup.found_k() - spec.k;
        let k = if is_refined {
            let dims = spec.metric.dims(header.dims());
            own + (search_k(setup.found_k(), dims, largest_k(spec)) - own).min(spec.k.max(header.len()))
        } else {
            setup.found_k()
        };
        let mut loader = TileLoader::new(tiled, arrangement);
        let mut tiles: Vec<Tile> = Vec::new();
        let parts =
            TilePlan::parts(0..header.len(), plan.tile).map(|rows| rows.start as u32..rows.end as u32);
        for (number, rows) in parts.clone().enumerate() {
            let share = rows.start as f32 / header.len() as f32;
            continue_if(stage("reading the tiles", share))?;
            let points = loader.load(number, &rows)?;
            if let Some(next) = parts.clone().nth(number + 1) {
                loader.read_ahead(number + 1, &next);
            }
            tiles.push(Tile::new(rows, &points));
        }
        let mut all = tiles[0].extents.clone();
        for tile in &tiles {
            let both = all.iter_mut().zip(&tile.extents);
            both.for_each(|(all, tile)| *all = [all[0].min(tile[0]), all[1].max(tile[1])]);
        }
        let spanning = Arc::new(Points::spanning(header, arrangement, &all));
        let tile_spec = RunSpec {
            k,
            queries: QuerySpec::File { path: "tile".into(), columns: ColumnChoice::Default },
            exclude_self: false,
            drop_nonfinite: false,
            ..single_pass(spec)
        };
        let queries = match (query_cloud, &spec.queries) {
            (Some(cloud), _) => {
                let problem = Problem::with_points(
                    &spanning,
                    &Queries::Cloud(Arc::clone(&cloud)),
                    ProblemParameters::from(&tile_spec),
                )?;
                TileQueries::Cloud(cloud, Box::new(problem))
            }
            (None, QuerySpec::All) => TileQueries::All,
            (None, _) => match queries(LoadedSpec::new(spec, header, None))? {
                Queries::Rows(rows) => TileQueries::Rows(rows),
                Queries::Cloud(_) => TileQueries::All,
            },
        };
        let (tiled, spec) = (Arc::clone(tiled), single_pass(spec));
        Ok(Self {
            spec,
            tile_spec,
            tiled,
            plan,
            tiles,
            spanning,
            queries,
            answered: None,
            arithmetic,
            is_refined,
            radius: None,
        })
    }

    /// Whether distances are computed from the file's values.
    pub fn is_refined(&self) -> bool {
        self.is_refined && self.radius.is_none()
    }

    /// The number of queries, q.
    pub fn queries(&self) -> usize {
        match &self.queries {
            TileQueries::All => self.tiled.header().len(),
            TileQueries::Rows(rows) => rows.len(),
            TileQueries::Cloud(_, problem) => problem.q(),
        }
    }

    /// Neighbours reported per query; 0 if the number varies.
    pub fn k(&self) -> usize {
        if self.radius.is_some() { 0 } else { self.spec.k }
    }

    /// The most queries of a block, and the most that are passed on at a time.
    pub(super) fn limits(&self) -> (usize, [usize; 2]) {
        (self.plan.block, [self.plan.ranked; 2])
    }

    /// The blocks of queries. If all rows are queried, each is within a tile.
    fn blocks(&self) -> Vec<Range<usize>> {
        let whole = vec![0..self.queries(); 1];
        let answered = self.answered.as_ref().unwrap_or(&whole);
        let tiles: Vec<Range<usize>> = match self.queries {
            TileQueries::All => {
                self.tiles.iter().map(|tile| tile.rows.start as usize..tile.rows.end as usize).collect()
            }
            _ => whole.clone(),
        };
        let common =
            |(part, tile): (&Range<usize>, &Range<usize>)| part.start.max(tile.start)..part.end.min(tile.end);
        let pairs = answered.iter().flat_map(|part| tiles.iter().map(move |tile| (part, tile)));
        let parts = pairs.map(common).filter(|common| !common.is_empty());
        parts.flat_map(|part| TilePlan::parts(part, self.plan.block)).collect()
    }

    /// Answers the queries in order and passes them to `take`, some at a time. `own_first` puts a query's own
    /// row first among equals.
    ///
    /// # Errors
    /// Errors of the search and of `take`.
    pub fn for_each<E: From<RunError>>(
        &self,
        engines: &mut EnginePool,
        own_first: bool,
        stage: &mut Stage<'_>,
        take: &mut dyn FnMut(AnswerBatch<'_>) -> Result<(), E>,
    ) -> Result<TiledAnswer, E> {
        let blocks = self.blocks();
        let mut run = TileRun {
            search: self,
            loader: TileLoader::new(&self.tiled, arrangement(&self.spec)),
            answer: TiledAnswer { stats: self.stats(blocks.len()), ..TiledAnswer::default() },
        };
        let q = self.queries() as f32;
        for range in blocks {
            let block = self.block(range.clone())?;
            // Ranking follows the search; its share of the time is an estimate.
            let done = |share: f32| (range.start as f32 + share * range.len() as f32) / q;
            let lists = run.search(&block, engines, &mut |label, share| stage(label, done(0.7 * share)))?;
            for part in TilePlan::parts(0..range.len(), self.plan.ranked) {
                let share = 0.7 + 0.3 * part.start as f32 / range.len() as f32;
                let label = if self.is_refined { "ranking by the file's values" } else { "searching" };
                continue_if(stage(label, done(share)))?;
                let (mut found, distances) = run.ranked(&block, &lists, part.clone())?;
                let (first, queries) = (range.start + part.start, &block.rows[part]);
                if own_first {
                    found.put_own_first(queries);
                }
                let found = BatchAnswers::Nearest {
                    k: found.k,
                    metric: self.spec.metric,
                    rows: &found.indices,
                    squared: &found.squared_distances,
                    distances: distances.as_deref(),
                };
                self.pass_on(first, queries, found, take)?;
            }
        }
        run.answer.stats.tiles_read = run.loader.reads;
        Ok(run.answer)
    }

    /// Initial statistics, before any tile is read.
    fn stats(&self, query_blocks: usize) -> TileStats {
        TileStats {
            tiles: self.tiles.len(),
            points: self.tiles.iter().map(|tile| tile.rows.len()).max().unwrap_or(0),
            query_blocks,
            tiles_read: 0,
            why: self.plan.why.clone(),
        }
    }

    /// Passes the neighbours of consecutive queries to `take`: `first` is their first number, `rows` their rows.
    fn pass_on<E: From<RunError>>(
        &self,
        first: usize,
        rows: &[u32],
        found: BatchAnswers<'_>,
        take: &mut dyn FnMut(AnswerBatch<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let header = self.tiled.header();
        let mut cloud = Arc::clone(header);
        let shown;
        let mut found = found;
        if self.queries() == 1
            && let BatchAnswers::Nearest { rows, .. } | BatchAnswers::Within { rows, .. } = &mut found
        {
            // A single query is shown with the coordinates of its neighbours.
            (cloud, shown) = self.gathered(rows)?;
            *rows = &shown;
        }
        let queries = match &self.queries {
            TileQueries::Cloud(..) if matches!(self.spec.queries, QuerySpec::At(_)) => None,
            TileQueries::Cloud(cloud, _) => Some((&**cloud, rows)),
            _ => Some((&**header, rows)),
        };
        take(AnswerBatch { cloud: &cloud, queries, first, found })
    }

    /// Reads the queries of a block.
    fn block(&self, range: Range<usize>) -> Result<Block, RunError> {
        let over = |cloud: PointCloud| {
            let cloud = Arc::new(cloud);
            let queries = Queries::Cloud(Arc::clone(&cloud));
            let setup = ProblemParameters::from(&self.tile_spec);
            Problem::with_points(&self.spanning, &queries, setup).map(|problem| (problem, cloud))
        };
        Ok(match &self.queries {
            TileQueries::All => {
                let rows = range.start as u32..range.end as u32;
                let (problem, cloud) = over(self.tiled.tile(rows.clone())?)?;
                Block { problem, cloud, rows: rows.collect() }
            }
            TileQueries::Rows(all) => {
                let rows = all[range].to_vec();
                let (cloud, local) = self.gathered(&rows)?;
                let (problem, cloud) = over(Arc::unwrap_or_clone(cloud))?;
                Block { problem: problem.part(&self.spanning, &local), cloud, rows }
            }
            TileQueries::Cloud(cloud, problem) => {
                let queries: Vec<u32> = (range.start as u32..range.end as u32).collect();
                let rows = queries.iter().map(|&query| problem.query_row(query as usize)).collect();
                let problem = problem.part(&self.spanning, &queries);
                Block { problem, cloud: Arc::clone(cloud), rows }
            }
        })
    }
}

fn arrangement(spec: &RunSpec) -> PointSettings {
    ProblemParameters { drop_zero_rows: false, ..ProblemParameters::from(spec) }.arrangement()
}

/// A search in progress.
struct TileRun<'a> {
    search: &'a TiledSearch,
    loader: TileLoader,
    answer: TiledAnswer,
}

impl TileRun<'_> {
    /// The best lists of a block, by the rule of all engines.
    fn search(
        &mut self,
        block: &Block,
        engines: &mut EnginePool,
        stage: &mut Stage<'_>,
    ) -> Result<BestLists, RunError> {
        let tiles = &self.search.tiles;
        let mut lists = BestLists::new(block.problem.q(), block.problem.k())?;
        let order = block.nearest_tiles(tiles);
        // First each query in its nearest tile, then in those that may have nearer points.
        let nearest = block.nearest_of(&order, tiles);
        let mut first = vec![Vec::new(); tiles.len()];
        nearest.iter().zip(0..).for_each(|(&tile, query)| first[tile as usize].push(query));
        let visited: Vec<usize> = order.iter().copied().filter(|&tile| !first[tile].is_empty()).collect();
        for (at, &number) in visited.iter().enumerate() {
            let points = self.loader.load_next(tiles, number, visited.get(at + 1))?;
            let mut stage = |label: &str| stage(label, at as f32 / (2 * visited.len()) as f32);
            self.search_tile(block, (&points, number, &first[number]), engines, &mut lists, &mut stage)?;
        }
        let groups = QueryGroups::new(&block.problem, |query| lists.farthest(query));
        // Begins with the tile that is in memory.
        let order = groups.near(tiles, order.into_iter().rev());
        let (count, mut order) = (order.len(), order.into_iter().enumerate());
        // One tile is found ahead, for which lists may become nearer meanwhile.
        let mut find_next = |lists: &BestLists| {
            order.find_map(|(at, number)| {
                let near = groups.near_queries(&block.problem, &tiles[number], |query| {
                    if nearest[query] == number as u32 { f32::NEG_INFINITY } else { lists.farthest(query) }
                });
                (!near.is_empty()).then_some((at, number, near))
            })
        };
        let mut next = find_next(&lists);
        while let Some((at, number, near)) = next {
            next = find_next(&lists);
            let ahead = next.as_ref().map(|(_, number, _)| number);
            let points = near.near(&tiles[number], self.loader.load_next(tiles, number, ahead)?);
            let mut stage = |label: &str| stage(label, 0.5 + at as f32 / (2 * count) as f32);
            self.search_tile(block, (&points, number, &near.queries()), engines, &mut lists, &mut stage)?;
        }
        Ok(lists)
    }

    /// Searches points of a tile for some queries of a block.
    fn search_tile(
        &mut self,
        block: &Block,
        (points, number, queries): (&Arc<Points>, usize, &[u32]),
        engines: &mut EnginePool,
        lists: &mut BestLists,
        stage: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(), RunError> {
        let TiledSearch { tiles, tile_spec, plan, .. } = self.search;
        if points.is_empty() {
            return Ok(());
        }
        for queries in queries.chunks(plan.searched) {
            let problem = block.problem.part(points, queries);
            let loaded = LoadedSpec::new(tile_spec, points.cloud(), Some(&block.cloud));
            let record = engines.answer_tile(loaded, &problem, &mut |label, _| stage(label))?;
            lists.merge(queries.iter().copied(), tiles[number].rows.start, &record.neighbors);
            self.answer.add(&record);
        }
        Ok(())
    }
}

impl Block {
    /// The tiles, nearest to the queries' box first; among equals those with rows close to the queries'.
    fn nearest_tiles(&self, tiles: &[Tile]) -> Vec<usize> {
        let own = near::extents(self.problem.dims(), self.problem.queries());
        let gap = |tile: &Tile| squared_gap(&own, &tile.extents);
        let home = |tile: &Tile| self.rows.first().map_or(0, |&row| tile.rows.start.abs_diff(row));
        let mut order: Vec<(usize, f32)> = tiles.iter().map(gap).enumerate().collect();
        order.sort_by(|(a, near), (b, far)| {
            near.total_cmp(far).then_with(|| home(&tiles[*a]).cmp(&home(&tiles[*b])))
        });
        order.into_iter().map(|(number, _)| number).collect()
    }

    /// The number of each query's nearest tile, the first in `order` among equals.
    fn nearest_of(&self, order: &[usize], tiles: &[Tile]) -> Vec<u32> {
        let nearest = |query: usize| {
            let gap = |&number: &usize| {
                (squared_distance_to_box(self.problem.query(query), &tiles[number].extents), number)
            };
            let first =
                order.iter().map(gap).reduce(|near, other| if other.0 < near.0 { other } else { near });
            first.map_or(0, |(_, number)| number as u32)
        };
        (0..self.problem.q()).into_par_iter().map(nearest).collect()
    }
}
