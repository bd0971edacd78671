//! All colours of the program.
//!
//! Each concept has one colour everywhere. Categories use Okabe and Ito's set, which colour-blind readers can
//! distinguish; magnitudes use viridis or cividis. Each theme has its own shades, with sufficient contrast to
//! its background.

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Minimum contrast of text to its background (WCAG 2, level AA).
pub const TEXT_CONTRAST: f32 = 4.5;

impl Rgb {
    /// The contrast of two colours (WCAG 2), from 1 to 21.
    pub fn contrast(self, other: Self) -> f32 {
        let luminance = |Self(red, green, blue): Self| {
            let [red, green, blue] = [red, green, blue].map(|part| match f32::from(part) / 255.0 {
                part if part <= 0.040_45 => part / 12.92,
                part => ((part + 0.055) / 1.055).powf(2.4),
            });
            0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(self), luminance(other));
        (one / other).max(other / one)
    }

    /// The colour mixed with a share, from 0 to 1, of another.
    #[must_use]
    pub fn mixed(self, other: Self, share: f32) -> Self {
        let mix =
            |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * share).round() as u8;
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

impl Palette {
    /// The shade of a colour in which text is legible on panels, views, fields and panels tinted with the
    /// accent: mixed with as little of the text colour as possible.
    pub fn legible(&self, color: Rgb) -> Rgb {
        const SHADES: u8 = 16;
        const TINT: f32 = 0.16;
        let grounds = [self.panel, self.canvas, self.field, self.panel.mixed(self.accent, TINT)];
        (0..SHADES)
            .map(|shade| color.mixed(self.text, f32::from(shade) / f32::from(SHADES)))
            .find(|shade| grounds.iter().all(|ground| shade.contrast(*ground) >= TEXT_CONTRAST))
            .unwrap_or(self.text)
    }
}

/// Number of category colours in each theme; with more categories, colours repeat.
pub const CATEGORIES: usize = 10;

/// Colours by meaning, as [`Rgb`] or in the renderer's own type.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette<C = Rgb> {
    /// Whether text is light on a dark background.
    pub dark: bool,
    /// Background of panels and menus.
    pub panel: C,
    /// Background of plots and views.
    pub canvas: C,
    /// Background of fields and buttons.
    pub field: C,
    /// A field or button under the pointer.
    pub field_hover: C,
    /// Primary text, such as values.
    pub text: C,
    /// Secondary text: labels, units, ticks.
    pub text_weak: C,
    /// Separators and frames in the interface.
    pub line: C,
    /// Grid lines behind data.
    pub grid: C,
    /// Coastlines and borders behind data.
    pub coast: C,
    /// Interactive elements and the current choice.
    pub accent: C,
    /// Text on a background of [`Self::accent`].
    pub on_accent: C,
    /// Errors in text and icons.
    pub error: C,
    /// Warnings in text and icons.
    pub warning: C,
    /// Data points that are neither query nor neighbour.
    pub point: C,
    /// Data points without a value, when points are coloured by value.
    pub muted: C,
    /// Categories, distinguishable with every kind of colour vision, and visible on the canvas.
    pub categories: [C; CATEGORIES],
    /// The range of a ramp, within 0 to 1, that is visible on the canvas.
    pub ramp: [f32; 2],
    /// The query point in every view.
    pub query: C,
    /// The neighbours of the query.
    pub neighbor: C,
    /// The selection, in every pane: black or white, to contrast with the hues of the query and its
    /// neighbours.
    pub selected: C,
    /// Candidates of the lesson's search.
    pub candidate: C,
    /// Points that the filter rejected.
    pub rejected: C,
    /// The sorted list of K in registers, and its `max_distance`.
    pub intermediate: C,
    /// The candidate buffer and its merges.
    pub buffer: C,
    /// Theoretical bounds drawn with measured values.
    pub theory: C,
    /// Upload or index, search, counted, profiled, download.
    pub phases: [C; 5],
    /// The two runs of a comparison, A and B.
    pub runs: [C; 2],
}

