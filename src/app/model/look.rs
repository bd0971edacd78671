//! How the window looks: which look is chosen.

use serde::{Deserialize, Serialize};

/// How the window looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Look {
    /// As the desktop says.
    #[default]
    System,
    Light,
    Dark,
    /// White on black, with full borders.
    HighContrast,
}

impl Look {
    /// All, as the menu lists them.
    pub const ALL: [Self; 4] = [Self::System, Self::Light, Self::Dark, Self::HighContrast];

    /// As the menu says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::System => "As the system",
            Self::Light => "Light",
            Self::Dark => "Dark",
            Self::HighContrast => "High contrast",
        }
    }
}
