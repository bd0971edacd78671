//! Disjoint sets of points (Tarjan 1975, with path halving): the smallest point of a set stands for it.

pub struct Forest(Vec<u32>);

impl Forest {
    /// Each point for itself.
    pub fn new(points: usize) -> Self {
        Self((0..points as u32).collect())
    }

    /// The smallest point of a point's set.
    pub fn root(&mut self, mut point: u32) -> u32 {
        while self.0[point as usize] != point {
            let parent = self.0[point as usize];
            self.0[point as usize] = self.0[parent as usize];
            point = self.0[point as usize];
        }
        point
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// The sets that at least `least` points are in, numbered by their first points: each point's, and the size of each.
    pub fn sets(mut self, least: u32) -> Sets {
        let roots: Vec<u32> = (0..self.0.len() as u32).map(|point| self.root(point)).collect();
        let mut points = vec![0; roots.len()];
        roots.iter().for_each(|&root| points[root as usize] += 1);
        let (mut number, mut sizes) = (vec![None; roots.len()], Vec::new());
        for (root, &size) in points.iter().enumerate().filter(|&(_, &size)| size >= least) {
            number[root] = Some(sizes.len() as u32);
            sizes.push(size);
        }
        Sets { of: roots.into_iter().map(|root| number[root as usize]).collect(), sizes }
    }
}

/// Points in groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Sets {
    /// The group of each point, where it is in one.
    pub of: Vec<Option<u32>>,
    /// The points of each group.
    pub sizes: Vec<u32>,
}

impl Sets {
    /// The points of the largest group.
    pub fn largest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_numbered_by_their_first_points() {
        let mut forest = Forest::new(7);
        [(5, 1), (6, 5), (3, 2), (1, 6)].into_iter().for_each(|(a, b)| forest.join(a, b));
        assert_eq!(forest.root(6), 1);
        let sets = forest.sets(2);
        assert_eq!((sets.of, sets.sizes), (vec![None, Some(0), Some(1), Some(1), None, Some(0), Some(0)], vec![3, 2]));
        assert_eq!((Forest::new(2).sets(1).sizes, Forest::new(2).sets(2).largest()), (vec![1, 1], 0));
    }
}