const fn rgb(hex: u32) -> Rgb {
    Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

// Okabe and Ito.
const ORANGE: Rgb = rgb(0xE69F00);
const SKY: Rgb = rgb(0x56B4E9);
const GREEN: Rgb = rgb(0x009E73);
const YELLOW: Rgb = rgb(0xF0E442);
const BLUE: Rgb = rgb(0x0072B2);
const VERMILLION: Rgb = rgb(0xD55E00);
const PURPLE: Rgb = rgb(0xCC79A7);

/// Dark text on light backgrounds.
pub const LIGHT: Palette = Palette {
    dark: false,
    panel: rgb(0xF6F7F9),
    canvas: rgb(0xFFFFFF),
    field: rgb(0xE8EBEF),
    field_hover: rgb(0xDCE1E8),
    text: rgb(0x1B2026),
    text_weak: rgb(0x58616D),
    line: rgb(0xD3D8DF),
    grid: rgb(0xE9ECF0),
    coast: rgb(0xAEB6C1),
    accent: BLUE,
    on_accent: rgb(0xFFFFFF),
    error: rgb(0xB3261E),
    warning: rgb(0x8A5A00),
    point: rgb(0x8C97A5),
    muted: rgb(0xD6DBE1),
    // Yellow has too little contrast here, so browns and violets are used instead.
    categories: [
        BLUE,
        ORANGE,
        GREEN,
        VERMILLION,
        PURPLE,
        SKY,
        rgb(0x5B2B00),
        rgb(0x1B1E9E),
        rgb(0xA54BFF),
        rgb(0x873C4B),
    ],
    ramp: [0.0, 0.75],
    query: VERMILLION,
    neighbor: BLUE,
    selected: rgb(0x1B2026),
    candidate: rgb(0xC98A00),
    rejected: rgb(0xA9B1BC),
    intermediate: GREEN,
    buffer: rgb(0xB3578A),
    theory: rgb(0x1B2026),
    phases: [SKY, BLUE, rgb(0xB3578A), GREEN, rgb(0xC98A00)],
    runs: [BLUE, VERMILLION],
};

/// Light text on dark backgrounds.
pub const DARK: Palette = Palette {
    dark: true,
    panel: rgb(0x1B1E23),
    canvas: rgb(0x121418),
    field: rgb(0x2A2F37),
    field_hover: rgb(0x363D47),
    text: rgb(0xE4E8ED),
    text_weak: rgb(0x9AA5B2),
    line: rgb(0x343A43),
    grid: rgb(0x23272E),
    coast: rgb(0x566070),
    accent: SKY,
    on_accent: rgb(0x0C1116),
    error: rgb(0xFF8A80),
    warning: rgb(0xF2C057),
    point: rgb(0x6F7B8A),
    muted: rgb(0x333941),
    categories: [
        SKY,
        ORANGE,
        GREEN,
        VERMILLION,
        PURPLE,
        rgb(0x2F6FD0),
        YELLOW,
        rgb(0xD2FFFF),
        rgb(0xA569FF),
        rgb(0x8A3F3F),
    ],
    ramp: [0.36, 1.0],
    query: rgb(0xF5793A),
    neighbor: SKY,
    selected: rgb(0xFFFFFF),
    candidate: ORANGE,
    rejected: rgb(0x59626D),
    intermediate: rgb(0x1FC196),
    buffer: PURPLE,
    theory: rgb(0xE4E8ED),
    phases: [rgb(0x2F6FD0), SKY, PURPLE, rgb(0x1FC196), ORANGE],
    runs: [SKY, ORANGE],
};

/// White text on black, with stronger lines and labels.
pub const HIGH_CONTRAST: Palette = Palette {
    panel: rgb(0x000000),
    canvas: rgb(0x000000),
    field: rgb(0x1C1C1C),
    field_hover: rgb(0x333333),
    text: rgb(0xFFFFFF),
    text_weak: rgb(0xE0E0E0),
    line: rgb(0xFFFFFF),
    grid: rgb(0x404040),
    coast: rgb(0x9A9A9A),
    accent: YELLOW,
    on_accent: rgb(0x000000),
    point: rgb(0xA8A8A8),
    muted: rgb(0x4A4A4A),
    ..DARK
};

/// Number of evenly spaced colours in a ramp.
pub const RAMP: usize = 33;

const fn ramp_of(hex: [u32; RAMP]) -> [Rgb; RAMP] {
    let mut colors = [rgb(0); RAMP];
    let mut at = 0;
    while at < RAMP {
        colors[at] = rgb(hex[at]);
        at += 1;
    }
    colors
}

/// Viridis, by Smith and van der Walt: perceptually uniform, also in greyscale.
pub const VIRIDIS: [Rgb; RAMP] = ramp_of([
    0x440154, 0x470D60, 0x48186A, 0x482374, 0x472D7B, 0x453681, 0x424086, 0x3F4989, 0x3B528B, 0x375A8D,
    0x33638D, 0x2F6A8E, 0x2C728E, 0x297A8E, 0x26818E, 0x23898E, 0x21908C, 0x1F988B, 0x1F9F88, 0x21A685,
    0x28AE80, 0x31B57B, 0x3EBC74, 0x4CC26C, 0x5DC963, 0x6ECE58, 0x82D34C, 0x96D83F, 0xABDC32, 0xC0DF24,
    0xD5E21A, 0xEAE51A, 0xFDE725,
]);

/// Cividis, by Nuñez, Anderton and Renslow: perceptually uniform, and the same for readers with red-green
/// colour blindness.
pub const CIVIDIS: [Rgb; RAMP] = ramp_of([
    0x00224E, 0x00285B, 0x002E6A, 0x043371, 0x1A386F, 0x273E6E, 0x32436D, 0x3B496C, 0x434E6C, 0x4B546C,
    0x52596D, 0x5A5F6E, 0x61656F, 0x686A71, 0x6F7073, 0x757676, 0x7C7B78, 0x848179, 0x8B8778, 0x938D78,
    0x9B9376, 0xA39A75, 0xABA072, 0xB3A670, 0xBBAD6C, 0xC3B469, 0xCCBA64, 0xD4C15F, 0xDDC958, 0xE6D051,
    0xEFD748, 0xF8DF3C, 0xFEE838,
]);

/// The colour at position `at` of a ramp, 0 to 1, interpolated between its steps and clamped at its ends.
pub fn on_ramp(ramp: &[Rgb; RAMP], at: f32) -> Rgb {
    let position = at.clamp(0.0, 1.0) * (RAMP - 1) as f32;
    let step = (position as usize).min(RAMP - 2);
    let fraction = position - step as f32;
    let (Rgb(r0, g0, b0), Rgb(r1, g1, b1)) = (ramp[step], ramp[step + 1]);
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * fraction).round() as u8;
    Rgb(mix(r0, r1), mix(g0, g1), mix(b0, b1))
}
