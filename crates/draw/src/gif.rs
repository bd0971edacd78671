//! Encodes a series of pictures as GIF, with one palette; each frame only contains what has changed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use image::RgbaImage;

use crate::palette::{Palette, Rgb};

/// The index of the transparent colour, for unchanged pixels.
const UNCHANGED: u8 = 0;

/// Number of colours that are included exactly, because they fill most of the picture.
const EXACT_COLORS: usize = 96;

/// A GIF palette: 255 colours, and a transparent one for unchanged pixels.
pub struct GifPalette {
    table: Vec<[u8; 3]>,
    /// Cache of the nearest palette entry per colour.
    nearest: HashMap<[u8; 3], u8>,
}

impl GifPalette {
    /// Builds a palette from sample pictures: the colours of `palette` that they use, then frequent colours
    /// that are far from those already chosen.
    pub fn from_samples(samples: &[RgbaImage], palette: &Palette) -> Self {
        let mut counts: HashMap<[u8; 3], u64> = HashMap::new();
        for sample in samples {
            for run in sample.as_raw().as_chunks::<4>().0.chunk_by(|a, b| a == b) {
                *counts.entry([run[0][0], run[0][1], run[0][2]]).or_default() += run.len() as u64;
            }
        }
        let theme_colors = [
            palette.canvas,
            palette.panel,
            palette.field,
            palette.text,
            palette.text_weak,
            palette.line,
            palette.grid,
            palette.accent,
            palette.point,
            palette.query,
            palette.neighbor,
            palette.candidate,
            palette.rejected,
            palette.intermediate,
            palette.buffer,
            palette.theory,
        ];
        let mut table = vec![[0, 0, 0]];
        for Rgb(red, green, blue) in theme_colors {
            let color = [red, green, blue];
            if counts.contains_key(&color) && !table[1..].contains(&color) {
                table.push(color);
            }
        }
        let mut frequent: Vec<([u8; 3], u64)> = counts.into_iter().collect();
        frequent.sort_unstable_by_key(|&(color, count)| (std::cmp::Reverse(count), color));
        // Fill colours exactly; then a few colours of each hue, distant ones first, before shades of existing
        // ones.
        let apart = [64, 40, 24, 14, 8, 4, 1].map(|apart| (apart, frequent.len()));
        for (apart, first) in [(3, EXACT_COLORS.min(frequent.len()))].into_iter().chain(apart) {
            for &(color, _) in &frequent[..first] {
                if table.len() < 256
                    && table[1..].iter().all(|&other| distance(color, other) >= apart * apart)
                {
                    table.push(color);
                }
            }
        }
        Self { table, nearest: HashMap::new() }
    }

    fn index(&mut self, color: [u8; 3]) -> u8 {
        let table = &self.table;
        *self.nearest.entry(color).or_insert_with(|| {
            let nearest = (1..table.len()).min_by_key(|&index| distance(color, table[index]));
            nearest.unwrap_or(0) as u8
        })
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    (0..3).map(|channel| u32::from(a[channel].abs_diff(b[channel])).pow(2)).sum()
}

/// Writes a looping GIF.
pub struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    colors: GifPalette,
    last: Option<RgbaImage>,
}

