//! Writes a lesson's files: its steps, pictures of its moments, films of a range, a handout, a worksheet and
//! its key, and a page that plays.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use image::codecs::png::PngEncoder;
use image::{DynamicImage, ExtendedColorType, ImageEncoder as _, ImageError, RgbaImage};
use rayon::prelude::*;

use super::folder::OutputFolder;
use super::{ExportError, write};
use crate::draw::gif::{GifPalette, GifWriter};
use crate::draw::raster::SizeError;
use crate::draw::svg::svg;
use crate::files::Batch;
use crate::lesson::moments::Moments;
use crate::lesson::picture::Film;
use crate::lesson::player::{self, PageSummary};
use crate::lesson::print::{Theme, handout, worksheet};
use crate::lesson::{Recording, jsonl};
use crate::memory::{self, InsufficientMemory};
use crate::progress::Progress;

/// Number of pictures that a GIF's palette is derived from.
const PALETTE_SAMPLES: usize = 8;

/// Factor by which the last frame of a GIF is shown longer.
const LAST_FRAME_FACTOR: u16 = 3;

/// Intermediate positions at which motion is drawn, as fractions of a transition.
const INTERMEDIATE: [f32; 2] = [1.0 / 3.0, 2.0 / 3.0];

/// Duration of each intermediate picture, in hundredths of a second.
const INTERMEDIATE_DELAY: u16 = 8;

/// Frames of a GIF shorter than this, in hundredths of a second, have no motion.
const MIN_DELAY_WITH_MOTION: u16 = 50;

/// Minimum and maximum duration of a GIF frame, in seconds: browsers show shorter ones much longer.
pub const PACE_RANGE: (f32, f32) = (0.02, 100.0);

/// Bytes per pixel while a picture is drawn: its colour and the clip mask.
const DRAWING_BYTES: u64 = 5;

/// Bytes per pixel of a finished picture.
const PICTURE_BYTES: u64 = 4;

/// Bytes per pixel while a PNG is encoded: the colour without opacity, and the compressed picture.
const ENCODING_BYTES: u64 = 4;

/// Writes all steps of a recording as JSON Lines, in a version of their schema.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn steps(recording: &Recording, schema: u32, path: &Path) -> Result<(), ExportError> {
    write(path, |out| jsonl::write_as(schema, recording, 0..recording.len(), out))
}

/// Writes the picture of a position as PNG.
///
/// # Errors
/// [`ExportError::Picture`] for an invalid size, [`ExportError::Memory`], [`ExportError::Io`] if the file
/// cannot be written.
pub fn picture(film: &Film, position: usize, path: &Path) -> Result<(), ExportError> {
    at_a_time(film, ENCODING_BYTES, DRAWING_BYTES, path)?;
    png(film.image(position)?, path)
}

/// Writes the picture of a position as SVG.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn drawing(film: &Film, position: usize, path: &Path) -> Result<(), ExportError> {
    write(path, |out| io::Write::write_all(out, svg(&film.scene(position), &film.palette).as_bytes()))
}

/// Writes a picture of each moment as PNG to a folder, creating it if necessary: `frame-0001.png`, …. Returns
/// the paths. All frames are put in place together at the end; on failure or cancellation the folder is
/// unchanged.
///
/// # Errors
/// [`ExportError::Io`], [`ExportError::Picture`], [`ExportError::Memory`], [`ExportError::Cancelled`];
/// [`ExportError::OtherFrames`] if the folder has frames with higher numbers than these.
pub fn frames(
    film: &Film,
    moments: &Moments,
    dir: &Path,
    progress: &dyn Progress,
) -> Result<Vec<PathBuf>, ExportError> {
    let count = moments.positions.len();
    let made = OutputFolder::new(dir, is_frame_file)?;
    if has_frames_after(count, dir).map_err(ExportError::io(dir))? {
        return Err(ExportError::OtherFrames { path: dir.to_owned() });
    }
    let files: Vec<PathBuf> = (1..=count).map(|number| dir.join(frame(number))).collect();
    for file in files.iter().filter(|file| file.exists()) {
        super::check(file)?;
    }
    let at_a_time = at_a_time(film, ENCODING_BYTES, DRAWING_BYTES, dir)?;
    let mut batch = Batch::new(dir, is_frame_file).map_err(ExportError::io(dir))?;
    images(film, &moments.positions, at_a_time, &mut |number, image| {
        batch.write(&frame(number + 1), |out| encode(image, out)).map_err(ExportError::io(&files[number]))?;
        progress.update(number as u64 + 1, count as u64);
        if progress.cancelled() { Err(ExportError::Cancelled) } else { Ok(()) }
    })?;
    batch.put(&[]).map_err(ExportError::io(dir))?;
    made.keep();
    Ok(files)
}

