//! Bounding spheres of clusters by three methods (STEP §3), in f64 on the host.
//!
//! A method only finds a centre. The radius is always that of the farthest point ([`super::bounds`]), so a
//! sphere is valid even if its centre is poor: for equal, collinear or too many points, or if a method stops
//! early.
//!
//! Points on the unit sphere need no special case. The axis of their smallest cone is the centre of their
//! smallest ball: the circumcentre of unit vectors in their affine hull is the foot of the perpendicular from
//! the origin. With |r̂ᵢ| = 1 the system 2 Rᵢ·C = Rᵢ·Rᵢ of the ball becomes the Rᵢ·C = −Rᵢ·r̂₀ of the paper's
//! equations (9) and (10).

/// How the centre of a bounding sphere is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The midpoint of two distant points, where Ritter's algorithm begins (§6.6).
    Naive,
    /// Ritter's algorithm (Ritter 1990; Algorithm 1).
    Ritter,
    /// Gärtner's algorithm: the smallest sphere (Gärtner 1999; Algorithms 2 and 3).
    Exact,
}

impl Method {
    /// The values of the parameter.
    pub const WORDS: [&'static str; 3] = ["naive", "ritter", "exact"];

    /// Looks up a method by name.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Naive, Self::Ritter, Self::Exact].into_iter().find(|method| method.word() == word)
    }

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The centre of a sphere around at least one point.
    pub fn centre(self, points: Rows<'_>) -> Vec<f64> {
        match self {
            Self::Naive => naive(points).0,
            Self::Ritter => ritter(points),
            Self::Exact => exact(points),
        }
    }
}

/// Rounds after which Ritter's algorithm stops; about ten are usual.
const RITTER_ROUNDS: usize = 256;

/// Pivots and total support points after which Gärtner's algorithm stops. About ten and a few hundred are
/// usual in few dimensions; in many, both may grow exponentially.
const PIVOTS: usize = 256;
const PUSHES: usize = 8192;

/// Points as rows of f64, at least one.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub values: &'a [f64],
    pub dims: usize,
}

impl<'a> Rows<'a> {
    fn row(self, at: usize) -> &'a [f64] {
        &self.values[at * self.dims..][..self.dims]
    }

    /// The first of the points farthest from a location, and its squared distance.
    pub fn farthest(self, place: &[f64]) -> (usize, f64) {
        let distances =
            self.values.chunks_exact(self.dims).map(|row| squared_distance(row, place)).enumerate();
        distances.fold((0, 0.0), |farthest, next| if next.1 > farthest.1 { next } else { farthest })
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Lines 1 to 5 of Algorithm 1: the midpoint of two distant points, and half their distance.
fn naive(points: Rows<'_>) -> (Vec<f64>, f64) {
    let (u, _) = points.farthest(points.row(0));
    let (v, _) = points.farthest(points.row(u));
    let (w, squared) = points.farthest(points.row(v));
    let middle = points.row(v).iter().zip(points.row(w)).map(|(v, w)| 0.5 * (v + w)).collect();
    (middle, 0.5 * squared.sqrt())
}

/// Algorithm 1: grows the sphere just enough to contain the farthest point, until it contains all.
fn ritter(points: Rows<'_>) -> Vec<f64> {
    let (mut centre, mut radius) = naive(points);
    for _ in 0..RITTER_ROUNDS {
        let (farthest, squared) = points.farthest(&centre);
        let distance = squared.sqrt();
        if distance <= radius {
            break;
        }
        let step = 0.5 * (distance - radius) / distance;
        centre.iter_mut().zip(points.row(farthest)).for_each(|(centre, to)| *centre += step * (to - *centre));
        radius = 0.5 * (radius + distance);
    }
    centre
}

/// Algorithm 3: the farthest point outside the sphere becomes a forced point, and the sphere is recomputed
/// from it and the previously forced points. Returns the best centre found, starting with Ritter's, so that
/// rounding never makes the result worse.
fn exact(points: Rows<'_>) -> Vec<f64> {
    let mut best = ritter(points);
    let (_, mut best_squared) = points.farthest(&best);
    let mut ball = Ball::new(points);
    ball.push(0);
    let mut front = vec![0];
    let mut before = -1.0;
    for _ in 0..PIVOTS {
        let (farthest, squared) = points.farthest(&ball.centre);
        if squared < best_squared {
            (best_squared, best) = (squared, ball.centre.clone());
        }
        let grew = ball.squared_radius > before;
        if squared <= ball.squared_radius || !grew || ball.pushes >= PUSHES || front.contains(&farthest) {
            break;
        }
        before = ball.squared_radius;
        ball.size = 0;
        ball.push(farthest);
        let mut support = 0;
        let end = front.len();
        move_to_front(&mut ball, &mut front, end, &mut support);
        front.insert(0, farthest);
        front.truncate((support + 1).min(points.dims + 1));
    }
    best
}

/// Algorithm 2: the smallest sphere around the first `end` points of the list with the ball's points on its
/// boundary. The first `support` points of the list then support it.
fn move_to_front(ball: &mut Ball<'_>, list: &mut [usize], end: usize, support: &mut usize) {
    *support = 0;
    if ball.size == ball.points.dims + 1 {
        return;
    }
    for at in 0..end {
        if ball.pushes < PUSHES && ball.excess(list[at]) > 0.0 && ball.push(list[at]) {
            move_to_front(ball, list, at, support);
            ball.size -= 1;
            list[..=at].rotate_right(1);
            if at >= *support {
                *support += 1;
            }
        }
    }
}

/// The smallest sphere through affinely independent points, which are added one at a time (Gärtner 1999, §3).
///
/// Let vᵢ be the part of pᵢ − p₀ that is perpendicular to the previous points. Adding pᵢ moves the centre
/// along vᵢ.
struct Ball<'a> {
    points: Rows<'a>,
    size: usize,
    /// For each point: its direction perpendicular to the hull of the previous ones, and twice the squared
    /// length of that. The first point is the common origin.
    directions: Vec<(Vec<f64>, f64)>,
    /// For each point: centre and squared radius of the sphere through it and the previous ones.
    spheres: Vec<(Vec<f64>, f64)>,
    origin: usize,
    /// Centre of the sphere after the last addition; removing points does not change it.
    centre: Vec<f64>,
    squared_radius: f64,
    pushes: usize,
}

