//! Reads tiles, one ahead of the search.

use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::near::Tile;
use crate::cloud::{CloudError, PointCloud, TiledCloud};
use crate::knn::{PointSettings, Points};
use crate::run::RunError;

/// A tile that is being read, by number.
type Ahead = (usize, JoinHandle<Result<PointCloud, CloudError>>);

/// The tile that is searched, and the one that is read meanwhile.
pub struct TileLoader {
    tiled: Arc<TiledCloud>,
    arrangement: PointSettings,
    current: Option<(usize, Arc<Points>)>,
    ahead: Option<Ahead>,
    /// Number of tiles that were used.
    pub reads: u64,
}

impl TileLoader {
    pub fn new(tiled: &Arc<TiledCloud>, arrangement: PointSettings) -> Self {
        Self { tiled: Arc::clone(tiled), arrangement, current: None, ahead: None, reads: 0 }
    }

    /// The points of a tile. They stay in memory until another tile is needed, with what engines prepared from
    /// them.
    pub fn load(&mut self, number: usize, rows: &Range<u32>) -> Result<Arc<Points>, RunError> {
        if let Some((_, points)) = self.current.as_ref().filter(|(at, _)| *at == number) {
            return Ok(Arc::clone(points));
        }
        self.current = None;
        // Another tile that was read ahead is dropped before this one is read.
        let ahead = match self.ahead.take() {
            Some((at, reading)) => {
                let read = reading.join().map_err(|panic| RunError::crashed(panic.as_ref()))?;
                (at == number).then_some(read)
            }
            None => None,
        };
        let cloud = Arc::new(ahead.unwrap_or_else(|| self.tiled.tile(rows.clone()))?);
        let points = Arc::new(Points::new(&cloud, self.arrangement)?);
        self.reads += 1;
        self.current = Some((number, Arc::clone(&points)));
        Ok(points)
    }

    /// The points of a tile, while the next is read.
    pub fn load_next(
        &mut self,
        tiles: &[Tile],
        number: usize,
        next: Option<&usize>,
    ) -> Result<Arc<Points>, RunError> {
        let points = self.load(number, &tiles[number].rows)?;
        if let Some(&next) = next {
            self.read_ahead(next, &tiles[next].rows);
        }
        Ok(points)
    }

    /// Starts reading a tile, unless it is in memory. If no thread can be started, it is read when it is
    /// needed.
    pub fn read_ahead(&mut self, number: usize, rows: &Range<u32>) {
        let is_there = self.current.as_ref().is_some_and(|(at, _)| *at == number);
        if is_there || self.ahead.is_some() {
            return;
        }
        let (tiled, rows) = (Arc::clone(&self.tiled), rows.clone());
        let reading = thread::Builder::new().name("tiles".to_owned()).spawn(move || tiled.tile(rows));
        self.ahead = reading.ok().map(|reading| (number, reading));
    }
}
