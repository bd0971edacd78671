//! What the chooser and the legend ask for, carried out; and what happens of it in every frame.

use std::sync::Arc;

use crate::app::context::app::App;
use crate::app::features::color::request::{Request, column_title};
use crate::app::features::color::work::Coloring;
use crate::app::features::color::work::{CANCELLED, Failure};
use crate::app::model::{About, Choice, ColorAction, ColorBy, Colored, Level, SelectAction};
use crate::app::shell::tasks::COLOR;

/// How long a play takes from its first point to the last, in seconds.
const PLAY_SECS: f64 = 10.0;

impl App {
    pub(in crate::app) fn color_action(&mut self, action: ColorAction) {
        match action {
            ColorAction::Set(view) => {
                if view.moment != self.state.color.moment || view.by != ColorBy::Moment {
                    self.session.playing = None;
                }
                self.state.color = view;
            }
            ColorAction::SelectCategory(category, how) => {
                let Colored::Ready(channel) = &self.session.colored else { return };
                let Some(categories) = &channel.categories else { return };
                let Some(of) = categories.list.get(category) else { return };
                let by = format!("{} = {}", channel.title, of.name);
                let what = Choice::Valued(Arc::clone(&categories.values), category as f32);
                self.select(SelectAction::Choose { what, how, by });
            }
            ColorAction::SelectBetween(from, to, how) => {
                let Colored::Ready(channel) = &self.session.colored else { return };
                let Some(numbers) = &channel.numbers else { return };
                let by = format!("{} {}", channel.title, numbers.span(from, to));
                let less = |value: f64| (value - numbers.offset) as f32;
                let what = Choice::Between { whose: channel.whose, values: Arc::clone(&numbers.values), from: less(from), to: less(to) };
                self.select(SelectAction::Choose { what, how, by });
            }
            ColorAction::SelectMost { count, highest, how } => {
                let Colored::Ready(channel) = &self.session.colored else { return };
                let Some(last) = channel.numbers.as_ref().and_then(|numbers| numbers.extreme(count, highest)) else { return };
                let (from, to) = if highest { (last, f64::INFINITY) } else { (f64::NEG_INFINITY, last) };
                self.color_action(ColorAction::SelectBetween(from, to, how));
            }
            ColorAction::Retry => {
                self.jobs.stop(&COLOR);
                self.handles.coloring = Coloring::default();
            }
            ColorAction::Play(false) => self.session.playing = None,
            ColorAction::Play(true) => {
                let Some(n) = self.session.record.as_ref().map(|record| record.cloud.len() as u32) else { return };
                // From the end it begins again.
                let from = if self.state.color.moment >= n { 1 } else { self.state.color.moment.max(1) };
                self.state.color.moment = from;
                self.session.playing = Some(f64::from(from));
            }
        }
    }

    /// Has values worked out where a choice, or what it is about, has changed, and moves a moment on that plays.
    pub(in crate::app) fn want_colors(&mut self) {
        self.play_on();
        let wanted = Request::of(&self.state.color, &self.session);
        let request = wanted.as_ref().ok().and_then(Option::as_ref);
        // What only moved on is finished first.
        if self.jobs.about(&COLOR).is_some_and(|busy| request.is_none_or(|wanted| !wanted.continues(busy))) {
            self.jobs.stop(&COLOR);
        }
        let news = self.handles.coloring.settle(request);
        if let Some(request) = request.filter(|request| !self.jobs.has(&COLOR) && !self.handles.coloring.has(request)) {
            let asked = request.clone();
            self.jobs.start(&COLOR, request.clone(), move |progress| asked.work(progress));
        }
        let colored = match (&wanted, self.handles.coloring.channel()) {
            (Ok(None), _) => Colored::Nothing,
            (Err(first), _) => Colored::Missing(first.clone()),
            (Ok(Some(_)), None) => Colored::Working,
            (Ok(Some(_)), Some(Ok(channel))) => Colored::Ready(channel),
            (Ok(Some(_)), Some(Err(Failure::NoColumn))) => return self.forget_color_column(),
            (Ok(Some(_)), Some(Err(Failure::Said(why)))) => Colored::Failed(why),
        };
        match &colored {
            Colored::Failed(why) if news && why == CANCELLED => self.session.log.info(why.clone()),
            Colored::Failed(why) if news => self.session.log.error(About::Color, why.clone()),
            Colored::Ready(_) if news => self.session.log.settle(About::Color),
            _ => {}
        }
        self.session.colored = colored;
    }

    /// Another file's column colours nothing here.
    pub(in crate::app) fn check_color_column(&mut self) {
        if let ColorBy::Column(key) = &self.state.color.by
            && !key.is_empty()
            && column_title(&self.session, key).is_none()
        {
            self.forget_color_column();
        }
        if self.state.color.by == ColorBy::FileColors && self.session.file_colors().is_none() {
            self.state.color.choose(ColorBy::Nothing);
            self.history.skip();
        }
    }

    /// No column colours points: the file that is shown has none as the one before. The chooser shows it, and the status line keeps
    /// what it says of the file, which may be that rows were dropped.
    fn forget_color_column(&mut self) {
        if let (ColorBy::Column(key), Some(cloud)) = (&self.state.color.by, &self.session.cloud) {
            let said = format!("no column colours the points, as there is no column {key}: {}", cloud.source());
            self.session.log.list(Level::Info, said);
        }
        self.state.color.choose(ColorBy::Nothing);
        self.session.colored = Colored::Nothing;
        // Nobody's step, which nobody wants back.
        self.history.skip();
    }

    fn play_on(&mut self) {
        let Some(at) = self.session.playing else { return };
        let shown = self.state.color.by == ColorBy::Moment;
        let Some(n) = self.session.record.as_ref().map(|record| record.cloud.len() as f64).filter(|_| shown) else {
            self.session.playing = None;
            return;
        };
        let secs = f64::from(self.handles.ctx.input(|input| input.stable_dt).min(0.1));
        // Equal factors in equal times, as the scrubber shows them.
        let next = (at * n.max(2.0).powf(secs / PLAY_SECS)).min(n);
        self.state.color.moment = next as u32;
        self.session.playing = (next < n).then_some(next);
        self.handles.ctx.request_repaint();
    }
}