/// Writes the moments as a GIF, each shown for `pace` seconds, clamped to [`PACE_RANGE`]. With motion, the
/// first part of that time shows the transition between consecutive moments.
///
/// # Errors
/// [`ExportError::Picture`] for an invalid size, [`ExportError::Memory`], [`ExportError::Io`], and
/// [`ExportError::Cancelled`].
pub fn gif(
    film: &Film,
    moments: &Moments,
    pace: f32,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    let positions = &moments.positions;
    let hundredths = (pace.clamp(PACE_RANGE.0, PACE_RANGE.1) * 100.0).round() as u16;
    let [width, height] = film.pixels()?.map(|length| length as u16);
    let sampled: Vec<usize> =
        positions.iter().step_by(positions.len().div_ceil(PALETTE_SAMPLES).max(1)).copied().collect();
    let total = (sampled.len() + positions.len()) as u64;
    let mut samples = Vec::with_capacity(sampled.len());
    images(
        film,
        &sampled,
        at_a_time(film, PICTURE_BYTES * sampled.len() as u64, DRAWING_BYTES, path)?,
        &mut |number, image| {
            samples.push(image);
            progress.update(number as u64 + 1, total);
            if progress.cancelled() { Err(ExportError::Cancelled) } else { Ok(()) }
        },
    )?;
    let colors = GifPalette::from_samples(&samples, &film.palette);
    drop(samples);
    let moves = film.motion && hundredths >= MIN_DELAY_WITH_MOTION;
    // Each moment is drawn with its transition. The previous picture is kept for comparison while the frame
    // is encoded.
    let of_moment = DRAWING_BYTES + if moves { PICTURE_BYTES * INTERMEDIATE.len() as u64 } else { 0 };
    let at_a_time = at_a_time(film, PICTURE_BYTES + ENCODING_BYTES, of_moment, path)?;
    // Stored outside the writer, which can only return I/O errors.
    let mut failed = None;
    let result = write(path, |out| {
        let mut animation = GifWriter::new(out, [width, height], colors)?;
        let last = positions.len().saturating_sub(1);
        let draw = |number: usize| {
            let next = number.checked_sub(1).and_then(|before| moments.next_after(positions[before]));
            let moves = moves && next == Some(positions[number]);
            let mut images = if moves {
                film.images_between(positions[number - 1], positions[number], &INTERMEDIATE)?
            } else {
                Vec::new()
            };
            images.push(film.image(positions[number])?);
            Ok(images)
        };
        let done = draw_parallel(positions.len(), at_a_time, &draw, &mut |number, images| {
            let stays =
                if number == last { hundredths.saturating_mul(LAST_FRAME_FACTOR) } else { hundredths };
            let between = images.len() as u16 - 1;
            for (at, image) in (0..).zip(images) {
                let stays =
                    if at < between { INTERMEDIATE_DELAY } else { stays - between * INTERMEDIATE_DELAY };
                animation.add(image, stays).map_err(ExportError::io(path))?;
            }
            progress.update((sampled.len() + number + 1) as u64, total);
            if progress.cancelled() { Err(ExportError::Cancelled) } else { Ok(()) }
        });
        match done {
            Ok(()) => animation.finish(),
            Err(error) => {
                failed = Some(error);
                Err(io::ErrorKind::Interrupted.into())
            }
        }
    });
    failed.map_or(result, Err)
}

/// Writes the handout, with pictures of the moments.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written, and [`ExportError::Cancelled`].
pub fn handout(
    film: &Film,
    moments: &Moments,
    theme: Theme,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    write(path, |out| handout::write(film, moments, theme, progress, out)).map_err(from_lesson_error)
}

/// Writes the worksheet: questions with their pictures.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written, and [`ExportError::Cancelled`].
pub fn worksheet(film: &Film, theme: Theme, path: &Path, progress: &dyn Progress) -> Result<(), ExportError> {
    write(path, |out| worksheet::write(film, theme, progress, out)).map_err(from_lesson_error)
}

/// Writes the key of the worksheet.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn key(film: &Film, theme: Theme, path: &Path) -> Result<(), ExportError> {
    write(path, |out| worksheet::write_key(film, theme, out))
}

