//! What is known: what is kept between starts, what is open now, and what can be asked for. Data and plain computations on it: no
//! threads, no GPU objects, no painting.

pub mod activity;
pub mod answer;
pub mod camera;
pub mod color;
pub mod commands;
pub mod draft;
pub mod export;
pub mod files;
pub mod finder;
pub mod history;
pub mod lesson;
pub mod live;
pub mod log;
pub mod look;
pub mod pane;
pub mod parts;
pub mod picking;
pub mod plan;
pub mod projection;
pub mod runs;
pub mod saved;
pub mod scene;
pub mod selection;
pub mod session;
pub mod state;
pub mod timeline;
pub mod views;
