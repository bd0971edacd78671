//! Coastlines and country borders of the Earth (`assets/coastlines.bin`; `assets/README.md` describes it).

use std::sync::LazyLock;

/// Resolution of the asset, and a bound on its error in degrees: coarser than the resolution, because the
/// source is generalised for maps of 1 : 50 million.
const STEPS_PER_DEGREE: f64 = 360.0;

pub const ERROR_DEGREES: f64 = 0.02;

/// A coastline, or a border between countries.
#[derive(Debug)]
pub struct Line {
    pub is_border: bool,
    /// Longitudes and latitudes in degrees.
    points: Vec<[f64; 2]>,
    bounds: Bounds,
}

/// A rectangle in longitude and latitude, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub low: [f64; 2],
    pub high: [f64; 2],
}

impl Bounds {
    fn around(points: &[[f64; 2]]) -> Self {
        let bound = |limit: f64, pick: fn(f64, f64) -> f64| {
            [0, 1].map(|axis| points.iter().map(|point| point[axis]).fold(limit, pick))
        };
        Self { low: bound(f64::INFINITY, f64::min), high: bound(f64::NEG_INFINITY, f64::max) }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }
}

impl Line {
    /// The parts of the line inside `window`, without points nearer than `step` degrees of longitude and
    /// latitude to the point before; none of a line that is smaller.
    pub fn parts(&self, window: &Bounds, step: [f64; 2]) -> Vec<Vec<[f64; 2]>> {
        let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
        let Bounds { low, high } = self.bounds;
        let small = (0..2).all(|axis| high[axis] - low[axis] < step[axis]);
        let (Some(&first), true) = (self.points.first(), !small && self.bounds.meets(window)) else {
            return parts;
        };
        let (mut from, mut connected) = (first, false);
        for (at, &to) in self.points.iter().enumerate().skip(1) {
            let near = (0..2).all(|axis| (to[axis] - from[axis]).abs() < step[axis]);
            if near && at + 1 < self.points.len() {
                continue;
            }
            let seen = Bounds::around(&[from, to]).meets(window);
            match parts.last_mut().filter(|_| connected && seen) {
                Some(part) => part.push(to),
                None if seen => parts.push(vec![from, to]),
                None => {}
            }
            (from, connected) = (to, seen);
        }
        parts
    }
}

/// All lines, decoded on first use.
pub fn lines() -> &'static [Line] {
    static LINES: LazyLock<Vec<Line>> =
        LazyLock::new(|| decode(include_bytes!("../../../assets/coastlines.bin")).unwrap_or_default());
    &LINES
}

/// `None` if the bytes are not whole lines.
fn decode(mut bytes: &[u8]) -> Option<Vec<Line>> {
    let (mut lines, mut at) = (Vec::new(), [0i64; 2]);
    while !bytes.is_empty() {
        let head = varint(&mut bytes)?;
        let mut points = Vec::new();
        for _ in 0..head / 2 {
            for along in &mut at {
                let zigzag = varint(&mut bytes)?;
                *along += (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            }
            points.push(at.map(|steps| steps as f64 / STEPS_PER_DEGREE));
        }
        lines.push(Line { is_border: head & 1 == 1, bounds: Bounds::around(&points), points });
    }
    Some(lines)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARTH: Bounds = Bounds { low: [-180.0, -90.0], high: [180.0, 90.0] };

    #[test]
    fn the_asset_decodes_to_lines_on_the_earth() {
        let asset = include_bytes!("../../../assets/coastlines.bin");
        assert!(asset.len() <= 300_000, "{} bytes", asset.len());
        let lines = decode(asset).expect("whole lines");
        assert_eq!(lines.len(), super::lines().len());
        for line in &lines {
            assert!(line.points.len() > 1);
            for [longitude, latitude] in &line.points {
                assert!(longitude.abs() <= 180.0 && latitude.abs() <= 90.0, "{longitude}, {latitude}");
            }
            let steps = line.points.windows(2).map(|pair| (pair[1][0] - pair[0][0]).abs());
            assert!(steps.fold(0.0, f64::max) < 20.0, "no line crosses the map");
        }
        let borders = lines.iter().filter(|line| line.is_border).count();
        assert!((200..600).contains(&borders), "{borders}");
        // Dover and Calais have coasts, Strasbourg is at a border, and the Pacific is empty.
        let near = |border: bool, at: [f64; 2]| {
            let window = Bounds { low: at.map(|at| at - 0.15), high: at.map(|at| at + 0.15) };
            lines.iter().any(|line| line.is_border == border && !line.parts(&window, [0.0; 2]).is_empty())
        };
        assert!(near(false, [1.32, 51.13]) && near(false, [1.85, 50.96]) && near(true, [7.8, 48.58]));
        assert!(!near(false, [-140.0, 0.0]) && !near(true, [1.32, 51.13]));
    }

    #[test]
    fn parts_are_thinned_and_cut_to_the_window() {
        let points =
            vec![[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [30.0, 0.0], [30.0, 9.0], [1.0, 9.0], [0.0, 0.5]];
        let line = Line { is_border: false, bounds: Bounds::around(&points), points };
        assert_eq!(line.parts(&EARTH, [0.0; 2]), std::slice::from_ref(&line.points));
        assert_eq!(line.parts(&EARTH, [0.5; 2])[0].len(), 6, "without the second point");
        let window = Bounds { low: [-1.0, -1.0], high: [2.0, 1.0] };
        assert_eq!(
            line.parts(&window, [0.5; 2]),
            [vec![[0.0, 0.0], [1.0, 0.0], [30.0, 0.0]], vec![[1.0, 9.0], [0.0, 0.5]]]
        );
        assert!(line.parts(&Bounds { low: [50.0, 50.0], high: [60.0, 60.0] }, [0.0; 2]).is_empty());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        assert!(decode(&[4, 0, 0]).is_none(), "a line of two points ends after one");
        assert!(decode(&[255; 9]).is_none(), "a number without an end");
    }
}
