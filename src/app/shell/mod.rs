//! The window: menus, panels, status line, and the one place that carries out what is asked.

pub mod adapter;
pub mod app;
pub mod apply;
pub mod finder;
pub mod handles;
pub mod headless;
pub mod keys;
pub mod lesson;
pub mod panels;
pub mod portrait;
pub mod tasks;
pub mod ui;
pub mod window;
