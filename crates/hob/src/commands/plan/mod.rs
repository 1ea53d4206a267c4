//! `hob plan FILE`.

mod explain;
mod html;
mod show;
mod words;

use std::path::{Path, PathBuf};

use hob_estimate::{Efficiencies, FeedRates, MediaRates};
use hob_model::ModelGraph;
use hob_plan::{Inputs, PlanError, plan};
use hob_text::Message;
use hob_workload::{Work, Workload};

use crate::exit::Code;
use crate::failure::Failure;
use crate::printer::Printer;

/// Plans and prints.
pub fn run(
    file: &Path,
    explain: Option<usize>,
    html: Option<Option<&Path>>,
    catalogs: &[PathBuf],
    printer: &Printer,
) -> Result<Code, Failure> {
    let workload = super::workload::read(file, printer)?;
    let catalog = super::catalogs::of_workload(&workload, file, catalogs, printer)?;
    let graph = model(&workload, file)?;
    let table = Efficiencies::embedded()
        .map_err(|error| Failure::input("E-TABLE", Message::new("error-plain").with("why", error)))?;
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
    let plan = plan(&workload, &inputs).map_err(failure)?;
    if printer.json_wanted() {
        printer.json("hob.plan/1", &plan);
    } else if let Some(out) = html {
        html::write(&plan, &workload, file, out, printer)?;
    } else if let Some(number) = explain {
        explain::offer(&plan, number, printer)?;
    } else {
        show::plan(&plan, file, printer);
    }
    Ok(if plan.is_feasible() { Code::Done } else { Code::NothingFeasible })
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

fn failure(error: PlanError) -> Failure {
    match error {
        PlanError::Unknown(unknown) => super::catalogs::unknown(&unknown),
        PlanError::Machine(error) => super::catalogs::own_machine(&error),
        PlanError::Estimate(error) => Failure::input("E-PLAN", hob_plan::message(&error.sentence())),
        PlanError::NoModel => Failure::input("E-PLAN", Message::new("error-no-model")),
    }
}