impl<'a> Ball<'a> {
    fn new(points: Rows<'a>) -> Self {
        let none = vec![(vec![0.0; points.dims], 0.0); points.dims + 1];
        Self {
            points,
            size: 0,
            directions: none.clone(),
            spheres: none,
            origin: 0,
            centre: points.row(0).to_vec(),
            squared_radius: -1.0,
            pushes: 0,
        }
    }

    /// How far a point is outside the sphere, as a difference of squares.
    fn excess(&self, point: usize) -> f64 {
        squared_distance(self.points.row(point), &self.centre) - self.squared_radius
    }

    /// Adds a point to the boundary; returns false if it is, up to rounding, in the hull of the previous
    /// ones.
    fn push(&mut self, point: usize) -> bool {
        /// The least fraction of the squared radius that a direction must add.
        const FLAT: f64 = 1e-24;
        self.pushes += 1;
        let row = self.points.row(point);
        if self.size == 0 {
            self.origin = point;
            self.spheres[0] = (row.to_vec(), 0.0);
        } else {
            let mut direction: Vec<f64> =
                row.iter().zip(self.points.row(self.origin)).map(|(p, origin)| p - origin).collect();
            for (other, twice_squared) in &self.directions[1..self.size] {
                let share = 2.0 * dot(other, &direction) / twice_squared;
                direction.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
            }
            let twice_squared = 2.0 * dot(&direction, &direction);
            if twice_squared <= FLAT * self.squared_radius.max(0.0) || twice_squared == 0.0 {
                return false;
            }
            let (centre, squared_radius) = &self.spheres[self.size - 1];
            let excess = squared_distance(row, centre) - squared_radius;
            let share = excess / twice_squared;
            let moved =
                centre.iter().zip(&direction).map(|(centre, direction)| centre + share * direction).collect();
            self.spheres[self.size] = (moved, squared_radius + 0.5 * excess * share);
            self.directions[self.size] = (direction, twice_squared);
        }
        self.centre.clone_from(&self.spheres[self.size].0);
        self.squared_radius = self.spheres[self.size].1;
        self.size += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Method; 3] = [Method::Naive, Method::Ritter, Method::Exact];

    /// A method's centre, and the radius that it needs.
    fn sphere(method: Method, dims: usize, values: &[f64]) -> (Vec<f64>, f64) {
        let points = Rows { values, dims };
        let centre = method.centre(points);
        let radius = points.farthest(&centre).1.sqrt();
        (centre, radius)
    }

