//! What panes ask of the live query.

use crate::app::model::live::Target;

/// What panes ask of the live query.
#[derive(Clone, Debug)]
pub enum LiveAction {
    /// It is taken hold of.
    Grab,
    /// It is moved to a place, in the file's own units.
    To(Vec<f64>),
    /// It is moved to a row of the cloud.
    Snap(Target),
    /// It stays where it is.
    Release,
    /// It goes back to where it was taken up.
    Back,
    /// The fields of its coordinates, as they are typed.
    Type(Vec<String>),
    /// It is moved to the place that is typed.
    Apply,
}
