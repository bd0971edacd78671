//! Regions of unit vectors, as a search on the globe has them, as outlines on the unit sphere.

use std::f64::consts::TAU;

use crate::knn::walk::{AXES, Bounds};

/// Greatest angle between two points of an outline, in radians: about two degrees.
const STEP: f64 = 0.035;

/// The boundary of a region on the unit sphere, as arcs of unit vectors; empty if the sphere does not cross it.
pub fn outline(bounds: &Bounds) -> Vec<Vec<[f64; AXES]>> {
    match bounds {
        Bounds::Box { low, high } => {
            let corners = [low.map(f64::from), high.map(f64::from)];
            (0..AXES).flat_map(|axis| [0, 1].map(|side| face(corners, axis, side))).flatten().collect()
        }
        Bounds::Sphere { center, radius } => {
            let center = center.map(f64::from);
            let squared: f64 = center.iter().map(|along| along * along).sum();
            let cosine = (1.0 + squared - f64::from(*radius).powi(2)) / (2.0 * squared.sqrt());
            if cosine.is_nan() || cosine.abs() >= 1.0 {
                return Vec::new();
            }
            // Both are unit vectors and at right angles to the centre's direction.
            let towards = center.map(|along| along / squared.sqrt());
            let [x, y, z] = towards;
            let across = if z.abs() < 0.9 { [-y, x, 0.0] } else { [0.0, -z, y] };
            let length = across.iter().map(|along| along * along).sum::<f64>().sqrt();
            let across = across.map(|along| along / length);
            let up: [f64; AXES] = std::array::from_fn(|axis| {
                let (next, last) = ((axis + 1) % AXES, (axis + 2) % AXES);
                towards[next] * across[last] - towards[last] * across[next]
            });
            let sine = (1.0 - cosine * cosine).sqrt();
            let at = |angle: f64| {
                let [along, aside] = [angle.cos() * sine, angle.sin() * sine];
                std::array::from_fn(|axis| cosine * towards[axis] + along * across[axis] + aside * up[axis])
            };
            vec![arc(0.0, TAU, sine, at)]
        }
    }
}

/// The part of a box's face that is on the sphere: arcs of the circle on which the coordinate of `axis` is
/// that of the face.
fn face(corners: [[f64; AXES]; 2], axis: usize, side: usize) -> Vec<Vec<[f64; AXES]>> {
    let height = corners[side][axis];
    let radius = (1.0 - height * height).sqrt();
    if radius.is_nan() || radius == 0.0 {
        return Vec::new();
    }
    let (first, second) = ((axis + 1) % AXES, (axis + 2) % AXES);
    let at = |angle: f64| {
        let mut place = [height; AXES];
        (place[first], place[second]) = (radius * angle.cos(), radius * angle.sin());
        place
    };
    // Where the circle crosses the other faces' planes.
    let crossings = corners.iter().flat_map(|corner| {
        let (cosine, sine) = ((corner[first] / radius).acos(), (corner[second] / radius).asin());
        [cosine, -cosine, sine, TAU / 2.0 - sine]
    });
    let mut angles: Vec<f64> = crossings
        .filter(|angle| angle.is_finite())
        .map(|angle| angle.rem_euclid(TAU))
        .chain([0.0, TAU])
        .collect();
    angles.sort_by(f64::total_cmp);
    let inside = |place: [f64; AXES]| {
        [first, second].iter().all(|&axis| (corners[0][axis]..=corners[1][axis]).contains(&place[axis]))
    };
    let arcs = angles.windows(2).filter(|ends| ends[0] < ends[1] && inside(at((ends[0] + ends[1]) / 2.0)));
    arcs.map(|ends| arc(ends[0], ends[1], radius, at)).collect()
}

fn arc(from: f64, to: f64, radius: f64, at: impl Fn(f64) -> [f64; AXES]) -> Vec<[f64; AXES]> {
    let steps = ((to - from) * radius / STEP).ceil().max(1.0) as usize;
    (0..=steps).map(|step| at(from + (to - from) * step as f64 / steps as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(bounds: &Bounds) -> Vec<[f64; AXES]> {
        let arcs = outline(bounds);
        let points: Vec<[f64; AXES]> = arcs.into_iter().flatten().collect();
        for point in &points {
            let length = point.iter().map(|along| along * along).sum::<f64>();
            assert!((length - 1.0).abs() < 1e-12, "{point:?} is on the sphere");
        }
        points
    }

    #[test]
    fn boxes_are_outlined_where_their_faces_cross_the_sphere() {
        // Around Munich, a few kilometres wide.
        let (low, high) = ([0.6541, 0.1341, 0.7434], [0.6551, 0.1351, 0.7444]);
        let found = points(&Bounds::Box { low, high });
        assert!(found.len() >= 6, "{found:?}");
        for point in &found {
            let within = |axis: usize| {
                (f64::from(low[axis]) - 1e-9..=f64::from(high[axis]) + 1e-9).contains(&point[axis])
            };
            assert!((0..AXES).all(within), "{point:?}");
        }
        let half = points(&Bounds::Box { low: [-1.0, -1.0, 0.0], high: [1.0; AXES] });
        assert!(half.len() > 170 && half.iter().all(|point| point[2].abs() < 1e-12), "the equator");
        assert!(points(&Bounds::Box { low: [2.0; AXES], high: [3.0; AXES] }).is_empty());
    }

    #[test]
    fn spheres_are_outlined_as_circles() {
        for center in [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [0.5, 0.5, 0.0f32]] {
            let radius = 0.75f32;
            let found = points(&Bounds::Sphere { center, radius });
            assert!(found.len() > 50);
            for point in found {
                let away = (0..AXES).map(|axis| (point[axis] - f64::from(center[axis])).powi(2)).sum::<f64>();
                assert!((away.sqrt() - f64::from(radius)).abs() < 1e-9, "{center:?}: {point:?}");
            }
        }
        assert!(points(&Bounds::Sphere { center: [0.0; AXES], radius: 0.5 }).is_empty(), "inside the sphere");
    }
}