    #[test]
    fn exact_method_finds_known_spheres() {
        let cases: [(usize, Vec<f64>, Vec<f64>, f64); 6] = [
            (2, vec![3.0, 4.0], vec![3.0, 4.0], 0.0),
            (2, vec![0.0, 0.0, 2.0, 0.0], vec![1.0, 0.0], 1.0),
            // An obtuse triangle: two of its corners determine the sphere.
            (2, vec![0.0, 0.0, 10.0, 0.0, 4.0, 1.0], vec![5.0, 0.0], 5.0),
            // An equilateral triangle: all three do.
            (2, vec![1.0, 0.0, -0.5, 0.75f64.sqrt(), -0.5, -(0.75f64.sqrt())], vec![0.0, 0.0], 1.0),
            // A cube, with points inside.
            (
                3,
                (0..8).flat_map(|i| [i & 1, i >> 1 & 1, i >> 2]).map(f64::from).chain([0.5; 9]).collect(),
                vec![0.5; 3],
                0.75f64.sqrt(),
            ),
            // A simplex.
            (
                3,
                vec![1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0],
                vec![0.0; 3],
                3f64.sqrt(),
            ),
        ];
        for (dims, values, centre, radius) in cases {
            let found = sphere(Method::Exact, dims, &values);
            assert!(
                squared_distance(&found.0, &centre).sqrt() < 1e-9 && (found.1 - radius).abs() < 1e-9,
                "{values:?}: {found:?}"
            );
        }
    }

    #[test]
    fn degenerate_point_sets_have_enclosing_spheres() {
        for (dims, values) in [
            (3, vec![2.5; 30]),
            (3, (0..40).flat_map(|i| [f64::from(i), 2.0 * f64::from(i), 0.0]).collect::<Vec<_>>()),
            (
                4,
                (0..40)
                    .flat_map(|i| [f64::from(i % 3), f64::from(i % 5), f64::from(i % 3 + i % 5), 1.0])
                    .collect(),
            ),
            (64, (0..64 * 10).map(|i| f64::from(i * i % 101)).collect()),
        ] {
            let reach = ALL.map(|method| sphere(method, dims, &values).1);
            assert!(reach.iter().all(|radius| radius.is_finite()) && reach[2] <= reach[1], "{reach:?}");
        }
    }

    /// The smallest ball of points on the unit sphere and their smallest cone share an axis: here a cone
    /// around a known axis.
    #[test]
    fn smallest_ball_and_cone_share_an_axis() {
        let (cos, sin) = (0.8f64, 0.6f64);
        let values: Vec<f64> = (0..9)
            .flat_map(|i| [cos, sin * (0.7 * f64::from(i)).cos(), sin * (0.7 * f64::from(i)).sin()])
            .collect();
        let (centre, _) = sphere(Method::Exact, 3, &values);
        assert!(
            (centre[0] - cos).abs() < 1e-9 && centre[1].abs() < 1e-9 && centre[2].abs() < 1e-9,
            "{centre:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

        /// The smallest sphere is no larger than the others, which are less than twice as large; it cannot
        /// shrink towards any point.
        #[test]
        fn exact_sphere_is_the_smallest(
            (dims, values) in (1usize..9)
                .prop_flat_map(|dims| (Just(dims), prop::collection::vec(-100i32..100, dims..dims * 40))),
        ) {
            let values: Vec<f64> =
                values[..values.len() / dims * dims].iter().map(|&value| f64::from(value)).collect();
            let [naive, ritter, exact] = ALL.map(|method| sphere(method, dims, &values));
            prop_assert!(
                exact.1 <= ritter.1 && exact.1 <= naive.1 * (1.0 + 1e-9),
                "{} {} {}",
                exact.1,
                ritter.1,
                naive.1
            );
            prop_assert!(ritter.1 <= 2.0 * exact.1 && naive.1 <= 2.0 * exact.1);
            // A local minimum is global, because the farthest distance is convex in the centre.
            let points = Rows { values: &values, dims };
            for axis in 0..dims {
                for step in [-1e-3, 1e-3] {
                    let mut moved = exact.0.clone();
                    moved[axis] += step;
                    prop_assert!(points.farthest(&moved).1.sqrt() >= exact.1 - 1e-9);
                }
            }
        }
    }
}
