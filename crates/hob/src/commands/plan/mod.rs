//! `hob plan FILE`.

mod arithmetic;
mod explain;
mod html;
mod show;
mod words;

use std::path::{Path, PathBuf};

use hob_estimate::{Efficiencies, FeedRates, MediaRates};
use hob_model::ModelGraph;
use hob_plan::{Inputs, PlanError, plan, task_of};
use hob_text::Message;
use hob_workload::{Task, Work, Workload, not_used};

use super::workload::Source;
use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// What of the plan is shown, and where.
pub struct Shown<'a> {
    /// Only the arithmetic of this offer.
    pub explain: Option<usize>,
    /// A page, in this file.
    pub html: Option<Option<&'a Path>>,
}

/// Plans and prints, with what `measured` tables say about the user's own cards.
pub fn run(
    file: &Path,
    &Shown { explain, html }: &Shown<'_>,
    measured: &[PathBuf],
    catalogs: &[PathBuf],
    printer: &Printer,
) -> Result<Code, Failure> {
    let source = super::workload::source(file)?;
    let workload = super::workload::parse(&source, printer)?;
    let catalog = super::catalogs::of_workload(&workload, file, catalogs, printer)?;
    let graph = model(&workload, file)?;
    if let Some(task) = graph.as_ref().and_then(|graph| told_task(&workload, graph)) {
        let problems = not_used(source.text(), task);
        if !problems.is_empty() {
            return Err(super::workload::refuse(&source, problems, printer));
        }
    }
    let table = Efficiencies::embedded()
        .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
    let probe =
        (!measured.is_empty()).then(|| super::learnt::learn(measured, &catalog, &table, printer)).transpose()?;
    let table = probe.as_ref().map_or(table, |probe| probe.table.clone());
    let rates = |error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error));
    let media = MediaRates::built_in().map_err(rates)?;
    let feed = FeedRates::built_in().map_err(rates)?;
    // Facts that the user states are of today.
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let inputs = Inputs {
        model: graph.as_ref(),
        catalog: &catalog,
        efficiencies: &table,
        media: &media,
        feed: &feed,
        today: &today,
    };
    let refused = |error| failure(error, &source, printer);
    let mut plan = plan(&workload, &inputs).map_err(refused)?;
    if let Some(probe) = &probe {
        super::learnt::mark(&mut plan, probe, graph.as_ref().map_or("", |graph| &graph.name));
    }
    if let Some(number) = explain {
        let explanation = hob_plan::explain(&workload, &inputs, explain::choice(&plan, number)?).map_err(refused)?;
        if printer.json_wanted() {
            printer.json("hob.explain/1", &explanation);
        } else {
            explain::show(&explanation, printer);
        }
    } else if printer.json_wanted() {
        printer.json("hob.plan/1", &plan);
    } else if let Some(out) = html {
        let first = plan.first_choice().map(|first| hob_plan::explain(&workload, &inputs, first));
        let explanation = first.transpose().map_err(refused)?;
        html::write(&html::Report { plan: &plan, workload: &workload, explanation, file }, out, printer)?;
    } else {
        show::plan(&plan, file, printer);
    }
    Ok(if plan.is_feasible() { Code::Done } else { Code::NothingFeasible })
}

/// The task that the model tells, where the file does not state one.
fn told_task(workload: &Workload, graph: &ModelGraph) -> Option<Task> {
    match &workload.work {
        Work::Serve(serve) | Work::Batch { serve, .. } => serve.task.is_none().then(|| task_of(graph))?,
        Work::Train(_) => task_of(graph),
        Work::Transcode(_) | Work::Render(_) => None,
    }
}

/// The model that the workload names; a path is relative to the workload file.
fn model(workload: &Workload, file: &Path) -> Result<Option<ModelGraph>, Failure> {
    let reference = match &workload.work {
        Work::Train(train) => &train.model,
        Work::Serve(serve) | Work::Batch { serve, .. } => &serve.model,
        Work::Transcode(_) | Work::Render(_) => return Ok(None),
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    super::model::read(reference, folder).map(Some)
}

fn failure(error: PlanError, source: &Source, printer: &Printer) -> Failure {
    match error {
        PlanError::Misfits(problems) => super::workload::refuse(source, problems, printer),
        PlanError::Unknown(unknown) => super::catalogs::unknown(&unknown),
        PlanError::Machine(error) => super::catalogs::own_machine(&error),
        PlanError::Estimate(error) => Failure::input("E-PLAN", hob_plan::message(&error.sentence())),
        PlanError::NoModel => Failure::input("E-PLAN", Message::new("error-no-model")),
    }
}
