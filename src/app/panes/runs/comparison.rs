//! Two runs side by side: what differs in time, in answers, and in what was asked.

use egui::{Color32, Grid, RichText, Ui};

use crate::app::features::runs::state::list::{Compared, KeptRun};
use crate::app::features::runs::state::{RunsAction, RunsView};
use crate::app::look::{Palette, heading_ui, number};
use crate::app::panes::descriptor::PaneContext;
use crate::app::panes::runs::figure::figure_ui;
use crate::app::panes::timings::inline_swatch_ui;
use crate::run::compare::{ComparedPhase, RULE, Spread, Verdict};
use crate::text;

pub fn comparison_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let runs = &context.session.runs;
    let Some([a, b]) = runs.pair() else { return };
    if let Some(sentence) = runs.compared.as_ref().and_then(|compared| compared.comparison.sentence()) {
        ui.add(egui::Label::new(RichText::new(sentence).size(15.0)).wrap());
    }
    heads_ui(ui, [a, b], context);
    let Some(compared) = runs.compared.clone() else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(RichText::new("Comparing…").color(context.palette.text_weak));
        });
        return;
    };
    // Beside each other where there is room; the numbers first, as they are what was asked for.
    if ui.available_width() > 840.0 {
        ui.horizontal_top(|ui| {
            let half = ui.available_width() / 2.0 - 8.0;
            ui.vertical(|ui| {
                ui.set_width(half);
                timings_ui(ui, &compared, context.palette);
                parameters_ui(ui, &compared, context);
            });
            ui.vertical(|ui| figure_ui(ui, &compared, context));
        });
    } else {
        timings_ui(ui, &compared, context.palette);
        figure_ui(ui, &compared, context);
        parameters_ui(ui, &compared, context);
    }
}

fn heads_ui(ui: &mut Ui, pair: [&KeptRun; 2], context: &mut PaneContext<'_>) {
    for (side, run) in pair.into_iter().enumerate() {
        ui.horizontal(|ui| {
            inline_swatch_ui(ui, context.palette.runs[side], ["A", "B"][side]);
            ui.add(egui::Label::new(RichText::new(&run.name).strong()).truncate());
        });
    }
    ui.horizontal_wrapped(|ui| {
        if ui.button("Swap A and B").clicked() {
            context.actions.send(RunsAction::Swap);
        }
        if ui.button("Stop comparing").clicked() {
            context.actions.send(RunsAction::ChooseNone);
        }
    });
}

fn timings_ui(ui: &mut Ui, compared: &Compared, palette: &Palette) {
    let comparison = &compared.comparison;
    if let Some(answers) = &comparison.answers {
        let color = if answers.identical() { palette.text } else { palette.warning };
        ui.label(RichText::new(answers.sentence()).color(color));
    } else if let Some(why) = &comparison.no_answers {
        ui.label(RichText::new(format!("Neighbours are not compared: {why}.")).color(palette.text_weak));
    }
    heading_ui(ui, "Time per phase");
    if comparison.phases.is_empty() {
        ui.label(RichText::new("No phase was timed in both.").color(palette.text_weak));
    }
    Grid::new("compared phases").num_columns(6).spacing([12.0, 3.0]).show(ui, |ui| {
        for (name, color) in
            [("phase", palette.text_weak), ("A", palette.runs[0]), ("B", palette.runs[1]), ("B − A", palette.text_weak), ("B ÷ A", palette.text_weak)]
        {
            ui.label(RichText::new(name).color(color).strong());
        }
        ui.end_row();
        for phase in &comparison.phases {
            phase_ui(ui, phase, palette);
            ui.end_row();
        }
    });
    ui.label(
        RichText::new(format!(
            "Medians, and under them the interquartile range (IQR) of the repeats, without outliers ({RULE}). Under the ratio, the limits between which it lies with a confidence of 95 %; a difference is called one where 1 is not between them.",
        ))
        .color(palette.text_weak)
        .small(),
    );
}

fn phase_ui(ui: &mut Ui, phase: &ComparedPhase, palette: &Palette) {
    let small = |text: String| RichText::new(text).color(palette.text_weak).small();
    let cell = |ui: &mut Ui, above: RichText, below: RichText| {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(egui::Label::new(above).extend());
            ui.add(egui::Label::new(below).extend());
        });
    };
    let of_spread = |ui: &mut Ui, spread: &Spread| {
        let below = match spread.repeats {
            1 => "once".to_owned(),
            _ => format!("{} to {}, {}×", text::time(spread.lower_quartile), text::time(spread.upper_quartile), spread.counted()),
        };
        cell(ui, number(text::time(spread.median)).size(12.0), small(below));
    };
    let engines = if phase.engine_a == phase.engine_b { String::new() } else { format!("{} | {}", phase.engine_a, phase.engine_b) };
    cell(ui, RichText::new(phase.phase.name()).color(palette.phase(phase.phase)).strong(), small(engines));
    of_spread(ui, &phase.a);
    of_spread(ui, &phase.b);
    let verdict = phase.verdict;
    let color = verdict_color(verdict, palette);
    cell(ui, number(text::difference(phase.delta_ms)).size(12.0).color(color), RichText::new(phase.text()).small().color(color));
    let between = phase.interval.map_or_else(String::new, |of| of.text());
    let ratio = phase.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{}×", text::digits(ratio, 3)));
    cell(ui, number(ratio).size(12.0).color(color), RichText::new(between).small().color(color));
}

fn verdict_color(verdict: Verdict, palette: &Palette) -> Color32 {
    match verdict {
        Verdict::OtherJob | Verdict::TooFew | Verdict::NoneShown | Verdict::Unclear | Verdict::Slight => palette.text_weak,
        Verdict::Faster => palette.intermediate,
        Verdict::Slower => palette.error,
    }
}

fn parameters_ui(ui: &mut Ui, compared: &Compared, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let view = context.state.runs.clone();
    let parameters = &compared.comparison.parameters;
    let differing = parameters.iter().filter(|parameter| parameter.differs()).count();
    heading_ui(ui, "Parameters and conditions");
    let mut all = view.all_parameters;
    ui.horizontal_wrapped(|ui| {
        ui.label(match differing {
            0 => "All the same.".to_owned(),
            _ => format!("{} of {} differ.", text::thousands(differing as u64), text::thousands(parameters.len() as u64)),
        });
        ui.checkbox(&mut all, "Show all");
    });
    if all != view.all_parameters {
        context.actions.send(RunsAction::SetView(RunsView { all_parameters: all, ..view }));
    }
    if differing == 0 && !all {
        return;
    }
    Grid::new("compared parameters").num_columns(4).spacing([12.0, 3.0]).striped(true).show(ui, |ui| {
        for (name, color) in [("", palette.text_weak), ("", palette.text_weak), ("A", palette.runs[0]), ("B", palette.runs[1])] {
            ui.label(RichText::new(name).color(color).strong());
        }
        ui.end_row();
        for parameter in parameters.iter().filter(|parameter| all || parameter.differs()) {
            let differs = parameter.differs();
            ui.label(RichText::new(if differs { "≠" } else { "" }).color(palette.warning).strong());
            ui.label(RichText::new(&parameter.name).color(palette.text_weak));
            for value in [&parameter.a, &parameter.b] {
                let text = if value.is_empty() { "–" } else { value };
                let text = RichText::new(text).size(12.0).color(if differs { palette.text } else { palette.text_weak });
                ui.scope(|ui| {
                    ui.set_max_width(230.0);
                    ui.add(egui::Label::new(text).wrap());
                });
            }
            ui.end_row();
        }
    });
}
