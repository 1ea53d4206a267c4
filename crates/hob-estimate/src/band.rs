//! Arithmetic on bands whose ends matter: rates that bound each other, and rates that scale each other.

use hob_units::{Interval, Quantity};

/// End by end the smaller: the slower of two stages, whose errors are taken as going together.
pub(crate) fn slower<Q: Quantity>(a: Interval<Q>, b: Interval<Q>) -> Interval<Q> {
    let least = |a: Q, b: Q| if b < a { b } else { a };
    Interval { low: least(a.low, b.low), mid: least(a.mid, b.mid), high: least(a.high, b.high) }
}

/// The product of two estimates whose relative errors are independent: they add in quadrature of their logarithms.
pub(crate) fn product<A: Quantity, B: Quantity, R: Quantity>(a: Interval<A>, b: Interval<B>) -> Interval<R> {
    let mid = a.mid.base() * b.mid.base();
    let down = below(a).hypot(below(b));
    let up = above(a).hypot(above(b));
    Interval { low: R::from_base(mid * (-down).exp()), mid: R::from_base(mid), high: R::from_base(mid * up.exp()) }
}

/// The quotient of two estimates whose relative errors are independent.
pub(crate) fn quotient<A: Quantity, B: Quantity, R: Quantity>(a: Interval<A>, b: Interval<B>) -> Interval<R> {
    let mid = a.mid.base() / b.mid.base();
    let down = below(a).hypot(above(b));
    let up = above(a).hypot(below(b));
    Interval { low: R::from_base(mid * (-down).exp()), mid: R::from_base(mid), high: R::from_base(mid * up.exp()) }
}

/// End by end the sum: costs that are high together and low together.
pub(crate) fn plus_together<Q: Quantity>(a: Interval<Q>, b: Interval<Q>) -> Interval<Q> {
    let sum = |a: Q, b: Q| Q::from_base(a.base() + b.base());
    Interval { low: sum(a.low, b.low), mid: sum(a.mid, b.mid), high: sum(a.high, b.high) }
}

/// Log distance from the middle to the low end. A low end of zero is infinitely far.
fn below<Q: Quantity>(band: Interval<Q>) -> f64 {
    if band.low.base() == band.mid.base() { 0.0 } else { (band.mid.base() / band.low.base()).ln() }
}

/// Log distance from the middle to the high end.
fn above<Q: Quantity>(band: Interval<Q>) -> f64 {
    if band.high.base() == band.mid.base() { 0.0 } else { (band.high.base() / band.mid.base()).ln() }
}
