//! The closed form of the queue against a replay of it, item by item.

use super::*;

/// Numbers in (0, 1) that are the same on every machine: xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// Latencies of `items` Poisson arrivals, sorted, when a free replica takes all that wait, at most a full batch; and the
/// mean batch. `seconds[n - 1]` is the time of `n` items.
fn replay(rate: f64, seconds: &[f64], items: usize) -> (Vec<f64>, f64) {
    let mut random = Random(20_261_130);
    let mut clock = 0.0;
    let arrivals: Vec<f64> = (0..items)
        .map(|_| {
            clock -= random.next().ln() / rate;
            clock
        })
        .collect();
    let (mut done, mut free, mut batches, mut latencies) = (0, 0.0_f64, 0, Vec::new());
    while done < items {
        let start = free.max(arrivals[done]);
        let waiting = arrivals[done..].iter().take(seconds.len()).take_while(|at| **at <= start).count().max(1);
        free = start + seconds[waiting - 1];
        latencies.extend(arrivals[done..done + waiting].iter().map(|at| free - at));
        done += waiting;
        batches += 1;
    }
    latencies.sort_by(f64::total_cmp);
    (latencies, items as f64 / f64::from(batches))
}

#[test]
fn the_closed_form_follows_a_replay() {
    let check = |model: &str, gpu: &str, strategy: ForwardStrategy, load: f64| {
        let profile = native(model);
        let seconds: Vec<f64> = (1..=strategy.batch)
            .map(|batch| run(&profile, gpu, ForwardStrategy { batch, ..strategy }).batch_latency.mid.0)
            .collect();
        let rate = load * f64::from(strategy.batch) / seconds.last().unwrap();
        let (latencies, batch) = replay(rate, &seconds, 20_000);
        let world = World::new(gpu, 8);
        let found = profile.service(&world.hardware(), &strategy, PerSecond(rate), &table()).unwrap();
        let what = format!("{model} on {gpu}, batch {}, load {load}", strategy.batch);
        assert!((found.batch / batch - 1.0).abs() < 0.1, "{what}: batch {} against {batch}", found.batch);
        // The far tail of so short a replay is noise: 99 % is looked at, with a wider margin.
        for (percentile, share, margin) in
            [(Percentile4::P50, 0.5, 0.25), (Percentile4::P90, 0.9, 0.4), (Percentile4::P99, 0.99, 0.4)]
        {
            let replayed = latencies[(share * latencies.len() as f64) as usize];
            let closed = found.latency.at(percentile).mid.0;
            assert!((closed / replayed - 1.0).abs() < margin, "{what}, {percentile:?}: {closed} against {replayed}");
        }
    };
    for load in [0.05, 0.2, 0.4, 0.6, 0.8, 0.9] {
        check("resnet50", "t4", ForwardStrategy { batch: 16, ..TRT_INT8 }, load);
        check("resnet50", "t4", ForwardStrategy { batch: 64, ..EAGER }, load);
        check("google-bert/bert-base-uncased", "l4", ForwardStrategy { batch: 4, ..TRT_INT8 }, load);
        check("sdxl", "l40s", ForwardStrategy { batch: 1, ..EAGER }, load);
    }
}