/// Writes the page that plays the moments in a browser, and returns what it contains.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written, [`ExportError::Memory`], and
/// [`ExportError::Cancelled`].
pub fn page(
    film: &Film,
    moments: &Moments,
    path: &Path,
    progress: &dyn Progress,
) -> Result<PageSummary, ExportError> {
    let mut written = None;
    write(path, |out| {
        written = Some(player::write(film, moments, progress, out)?);
        Ok(())
    })
    .map_err(from_lesson_error)?;
    written.ok_or(ExportError::Cancelled)
}

/// Converts I/O errors that stand for cancellation or lack of memory.
pub(super) fn from_lesson_error(error: ExportError) -> ExportError {
    match error {
        ExportError::Io { why, .. } if why.kind() == io::ErrorKind::Interrupted => ExportError::Cancelled,
        ExportError::Io { why, path } => match why.downcast::<InsufficientMemory>() {
            Ok(short) => ExportError::Memory {
                what: "the page".to_owned(),
                short,
                remedy: "choose fewer steps with --from and --to",
                path,
            },
            Err(why) => ExportError::Io { why, path },
        },
        other => other,
    }
}

/// How many pictures, or moments with pictures, to draw at a time: one per core, or fewer if memory is short.
/// `kept` is the bytes per pixel needed besides `of_each`.
///
/// # Errors
/// [`ExportError::Memory`] if there is no room for one; [`ExportError::Picture`].
fn at_a_time(film: &Film, kept: u64, of_each: u64, path: &Path) -> Result<usize, ExportError> {
    let [width, height] = film.pixels()?;
    let pixels = u64::from(width) * u64::from(height);
    memory::check(pixels * (kept + of_each)).map_err(|short| ExportError::Memory {
        what: format!("{width} \u{d7} {height} pixels: a picture"),
        short,
        remedy: "choose a smaller size",
        path: path.to_owned(),
    })?;
    let fit =
        memory::available().map_or(u64::MAX, |free| free.saturating_sub(pixels * kept) / (pixels * of_each));
    Ok(usize::try_from(fit).unwrap_or(usize::MAX).clamp(1, rayon::current_num_threads().max(1)))
}

/// Draws pictures on all cores, a few at a time, and passes them on in order.
fn images(
    film: &Film,
    positions: &[usize],
    at_a_time: usize,
    take: &mut dyn FnMut(usize, RgbaImage) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    draw_parallel(positions.len(), at_a_time, &|number| film.image(positions[number]), take)
}

