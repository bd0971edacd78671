//! Regions of the screen.

use egui::{Pos2, Rect};

/// Part of a pane, in points of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Its edges are included.
    Rectangle(Rect),
    Lasso(Lasso),
}

impl Region {
    /// Whether a place belongs to it.
    pub fn contains(&self, place: Pos2) -> bool {
        match self {
            Self::Rectangle(rect) => rect.contains(place),
            Self::Lasso(lasso) => lasso.contains(place),
        }
    }
}

/// A closed outline. What it goes around any number of times, in either sense, is inside: a lasso that crosses itself has no
/// holes but those that it goes around once each way.
///
/// Of places on the outline exactly, those on its left side are inside and those on its right are not, so that two lassos
/// side by side never share a point, and never lose one between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasso {
    bounds: Rect,
    /// Bands of equal height from top to bottom, each with the edges that cross it.
    bands: Vec<Vec<[Pos2; 2]>>,
}

impl Lasso {
    /// From its corners; fewer than three enclose nothing.
    pub fn new(corners: &[Pos2]) -> Self {
        let bounds = Rect::from_points(corners);
        let count = corners.len().clamp(1, 256);
        let mut lasso = Self { bounds, bands: vec![Vec::new(); count] };
        for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            // Horizontal edges are crossed by no horizontal ray.
            if from.y == to.y {
                continue;
            }
            let (top, bottom) = (lasso.band(from.y.min(to.y)), lasso.band(from.y.max(to.y)));
            for band in &mut lasso.bands[top..=bottom] {
                band.push([from, to]);
            }
        }
        lasso
    }

    fn band(&self, y: f32) -> usize {
        let part = (y - self.bounds.top()) / self.bounds.height().max(f32::MIN_POSITIVE);
        ((part * self.bands.len() as f32) as usize).min(self.bands.len() - 1)
    }

    /// Whether a place is inside.
    pub fn contains(&self, place: Pos2) -> bool {
        if !self.bounds.contains(place) {
            return false;
        }
        // How often, and in which sense, the outline crosses the ray that goes to the right.
        let crossings = self.bands[self.band(place.y)].iter().map(|&[from, to]| {
            let down = from.y <= place.y && place.y < to.y;
            let up = to.y <= place.y && place.y < from.y;
            if !down && !up {
                return 0;
            }
            let (from, to) = if down { (from, to) } else { (to, from) };
            // In f64, products and differences of f32 are exact enough to be the same for both neighbours of an edge.
            let across = |a: f32, b: f32| f64::from(a) - f64::from(b);
            let left = across(to.x, from.x) * across(place.y, from.y) - across(place.x, from.x) * across(to.y, from.y) > 0.0;
            i32::from(left) * if down { 1 } else { -1 }
        });
        crossings.sum::<i32>() != 0
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;
    use proptest::prelude::*;

    use super::*;

    fn place() -> impl Strategy<Value = Pos2> {
        // On a grid, so that many places lie on outlines.
        (0..24i32, 0..24i32).prop_map(|(x, y)| pos2(x as f32, y as f32))
    }

    /// By the angles under which the corners are seen.
    fn winds(corners: &[Pos2], place: Pos2) -> bool {
        let angle = |at: &Pos2| f64::from(at.y - place.y).atan2(f64::from(at.x - place.x));
        let turn = |from: &Pos2, to: &Pos2| {
            let by = angle(to) - angle(from);
            if by > std::f64::consts::PI {
                by - std::f64::consts::TAU
            } else if by < -std::f64::consts::PI {
                by + std::f64::consts::TAU
            } else {
                by
            }
        };
        corners.iter().zip(corners.iter().cycle().skip(1)).map(|(from, to)| turn(from, to)).sum::<f64>().abs() > 1.0
    }

    proptest! {
        // Three of four quadrilaterals are not convex, and are drawn again.
        #![proptest_config(ProptestConfig { max_global_rejects: 1 << 16, ..ProptestConfig::default() })]

        #[test]
        fn a_place_inside_is_gone_around(corners in prop::collection::vec(place(), 3..40), x in 0..24i32, y in 0..24i32) {
            // Half-way between grid lines, off every corner; outlines may still pass through.
            let place = pos2(x as f32 + 0.37, y as f32 + 0.41);
            let on_edge = corners.iter().zip(corners.iter().cycle().skip(1)).any(|(a, b)| {
                ((b.x - a.x) * (place.y - a.y) - (b.y - a.y) * (place.x - a.x)).abs() < 1e-3
            });
            prop_assume!(!on_edge);
            prop_assert_eq!(Lasso::new(&corners).contains(place), winds(&corners, place));
        }

        #[test]
        fn two_side_by_side_share_nothing_and_lose_nothing(a in place(), b in place(), c in place(), d in place(), at in place()) {
            // A convex quadrilateral and its two halves; also for places on the diagonal.
            let cross = |o: Pos2, p: Pos2, q: Pos2| (p - o).x * (q - o).y - (p - o).y * (q - o).x;
            let signs = [cross(a, b, c), cross(b, c, d), cross(c, d, a), cross(d, a, b)];
            prop_assume!(signs.iter().all(|sign| *sign > 0.0) || signs.iter().all(|sign| *sign < 0.0));
            let has = |corners: &[Pos2]| Lasso::new(corners).contains(at);
            let (one, other) = (has(&[a, b, c]), has(&[c, d, a]));
            prop_assert!(!(one && other));
            prop_assert_eq!(one || other, has(&[a, b, c, d]));
        }

        #[test]
        fn the_sense_and_the_first_corner_do_not_matter(corners in prop::collection::vec(place(), 3..20), at in place(), by in 0usize..20) {
            let mut other = corners.clone();
            other.rotate_left(by % corners.len());
            other.reverse();
            prop_assert_eq!(Lasso::new(&corners).contains(at), Lasso::new(&other).contains(at));
        }
    }

    #[test]
    fn rectangles_have_their_edges_and_nothing_encloses_nothing() {
        let rectangle = Region::Rectangle(Rect::from_two_pos(pos2(1.0, 1.0), pos2(3.0, 2.0)));
        assert!(rectangle.contains(pos2(1.0, 1.0)) && rectangle.contains(pos2(3.0, 2.0)) && !rectangle.contains(pos2(3.001, 2.0)));
        for corners in [&[][..], &[pos2(1.0, 1.0)], &[pos2(1.0, 1.0), pos2(4.0, 3.0)], &[pos2(1.0, 1.0), pos2(4.0, 1.0), pos2(2.0, 1.0)]] {
            assert!(!Lasso::new(corners).contains(pos2(1.0, 1.0)), "{corners:?}");
        }
        // Twice around is not outside.
        let square = [pos2(0.0, 0.0), pos2(4.0, 0.0), pos2(4.0, 4.0), pos2(0.0, 4.0)];
        let twice = Lasso::new(&[square, square].concat());
        assert!(twice.contains(pos2(2.0, 2.0)) && !twice.contains(pos2(5.0, 2.0)));
    }
}
