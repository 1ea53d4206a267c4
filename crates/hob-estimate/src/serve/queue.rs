//! From step times to latencies under load.
//!
//! Closed loop: in one request's life every other one in flight is prefilled once, so a request takes its own fixed
//! time, `S` prefills and its decode steps; the running batch follows from Little's law. Open loop: Little's law gives
//! the batch, prefill is an M/G/1 queue, and a full batch makes requests wait like an M/M/m queue (Sakasegawa 1977).

use hob_units::{Interval, PerSecond};

use super::format::quality_note;
use super::load::{Arrival, ServeEstimate, ServeLoad};
use super::machine::Machine;
use super::memory::Room;
use super::profile::ServeProfile;
use super::step::Prefill;
use crate::efficiency::Efficiencies;
use crate::hardware::Hardware;
use crate::percentile::{Percentile4, Percentiles, Wait};
use crate::refusal::EstimateError;
use crate::strategy::ServeStrategy;

/// Beyond this utilisation a queue is called saturated and its wait is held, as a lower bound.
const SATURATED: f64 = 0.99;

/// Halvings when the running batch is solved for: to a millionth of the slots.
const HALVINGS: u32 = 20;

/// Middles of a load's latencies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) running: f64,
    pub(super) saturated: bool,
    /// Time to first token without waiting.
    pub(super) fixed: f64,
    /// Steps of the running batch in it.
    pub(super) first: f64,
    /// A constant wait for a free place (closed loop).
    pub(super) queue: f64,
    /// For prompts before one's own, and for a free place.
    pub(super) waits: [Wait; 2],
    pub(super) tpot: f64,
    pub(super) spread: f64,
    pub(super) output: f64,
    pub(super) rate: f64,
    pub(super) rate_max: f64,
    /// The rate that the queues are computed at: what is asked, held below saturation.
    pub(super) served: f64,
    /// Share of the time in which prompts are prefilled.
    pub(super) busy: f64,
}

/// A replica with everything resolved: answers for any arrival in about a microsecond.
pub(super) struct Replica<'a> {
    pub(super) profile: &'a ServeProfile,
    pub(super) machine: Machine,
    pub(super) room: Room,
    pub(super) load: ServeLoad,
    pub(super) slots: f64,
    pub(super) prefill: Prefill,
    /// Seconds of the replica's time for one prompt: stages overlap different prompts.
    pub(super) prefill_share: f64,
    pub(super) context: f64,
}

impl<'a> Replica<'a> {
    pub(super) fn new(
        profile: &'a ServeProfile,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        table: &Efficiencies,
    ) -> Result<Self, EstimateError> {
        let load = load.bounded();
        let machine = Machine::new(profile, hardware, strategy, table)?;
        let room = profile.room(hardware, strategy, &load, table)?;
        let prefill = profile.prefill(&machine, load.prompt, load.prefix_hit);
        let slots = (room.slots as f64).min(machine.batch_max).max(1.0);
        let prefill_share = prefill.total() / machine.pipeline;
        let context = load.prompt + load.output / 2.0;
        Ok(Self { profile, machine, room, load, slots, prefill, prefill_share, context })
    }

    /// A step as a running request sees it: it is one of the batch itself.
    pub(super) fn step(&self, batch: f64) -> f64 {
        self.profile.decode(&self.machine, batch.max(1.0), self.context).total()
    }

    /// Requests a second with every slot taken.
    pub(super) fn rate_max(&self) -> f64 {
        self.slots / (self.slots * self.prefill_share + self.load.output * self.step(self.slots))
    }

    pub(super) fn at(&self, arrival: Arrival) -> Point {
        match arrival {
            Arrival::Open(rate) => self.open(rate.0.max(0.0)),
            Arrival::Closed(in_flight) => self.closed(f64::from(in_flight.max(1))),
        }
    }

    fn spread(&self, busy: f64) -> f64 {
        self.machine.spread_idle + (self.machine.spread_busy - self.machine.spread_idle) * busy.clamp(0.0, 1.0)
    }

    pub(super) fn closed(&self, in_flight: f64) -> Point {
        let machine = &self.machine;
        let places = in_flight.min(self.slots);
        let prefill = self.prefill.total();
        // Prompts of one step share it, and all get their first token at its end.
        let together = (machine.tokens_max / self.load.prompt).clamp(1.0, places);
        let wait = machine.wait_weight * prefill * (places - 1.0).powf(machine.wait_exponent)
            + machine.prompt_batch * prefill * (together - 1.0);
        // Alone there is no running batch to join.
        let first = machine.first_steps * (1.0 - 1.0 / places);
        // A request's wait cannot exceed the prefills of all the others.
        let wait = wait.min(self.prefill_share * (places - 1.0));
        let at = |batch: f64| {
            let step = self.step(batch);
            let fixed = machine.request_seconds + prefill + first * step;
            let others = (places - 1.0) * self.prefill_share;
            (fixed, fixed + others + (self.load.output - 1.0).max(1.0) * step)
        };
        let batch = solve(places, |batch| {
            let (fixed, life) = at(batch);
            places * (1.0 - (fixed + wait) / life)
        });
        let (fixed, life) = at(batch);
        let steps = (self.load.output - 1.0).max(1.0);
        let tpot = (life - fixed - wait) / steps;
        let queue = (in_flight - places) / places * life;
        let rate = places / life;
        let mean = wait / std::f64::consts::LN_2;
        Point {
            running: batch,
            saturated: in_flight > self.slots,
            fixed,
            first,
            queue,
            waits: [Wait { chance: 1.0, mean }, Wait { chance: 0.0, mean: 0.0 }],
            tpot,
            spread: self.spread(rate * self.prefill_share),
            output: steps,
            rate,
            rate_max: self.rate_max(),
            served: rate,
            busy: rate * self.prefill_share,
        }
    }

