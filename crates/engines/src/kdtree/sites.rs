//! Groups duplicate points into sites.
//!
//! Thousands of equal points would make leaves that no plane can split, and a search would visit every copy. The tree
//! therefore holds each distinct location (site) once, and the duplicates are listed here.

use rayon::prelude::*;

/// The distinct locations of a cloud and the points at each.
pub struct Sites {
    /// Positions grouped by site, ascending within each.
    positions: Vec<u32>,
    /// Offset of each site's first position; number of sites + 1 long.
    starts: Vec<u32>,
}

impl Sites {
    /// Groups n points of `dims` coordinates, row-major.
    pub fn new(points: &[f32], dims: usize) -> Self {
        let row = |position: u32| &points[position as usize * dims..][..dims];
        let mut positions: Vec<u32> = (0..(points.len() / dims) as u32).collect();
        positions.par_sort_unstable_by(|&a, &b| compare(row(a), row(b)).then(a.cmp(&b)));
        let mut starts = vec![0];
        starts.extend((1..positions.len()).filter(|&at| compare(row(positions[at - 1]), row(positions[at])).is_ne()).map(|at| at as u32));
        starts.push(positions.len() as u32);
        Self { positions, starts }
    }

    /// The number of sites.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The positions of the points at a site, ascending; at least one.
    pub fn points_at(&self, site: u32) -> &[u32] {
        &self.positions[self.starts[site as usize] as usize..self.starts[site as usize + 1] as usize]
    }
}

/// Lexicographic order; 0.0 and −0.0 compare equal.
fn compare(a: &[f32], b: &[f32]) -> std::cmp::Ordering {
    a.partial_cmp(b).expect("a problem's coordinates are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stand_at_one_place_in_order() {
        let sites = Sites::new(&[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, -0.0, 0.0, 1.0, 3.0], 2);
        let mut places: Vec<&[u32]> = (0..sites.len() as u32).map(|site| sites.points_at(site)).collect();
        places.sort();
        assert_eq!(places, [&[0, 2][..], &[1, 3], &[4]]);
    }
}
