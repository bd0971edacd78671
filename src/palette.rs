//! The one place where colours are written down.
//!
//! One colour per concept, everywhere the same: categories are from Okabe and Ito's set, which colour-blind readers can
//! tell apart, magnitudes are viridis. Each theme has its own shades so that every colour stands out from its ground.

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Colours by what they mean, as [`Rgb`] or as whoever draws has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette<C = Rgb> {
    /// Whether text is light.
    pub dark: bool,
    /// Behind panels.
    pub panel: C,
    /// Behind the data.
    pub canvas: C,
    /// Behind fields and buttons.
    pub field: C,
    /// A field or button under the pointer.
    pub field_hover: C,
    /// What is read first.
    pub text: C,
    /// Labels, units, ticks.
    pub text_weak: C,
    /// Lines between parts.
    pub line: C,
    /// Grid lines behind data.
    pub grid: C,
    /// What can be pressed and what is selected.
    pub accent: C,
    /// Text on [`Self::accent`].
    pub on_accent: C,
    /// What went wrong.
    pub error: C,
    /// What should be known.
    pub warning: C,
    /// Data points that are neither query nor neighbour.
    pub point: C,
    /// The query.
    pub query: C,
    /// Its neighbours.
    pub neighbor: C,
    /// The neighbour selected in the table.
    pub selected: C,
    /// Candidates.
    pub candidate: C,
    /// Points that the filter rejected.
    pub rejected: C,
    /// The sorted list of K in registers, and its `max_distance`.
    pub intermediate: C,
    /// The candidate buffer and its merges.
    pub buffer: C,
    /// What theory expects.
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

/// Dark on light.
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
    accent: BLUE,
    on_accent: rgb(0xFFFFFF),
    error: rgb(0xB3261E),
    warning: rgb(0x8A5A00),
    point: rgb(0x8C97A5),
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

/// Light on dark.
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
    accent: SKY,
    on_accent: rgb(0x0C1116),
    error: rgb(0xFF8A80),
    warning: rgb(0xF2C057),
    point: rgb(0x6F7B8A),
    query: rgb(0xF5793A),
    neighbor: SKY,
    selected: rgb(0xFFFFFF),
    candidate: ORANGE,
    rejected: rgb(0x59626D),
    intermediate: rgb(0x1FC196),
    buffer: PURPLE,
    theory: rgb(0xE4E8ED),
    phases: [rgb(0x3E8FC4), SKY, PURPLE, rgb(0x1FC196), ORANGE],
    runs: [SKY, ORANGE],
};

/// White on black.
pub const HIGH_CONTRAST: Palette = Palette {
    panel: rgb(0x000000),
    canvas: rgb(0x000000),
    field: rgb(0x1C1C1C),
    field_hover: rgb(0x333333),
    text: rgb(0xFFFFFF),
    text_weak: rgb(0xE0E0E0),
    line: rgb(0xFFFFFF),
    grid: rgb(0x404040),
    accent: YELLOW,
    on_accent: rgb(0x000000),
    point: rgb(0xA8A8A8),
    ..DARK
};

/// Viridis at 16 even steps.
pub const VIRIDIS: [Rgb; 16] = [
    rgb(0x440154),
    rgb(0x481A6C),
    rgb(0x472F7D),
    rgb(0x414487),
    rgb(0x39568C),
    rgb(0x31688E),
    rgb(0x2A788E),
    rgb(0x23888E),
    rgb(0x1F988B),
    rgb(0x22A884),
    rgb(0x35B779),
    rgb(0x54C568),
    rgb(0x7AD151),
    rgb(0xA5DB36),
    rgb(0xD2E21B),
    rgb(0xFDE725),
];