    fn open(&self, asked: f64) -> Point {
        let machine = &self.machine;
        let rate_max = self.rate_max();
        let rate = asked.min(rate_max * SATURATED);
        let busy = (rate * self.prefill_share).min(SATURATED);
        let batch = solve(self.slots, |batch| rate * self.load.output * self.step(batch) / (1.0 - busy));
        let step = self.step(batch);
        // Prefills delay running sequences, but no more than when every place is taken.
        let tpot = (step / (1.0 - busy)).min(self.closed(self.slots).tpot);
        let prefill = self.prefill.total();
        let steps = (self.load.output - 1.0).max(1.0);
        let first = machine.first_steps * batch.min(1.0);
        let fixed = machine.request_seconds + prefill + first * step;
        let load = (rate / rate_max).clamp(0.0, SATURATED);
        let power = (2.0 * (self.slots + 1.0)).sqrt() - 1.0;
        let full = Wait { chance: load.powf(power), mean: (prefill + steps * tpot) / self.slots / (1.0 - load) };
        // Prompt lengths vary about as much as exponential ones do: the wait of M/M/1.
        let behind = Wait { chance: busy, mean: self.prefill_share / (1.0 - busy) };
        Point {
            running: batch,
            saturated: asked >= rate_max * SATURATED,
            fixed,
            first,
            queue: 0.0,
            waits: [behind, full],
            tpot,
            spread: self.spread(busy),
            output: steps,
            rate: asked.min(rate_max),
            rate_max,
            served: rate,
            busy,
        }
    }

    pub(super) fn ttft(&self, point: &Point) -> Percentiles {
        Percentiles::around(|p| point.ttft(p), self.machine.factor_ttft, self.machine.factor_tail)
    }

    pub(super) fn tpot(&self, point: &Point) -> Percentiles {
        Percentiles::around(|p| point.tpot(p), self.machine.factor_tpot, self.machine.factor_tail)
    }

    pub(super) fn end_to_end(&self, point: &Point) -> Percentiles {
        Percentiles::around(|p| point.end_to_end(p), self.machine.factor_end_to_end, self.machine.factor_tail)
    }

    /// Whether one sequence fits at all.
    pub(super) fn fits(&self) -> bool {
        self.room.slots > 0
    }

    fn estimate(self) -> ServeEstimate {
        let point = self.at(self.load.arrival);
        let factor = self.machine.factor_end_to_end;
        let rates =
            if self.fits() { throughput(&point, self.load.arrival, factor) } else { Interval::exact(PerSecond(0.0)) };
        let decode = self.profile.decode(&self.machine, point.running.max(1.0), self.context);
        ServeEstimate {
            kv_slots: self.room.slots,
            running: if self.fits() { point.running } else { 0.0 },
            saturated: point.saturated || !self.fits(),
            ttft: self.ttft(&point),
            tpot: self.tpot(&point),
            end_to_end: self.end_to_end(&point),
            requests_per_second: rates,
            output_tokens_per_second: rates.scaled(self.load.output),
            decode_step: decode.terms(self.machine.factor_tpot),
            prefill: self.prefill.terms(self.machine.factor_ttft),
            quality_note: quality_note(self.profile.weights),
            memory: self.room.memory,
        }
    }
}

/// Open loop: what is asked for, unless the replica may be unable to. Closed loop: the request time's band.
fn throughput(point: &Point, arrival: Arrival, factor: f64) -> Interval<PerSecond> {
    match arrival {
        Arrival::Closed(_) => Interval::within_factor(PerSecond(point.rate), factor),
        Arrival::Open(asked) => {
            let asked = asked.0.max(0.0);
            let at = |limit: f64| PerSecond(asked.min(limit));
            Interval { low: at(point.rate_max / factor), mid: at(point.rate_max), high: at(point.rate_max * factor) }
        }
    }
}

impl Point {
    pub(super) fn ttft(&self, percentile: Percentile4) -> f64 {
        self.fixed + self.queue + self.waits.iter().map(|wait| wait.at(percentile)).sum::<f64>()
    }

    pub(super) fn tpot(&self, percentile: Percentile4) -> f64 {
        self.tpot * (percentile.z() * self.spread).exp()
    }

    pub(super) fn end_to_end(&self, percentile: Percentile4) -> f64 {
        let middle = self.ttft(Percentile4::P50) + self.output * self.tpot(Percentile4::P50);
        let first = self.ttft(percentile) - self.ttft(Percentile4::P50);
        let rest = self.output * (self.tpot(percentile) - self.tpot(Percentile4::P50));
        middle + first.hypot(rest)
    }
}

/// The running batch in `0..=most` at which `needed(batch) = batch`, for a `needed` that crosses the diagonal once.
fn solve(most: f64, needed: impl Fn(f64) -> f64) -> f64 {
    if needed(most) >= most {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if needed(middle) >= middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

impl ServeProfile {
    /// Memory and speed of one replica under `load`. The profile's own formats hold; those of `strategy` are not read
    /// again, except to check that the card can do them.
    ///
    /// # Errors
    /// When the layout does not divide the model, the card lacks the format or a rate, or the table a coefficient.
    pub fn estimate(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        table: &Efficiencies,
    ) -> Result<ServeEstimate, EstimateError> {
        Ok(Replica::new(self, hardware, strategy, load, table)?.estimate())
    }
}
