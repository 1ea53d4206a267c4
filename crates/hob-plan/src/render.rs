//! Rendering: frames are independent, so that machines add up.

use hob_catalog::{Catalog, UnknownName};
use hob_estimate::{
    Fit, Hardware, MediaRates, MemoryEstimate, MemoryKind, MemoryTerm, RenderJob, RenderMemory, TimeTerm,
    estimate_render,
};
use hob_text::Message;
use hob_units::{Interval, PerSecond};
use hob_workload::{Render, Workload};

use crate::bill::Need;
use crate::document::{Layout, Solution, Speed};
use crate::farm::farm;
use crate::limits::Limits;
use crate::reason::Reason;
use crate::search::Found;
use crate::unit::{Output, Unit};

/// The search for one workload.
pub(crate) struct RenderSearch<'a> {
    workload: &'a Workload,
    job: RenderJob,
    rates: &'a MediaRates,
}

impl<'a> RenderSearch<'a> {
    /// # Errors
    /// When the card on which the user measured is not known.
    pub(crate) fn new(
        workload: &'a Workload,
        render: &Render,
        catalog: &Catalog,
        rates: &'a MediaRates,
    ) -> Result<Self, UnknownName> {
        let measured_frame = match &render.measured_frame {
            Some((time, gpu)) => Some((*time, catalog.resolve_gpu(gpu)?.id.clone())),
            None => None,
        };
        let job = RenderJob {
            renderer: render.renderer.clone(),
            frames: render.frames,
            resolution: render.resolution,
            samples: render.samples,
            measured_frame,
            scene_memory: render.scene_memory,
        };
        Ok(Self { workload, job, rates })
    }

    /// The fewest machines that are done in time.
    ///
    /// # Errors
    /// Why this hardware cannot.
    pub(crate) fn best(&self, hardware: &Hardware<'_>, limits: &Limits) -> Result<Found, Reason> {
        let estimate = estimate_render(&self.job, hardware, self.rates)?;
        // A scene that is kept in main memory renders several times slower than the estimate, so it does not count.
        if let Some(memory) = estimate.memory.as_ref().filter(|memory| memory.fit == Fit::DoesNot) {
            return Err(Reason::Memory { needed: memory.needed.mid, usable: memory.usable });
        }
        let gpus = hardware.instance.gpu_count;
        let one: Interval<PerSecond> = estimate.frames_per_hour.scaled(1.0 / 3600.0);
        let farm = farm(self.workload, limits, gpus, one, self.job.frames)?;
        let assumed = estimate.assumed_samples.map(|samples| Message::new("note-samples").with("samples", samples));
        let measure = estimate
            .measurements
            .iter()
            .map(|measurement| Message::new("measure-render").with("command", &measurement.command));
        let solution = Solution {
            machines: farm.machines,
            gpus: farm.machines.saturating_mul(gpus),
            layout: Layout::Render { basis: estimate.basis },
            memory: estimate.memory.as_ref().map(memory),
            speed: Speed::Job {
                duration: farm.duration,
                step: Some(estimate.frame_time),
                items_per_second: one.scaled(f64::from(farm.machines)),
                mfu: None,
            },
            outputs: vec![Output::new(Unit::ThousandFrames, self.job.frames / 1e3)],
            goals: farm.goals,
            time: vec![TimeTerm { what: "frame", time: estimate.frame_time, formula: Some(estimate.formula.clone()) }],
            waits_for_data: None,
            notes: assumed.into_iter().chain(measure).collect(),
        };
        Ok(Found { solution, need: Need::Once(farm.duration) })
    }
}

fn memory(memory: &RenderMemory) -> MemoryEstimate {
    let term = MemoryTerm::new(MemoryKind::Scene, memory.needed, "", &[], Vec::new());
    MemoryEstimate { terms: vec![term], total: memory.needed, usable: memory.usable, fit: memory.fit }
}