/// Draws `count` items on all cores, a few at a time, and passes them on in order.
fn draw_parallel<T: Send>(
    count: usize,
    at_a_time: usize,
    draw: &(dyn Fn(usize) -> Result<T, SizeError> + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    for first in (0..count).step_by(at_a_time) {
        let some: Vec<_> = (first..count.min(first + at_a_time)).into_par_iter().map(draw).collect();
        for (number, one) in (first..).zip(some) {
            take(number, one?)?;
        }
    }
    Ok(())
}

fn png(image: RgbaImage, path: &Path) -> Result<(), ExportError> {
    write(path, |out| encode(image, out))
}

fn encode(image: RgbaImage, out: &mut BufWriter<File>) -> io::Result<()> {
    let (width, height) = image.dimensions();
    // All pixels are opaque, so no information is lost.
    let pixels = DynamicImage::ImageRgba8(image).into_rgb8();
    PngEncoder::new(out).write_image(&pixels, width, height, ExtendedColorType::Rgb8).map_err(|why| match why
    {
        ImageError::IoError(why) => why,
        why => io::Error::other(why),
    })
}

/// The file name of a frame; the first is number 1.
pub fn frame(number: usize) -> String {
    format!("frame-{number:04}.png")
}

fn frame_number(name: &str) -> Option<usize> {
    name.strip_prefix("frame-")?.strip_suffix(".png")?.parse().ok()
}

/// Whether a film may have a file of this name. Other files in its folder are left alone.
pub fn is_frame_file(name: &str) -> bool {
    frame_number(name).is_some_and(|number| number > 0 && frame(number) == name)
}

fn has_frames_after(count: usize, dir: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        if entry?.file_name().to_str().and_then(frame_number).is_some_and(|number| number > count) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use image::AnimationDecoder as _;
    use image::codecs::gif::GifDecoder;

    use super::*;
    use crate::files::testing::names;
    use crate::lesson::lessons::{self, Overrides};
    use crate::lesson::moments::Selection;
    use crate::palette::{DARK, LIGHT};
    use crate::progress::NoProgress;

    fn film(id: &str) -> (Film, Moments) {
        let lesson = lessons::named(id).unwrap();
        let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
        let film = Film::new(lesson, takes, [960.0, 540.0], 1.0, LIGHT);
        let moments = Selection::for_lesson(6).moments(lesson, film.lead()).unwrap();
        (film, moments)
    }

    /// Records progress, and cancels after some reports.
    struct ProgressRecorder {
        told: Mutex<Vec<(u64, u64)>>,
        stop_after: u64,
        asked: AtomicU64,
    }

    impl ProgressRecorder {
        fn new(stop_after: u64) -> Self {
            Self { told: Mutex::default(), stop_after, asked: AtomicU64::new(0) }
        }
    }

    impl Progress for ProgressRecorder {
        fn update(&self, done: u64, total: u64) {
            self.told.lock().unwrap().push((done, total));
        }

        fn cancelled(&self) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.stop_after
        }
    }

    #[test]
    fn gif_frames_match_the_pictures_and_delays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lesson.gif");
        let (film, moments) = film("merge");
        let film = Film { motion: false, ..film };
        let watch = ProgressRecorder::new(u64::MAX);
        gif(&film, &moments, 0.5, &path, &watch).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let frames = GifDecoder::new(file).unwrap().into_frames().collect_frames().unwrap();
        assert_eq!(frames.len(), moments.positions.len());
        let delays: Vec<u32> = frames.iter().map(|frame| frame.delay().numer_denom_ms().0).collect();
        assert_eq!(delays, [500, 500, 500, 500, 500, 1500]);
        for (frame, &position) in frames.iter().zip(&moments.positions) {
            let picture = film.image(position).unwrap();
            assert_eq!(frame.buffer().dimensions(), picture.dimensions());
            let far = frame
                .buffer()
                .as_raw()
                .iter()
                .zip(picture.as_raw())
                .filter(|(a, b)| a.abs_diff(**b) > 40)
                .count();
            assert!(far * 1000 < picture.as_raw().len(), "{far} values of position {position} are far off");
        }
        let told = watch.told.into_inner().unwrap();
        assert!(told.is_sorted() && told.last().is_some_and(|(done, total)| done == total), "{told:?}");
        assert!(std::fs::metadata(&path).unwrap().len() < 500_000);
    }

    #[test]
    fn motion_does_not_change_the_gif_duration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lesson.gif");
        let (film, _) = film("merge");
        let moments = Selection::for_lesson(usize::MAX).moments(&film.lesson, film.lead()).unwrap();
        gif(&film, &moments, 0.6, &path, &NoProgress).unwrap();
        let frames = GifDecoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()))
            .unwrap()
            .into_frames()
            .collect_frames()
            .unwrap();
        let delays: Vec<u32> = frames.iter().map(|frame| frame.delay().numer_denom_ms().0).collect();
        let moves = delays.iter().filter(|&&delay| delay == 80).count();
        assert_eq!(delays.iter().sum::<u32>() as usize, (moments.positions.len() + 2) * 600, "{delays:?}");
        assert_eq!(frames.len(), moments.positions.len() + moves);
        // The minimum and four layers move keys.
        assert!(moves >= 2 * 5, "{delays:?}");
        let at = delays.iter().position(|&delay| delay == 80).unwrap();
        assert!(
            frames[at - 1..=at + 2].windows(2).all(|pair| pair[0].buffer() != pair[1].buffer()),
            "each is another picture"
        );
        // A fast pace has no motion.
        gif(&film, &moments, 0.3, &path, &NoProgress).unwrap();
        let frames = GifDecoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()))
            .unwrap()
            .into_frames()
            .count();
        assert_eq!(frames, moments.positions.len());
    }

    #[test]
    fn frames_are_numbered_and_differ() {
        let folder = tempfile::tempdir().unwrap();
        let (film, moments) = film("sort");
        let film = Film { scale: 0.5, palette: DARK, ..film };
        let files = frames(&film, &moments, &folder.path().join("new/film"), &NoProgress).unwrap();
        assert_eq!(
            names(&folder.path().join("new/film")),
            [
                "frame-0001.png",
                "frame-0002.png",
                "frame-0003.png",
                "frame-0004.png",
                "frame-0005.png",
                "frame-0006.png"
            ]
        );
        let read: Vec<_> = files.iter().map(|file| image::open(file).unwrap().into_rgba8()).collect();
        assert!(read.iter().all(|image| image.dimensions() == (480, 270)));
        assert!(read.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(read[2], film.image(moments.positions[2]).unwrap());
        // A cancelled film leaves the older one unchanged.
        let bytes = || files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>();
        let before = bytes();
        let light = Film { palette: LIGHT, ..film.clone() };
        assert!(matches!(
            frames(&light, &moments, &folder.path().join("new/film"), &ProgressRecorder::new(4)).unwrap_err(),
            ExportError::Cancelled
        ));
        assert_eq!((names(&folder.path().join("new/film")).len(), bytes() == before), (6, true));
        // A shorter film does not mix with the rest of a longer one; the same film can be written again.
        frames(&film, &moments, &folder.path().join("new/film"), &NoProgress).unwrap();
        let short = Moments { positions: moments.positions[..2].to_vec(), ..moments };
        let error =
            frames(&film, &short, &folder.path().join("new/film"), &NoProgress).unwrap_err().to_string();
        assert!(error.starts_with("cannot write: the folder contains frames of another film"), "{error}");
    }

    #[test]
    fn only_frame_file_names_are_recognized() {
        assert!(["frame-0001.png", "frame-0420.png", "frame-12345.png"].into_iter().all(is_frame_file));
        for name in [
            "frame-0000.png",
            "frame-1.png",
            "frame-+001.png",
            "frame-00001.png",
            "frame-0001.jpg",
            "run.json",
            "frame-.png",
            "",
        ] {
            assert!(!is_frame_file(name), "{name}");
        }
    }

    #[test]
    fn cancelled_lesson_exports_leave_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let (film, moments) = film("sort");
        for stop_after in [1, 3, 8] {
            let error =
                gif(&film, &moments, 1.0, &folder.path().join("a.gif"), &ProgressRecorder::new(stop_after))
                    .unwrap_err();
            assert!(matches!(error, ExportError::Cancelled), "{error}");
        }
        assert!(matches!(
            frames(&film, &moments, folder.path(), &ProgressRecorder::new(3)).unwrap_err(),
            ExportError::Cancelled
        ));
        assert!(matches!(
            frames(&film, &moments, &folder.path().join("not/there"), &ProgressRecorder::new(3)).unwrap_err(),
            ExportError::Cancelled
        ));
        let path = folder.path().join("a.html");
        assert!(matches!(
            handout(&film, &moments, Theme::Adaptive, &path, &AtomicBool::new(true)).unwrap_err(),
            ExportError::Cancelled
        ));
        assert!(matches!(
            worksheet(&film, Theme::Adaptive, &path, &AtomicBool::new(true)).unwrap_err(),
            ExportError::Cancelled
        ));
        assert!(matches!(
            page(&film, &moments, &path, &AtomicBool::new(true)).unwrap_err(),
            ExportError::Cancelled
        ));
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn every_html_file_forbids_external_resources() {
        let folder = tempfile::tempdir().unwrap();
        let (film, moments) = film("sort");
        let at = |name: &str| folder.path().join(name);
        handout(&film, &moments, Theme::Adaptive, &at("handout"), &NoProgress).unwrap();
        worksheet(&film, Theme::Film, &at("worksheet"), &NoProgress).unwrap();
        key(&film, Theme::Adaptive, &at("key")).unwrap();
        page(&film, &moments, &at("page"), &NoProgress).unwrap();
        let files = names(folder.path());
        assert_eq!(files.len(), 4);
        for name in files {
            let text = std::fs::read_to_string(at(&name)).unwrap();
            let (head, body) = text.split_once("<title>").unwrap();
            assert!(
                head.contains(
                    "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
                     'unsafe-inline'"
                ),
                "{name}: {head}"
            );
            assert_eq!(head.contains("script-src"), body.contains("<script"), "{name}");
        }
    }

    #[test]
    fn failed_lesson_exports_report_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let (film, moments) = film("sort");
        let nowhere = folder.path().join("none/a.png");
        for error in [
            picture(&film, 3, &nowhere).unwrap_err(),
            drawing(&film, 3, &nowhere).unwrap_err(),
            gif(&film, &moments, 1.0, &nowhere, &NoProgress).unwrap_err(),
            handout(&film, &moments, Theme::Film, &nowhere, &NoProgress).unwrap_err(),
            worksheet(&film, Theme::Film, &nowhere, &NoProgress).unwrap_err(),
            key(&film, Theme::Film, &nowhere).unwrap_err(),
            page(&film, &moments, &nowhere, &NoProgress).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(
                message.starts_with("cannot write: there is no folder") && message.ends_with("none/a.png"),
                "{message}"
            );
        }
        let huge = Film { scale: 40.0, ..film };
        let error = picture(&huge, 3, &folder.path().join("a.png")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid size 38400 \u{d7} 21600: each side must be between 1 and 16384 pixels"
        );
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
