//! Short words for the parts of a plan.

use hob_catalog::ChargeType;
use hob_estimate::{MemoryKind, RenderBasis, Sharding, WeightFormat};
use hob_plan::{Change, Choice, Layout, Speed, Variant, VideoUnit};
use hob_text::Message;
use hob_units::{Interval, Quantity, Share, apart};
use hob_workload::Stage;

use crate::printer::Printer;

/// `2 x tp4 fp8`, `dp8 zero3 mb4`: one token for each dimension that is not 1.
pub fn layout(choice: &Choice) -> String {
    match &choice.solution.layout {
        Layout::Serve { replicas, strategy } => {
            let pipeline = if strategy.pipeline > 1 { format!(" pp{}", strategy.pipeline) } else { String::new() };
            format!("{replicas} x tp{}{pipeline} {}", strategy.tensor, weights(strategy.weights))
        }
        // One replica on each GPU, whose number stands beside it.
        Layout::Forward { strategy, .. } => {
            let precision = format!("{:?}", strategy.precision).to_lowercase();
            format!("batch {} {precision}", strategy.batch)
        }
        Layout::Transcode { unit: VideoUnit::Engines, limit } => format!("{} bound", limit.id()),
        Layout::Transcode { unit: VideoUnit::Cores, limit } => format!("on CPU, {} bound", limit.id()),
        Layout::Render { basis } => match basis {
            RenderBasis::Measured => "measured",
            RenderBasis::ScaledBySameRenderer => "scaled",
            RenderBasis::ScaledByCycles => "scaled roughly",
            RenderBasis::BenchmarkScenes => "benchmark scenes",
        }
        .to_owned(),
        Layout::Train { strategy } => {
            let dimensions = [
                ("dp", strategy.data),
                ("tp", strategy.tensor),
                ("pp", strategy.pipeline),
                ("cp", strategy.context),
                ("ep", strategy.expert),
            ];
            let mut parts: Vec<String> = dimensions
                .iter()
                .filter(|(_, ranks)| *ranks > 1)
                .map(|(name, ranks)| format!("{name}{ranks}"))
                .collect();
            match strategy.sharding {
                Sharding::None => {}
                Sharding::Zero1 => parts.push("zero1".to_owned()),
                Sharding::Zero2 => parts.push("zero2".to_owned()),
                Sharding::Zero3 => parts.push("zero3".to_owned()),
            }
            parts.push(format!("mb{}", strategy.micro_batch));
            parts.push(format!("{:?}", strategy.precision).to_lowercase());
            parts.join(" ")
        }
    }
}

fn weights(format: WeightFormat) -> &'static str {
    match format {
        WeightFormat::AsStored => "as stored",
        WeightFormat::Half => "16-bit",
        WeightFormat::Fp8 => "fp8",
        WeightFormat::Int8 => "int8",
        WeightFormat::Int4 => "int4",
        WeightFormat::Fp4 => "fp4",
    }
}

/// Share of the card that the work takes.
pub fn memory_share(choice: &Choice, printer: &Printer) -> String {
    match &choice.solution.memory {
        Some(memory) => Share(memory.total.mid.base() / memory.usable.base().max(1.0)).to_string(),
        // What transcoding takes of the memory bounds nothing.
        None if matches!(choice.solution.layout, Layout::Transcode { .. }) => "-".to_owned(),
        None => printer.get("no-data"),
    }
}

/// `61 h..70 h`.
pub fn band<Q: Quantity>(interval: Interval<Q>) -> String {
    if interval.low.base() == interval.high.base() {
        interval.mid.to_string()
    } else {
        format!("{}..{}", interval.low, interval.high)
    }
}

/// What a table shows of the speed: the rate that a service carries, the time of a job.
pub fn speed(choice: &Choice) -> String {
    match choice.solution.speed {
        Speed::Service { capacity, .. } => capacity.to_string(),
        Speed::Stream { video_hours_per_hour, .. } => format!("{:.0} h/h", video_hours_per_hour.mid.0),
        Speed::Job { duration, .. } => duration.mid.to_string(),
    }
}

/// A billing mode.
pub fn charge(charge: ChargeType, printer: &Printer) -> String {
    match charge {
        ChargeType::PayAsYouGo => printer.get("charge-on-demand"),
        ChargeType::Monthly => printer.get("charge-monthly"),
        ChargeType::Spot => printer.get("charge-spot"),
        ChargeType::Owned => printer.get("charge-owned"),
        ChargeType::Reserved { term_months } => {
            printer.text(&Message::new("charge-reserved").with("months", term_months))
        }
    }
}

/// The region of an offer, and how many more sell the same; a machine of one's own stands wherever it is.
pub fn region(choice: &Choice, regions: usize, printer: &Printer) -> String {
    let name = if choice.cloud == "own" { printer.get("region-own") } else { choice.region.clone() };
    if regions > 1 { format!("{name} +{}", regions - 1) } else { name }
}

/// A stage.
pub fn stage(stage: Stage, printer: &Printer) -> String {
    printer.get(match stage {
        Stage::Dev => "stage-dev",
        Stage::Production => "stage-production",
    })
}

/// One kind of memory.
pub fn memory(kind: MemoryKind, printer: &Printer) -> String {
    printer.get(kind.id())
}

/// The best offer of one stage, on one line.
pub fn variant(variant: &Variant, printer: &Printer) -> String {
    let Some(choice) = &variant.choice else { return printer.get("plan-variant-none") };
    let cost = choice
        .bills
        .first()
        .map_or_else(|| printer.get("no-data"), |bill| format!("{}, {}", charge(bill.charge, printer), bill.cost));
    format!("{} x {}, {}, {cost}", choice.solution.machines, choice.instance, layout(choice))
}

/// A change of the workload and what it would give.
pub fn change(change: &Change, printer: &Printer) -> String {
    let result = match (&change.choice, change.still_needed) {
        (Some(choice), _) => {
            let cost = choice.bills.first().map(|bill| bill.cost);
            let id = if cost.is_some() { "plan-change-works" } else { "plan-change-works-unpriced" };
            let message =
                Message::new(id).with("machines", choice.solution.machines).with("instance", &choice.instance);
            match cost {
                Some(cost) => message.with("cost", cost),
                None => message,
            }
        }
        (None, Some((needed, usable))) => {
            let (needed, usable) = apart(needed, usable);
            Message::new("plan-change-lacks").with("needed", needed).with("usable", usable)
        }
        (None, None) => Message::new("plan-change-fails"),
    };
    format!("{}: {}", printer.text(&change.what), printer.text(&result))
}

/// A probability, which an estimate never has at either end.
pub fn probability(probability: f64) -> String {
    if probability > 0.99 {
        "> 99%".to_owned()
    } else if probability < 0.01 {
        "< 1%".to_owned()
    } else {
        Share(probability).to_string()
    }
}