impl<W: Write> GifWriter<W> {
    /// Starts a GIF without frames.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn new(out: W, [width, height]: [u16; 2], colors: GifPalette) -> io::Result<Self> {
        let mut encoder =
            Encoder::new(out, width, height, colors.table.as_flattened()).map_err(to_io_error)?;
        encoder.set_repeat(Repeat::Infinite).map_err(to_io_error)?;
        Ok(Self { encoder, colors, last: None })
    }

    /// Appends a full-size picture, shown for `hundredths` of a second.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn add(&mut self, picture: RgbaImage, hundredths: u16) -> io::Result<()> {
        let (width, pixels) = (picture.width() as usize, picture.as_raw().as_chunks::<4>().0);
        let before = self.last.as_ref().map(|last| last.as_raw().as_chunks::<4>().0);
        let changed = |at: usize| before.is_none_or(|before| before[at] != pixels[at]);
        let ([left, top], [wide, high]) = bounds(width, pixels.len() / width, &changed);
        let mut buffer = Vec::with_capacity(wide * high);
        let mut run: Option<([u8; 4], u8)> = None;
        for at in (top..top + high).flat_map(|row| row * width + left..row * width + left + wide) {
            let pixel = pixels[at];
            buffer.push(match run {
                _ if !changed(at) => UNCHANGED,
                Some((color, index)) if color == pixel => index,
                _ => {
                    let index = self.colors.index([pixel[0], pixel[1], pixel[2]]);
                    run = Some((pixel, index));
                    index
                }
            });
        }
        let frame = Frame {
            delay: hundredths,
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: left as u16,
            top: top as u16,
            width: wide as u16,
            height: high as u16,
            buffer: Cow::Owned(buffer),
            ..Frame::default()
        };
        self.last = Some(picture);
        self.encoder.write_frame(&frame).map_err(to_io_error)
    }

    /// Writes the trailer and flushes.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.encoder.into_inner().map_err(to_io_error)?.flush()
    }
}

/// Left, top, width and height of the changed area; one pixel if nothing has changed.
fn bounds(width: usize, height: usize, changed: &dyn Fn(usize) -> bool) -> ([usize; 2], [usize; 2]) {
    let (mut left, mut right, mut top, mut bottom) = (width, 0, height, 0);
    for row in 0..height {
        let columns = row * width..(row + 1) * width;
        if let Some(first) = columns.clone().find(|&at| changed(at)) {
            let last = columns.rev().find(|&at| changed(at)).unwrap_or(first);
            (left, right) = (left.min(first - row * width), right.max(last - row * width));
            (top, bottom) = (top.min(row), row);
        }
    }
    if top == height { ([0, 0], [1, 1]) } else { ([left, top], [right + 1 - left, bottom + 1 - top]) }
}

fn to_io_error(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use image::AnimationDecoder as _;
    use image::codecs::gif::GifDecoder;

    use super::*;
    use crate::drawing::{Area, Ink, Shape};
    use crate::palette::{DARK, LIGHT};
    use crate::raster::raster;
    use crate::testing::all_shapes;

    #[test]
    fn gif_frames_and_delays_round_trip() {
        for palette in [&LIGHT, &DARK] {
            let mut scene = all_shapes();
            let first = raster(&scene, palette, 1.0).unwrap();
            let area = Area { x: 150.0, y: 30.0, width: 20.0, height: 10.0 };
            scene.shapes.push(Shape::Rect { area, round: 0.0, fill: Some(Ink::Query.into()), line: None });
            let second = raster(&scene, palette, 1.0).unwrap();
            let mut bytes = Vec::new();
            let colors = GifPalette::from_samples(&[first.clone(), second.clone()], palette);
            let mut animation = GifWriter::new(&mut bytes, [200, 120], colors).unwrap();
            for (picture, delay) in [(&first, 120), (&first, 120), (&second, 360)] {
                animation.add(picture.clone(), delay).unwrap();
            }
            animation.finish().unwrap();
            let frames =
                GifDecoder::new(io::Cursor::new(&bytes)).unwrap().into_frames().collect_frames().unwrap();
            assert_eq!(frames.len(), 3);
            let delays: Vec<u32> = frames.iter().map(|frame| frame.delay().numer_denom_ms().0).collect();
            assert_eq!(delays, [1200, 1200, 3600]);
            for (frame, picture) in frames.iter().zip([&first, &first, &second]) {
                assert_eq!(frame.buffer().dimensions(), picture.dimensions());
                let off =
                    frame.buffer().as_raw().iter().zip(picture.as_raw()).map(|(a, b)| a.abs_diff(*b)).max();
                assert!(off <= Some(24), "{off:?}");
            }
            // Unchanged areas cost almost nothing.
            let mut again = Vec::new();
            let mut animation = GifWriter::new(
                &mut again,
                [200, 120],
                GifPalette::from_samples(&[first.clone(), second], palette),
            )
            .unwrap();
            animation.add(first, 120).unwrap();
            animation.finish().unwrap();
            assert!(bytes.len() < again.len() + 300, "{} {}", bytes.len(), again.len());
        }
    }
}
