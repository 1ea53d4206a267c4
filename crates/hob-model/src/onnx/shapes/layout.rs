//! Operators that move data: reshape, transpose, slice, concatenate, gather, and the shape arithmetic done with them.

use crate::onnx::shapes::arithmetic::{constant, join};
use crate::onnx::shapes::fact::{Fact, Known, axis, sized};
use crate::onnx::tensor::{Element, NUMBERS_MAX};

pub(super) fn rule(op: &str, known: &Known<'_>) -> Option<Vec<Fact>> {
    Some(match op {
        "Constant" => constant(known),
        "Shape" => vec![shape_of(known).unwrap_or_default()],
        "Size" => {
            let count = known.fact(0).and_then(Fact::elements);
            let fact = count.map(|count| Fact::of_numbers(Element::INT64, Vec::new(), vec![count as f64]));
            vec![fact.unwrap_or_default()]
        }
        "ConstantOfShape" => vec![constant_of_shape(known)],
        "Reshape" => moved(known, reshape(known)),
        "Flatten" => moved(known, flatten(known)),
        "Squeeze" => moved(known, squeeze(known)),
        "Unsqueeze" => moved(known, unsqueeze(known)),
        "Transpose" => transposed(known),
        "Concat" | "QLinearConcat" => vec![concat(known, op == "QLinearConcat")],
        "Split" | "SplitToSequence" => split(known),
        "Slice" => vec![slice(known)],
        "Gather" => vec![gather(known)],
        "GatherElements" => known.like_first(known.shape(1).map(<[u64]>::to_vec)),
        "GatherND" => known.like_first(gather_nd(known)),
        "Expand" => known.like_first(expand(known)),
        "Tile" => known.like_first(tile(known)),
        "Pad" => known.like_first(pad(known)),
        "DepthToSpace" => known.like_first(depth_to_space(known)),
        "SpaceToDepth" => known.like_first(space_to_depth(known)),
        "Range" => vec![range(known)],
        "OneHot" => vec![one_hot(known)],
        "EyeLike" => known.like_first(known.shape(0).map(<[u64]>::to_vec)),
        _ => return None,
    })
}

/// The same numbers in another shape.
fn moved(known: &Known<'_>, shape: Option<Vec<u64>>) -> Vec<Fact> {
    let first = known.fact(0).cloned().unwrap_or_default();
    vec![Fact { shape: shape.and_then(sized), ..first }]
}

fn shape_of(known: &Known<'_>) -> Option<Fact> {
    let shape = known.shape(0)?;
    let rank = i64::try_from(shape.len()).ok()?;
    let place = |at: i64| usize::try_from(if at < 0 { at + rank } else { at }.clamp(0, rank)).ok();
    let start = place(known.node.int("start").unwrap_or(0).max(-rank))?;
    let end = place(known.node.int("end").unwrap_or(rank).max(-rank))?;
    let numbers: Vec<f64> = shape.get(start..end.max(start))?.iter().map(|size| *size as f64).collect();
    Some(Fact::of_numbers(Element::INT64, vec![numbers.len() as u64], numbers))
}

fn sizes(numbers: &[f64]) -> Option<Vec<u64>> {
    numbers.iter().map(|number| (*number >= 0.0 && *number < 1e15).then_some(*number as u64)).collect()
}

fn constant_of_shape(known: &Known<'_>) -> Fact {
    let shape = known.numbers(0).and_then(sizes).and_then(sized);
    let value = match known.node.attributes.get("value") {
        Some(crate::onnx::proto::Attribute::Tensor(tensor)) => Some(tensor),
        _ => None,
    };
    let element = value.map_or(Element::FLOAT, |tensor| tensor.element);
    let number = value.map_or(Some(0.0), |tensor| tensor.numbers.as_ref()?.first().copied());
    let count = shape.as_ref().map(|shape| shape.iter().product::<u64>()).filter(|count| *count <= NUMBERS_MAX as u64);
    let numbers = count.zip(number).map(|(count, number)| vec![number; count as usize]);
    Fact { numbers, ..Fact::of_shape(element, shape) }
}

fn reshape(known: &Known<'_>) -> Option<Vec<u64>> {
    let from = known.shape(0)?;
    let wanted = known.ints("shape", 1)?;
    let keeps_zero = known.node.int("allowzero").unwrap_or(0) == 0;
    let total: u64 = from.iter().product();
    let mut shape = Vec::with_capacity(wanted.len());
    let mut free = None;
    for (at, size) in wanted.iter().enumerate() {
        match *size {
            -1 if free.is_none() => {
                free = Some(at);
                shape.push(1);
            }
            0 if keeps_zero => shape.push(*from.get(at)?),
            size => shape.push(u64::try_from(size).ok()?),
        }
    }
    let fixed = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))?;
    match free {
        Some(at) => {
            *shape.get_mut(at)? = total.checked_div(fixed).filter(|rest| rest.checked_mul(fixed) == Some(total))?
        }
        None if fixed != total => return None,
        None => {}
    }
    Some(shape)
}

fn flatten(known: &Known<'_>) -> Option<Vec<u64>> {
    let shape = known.shape(0)?;
    let at = match known.node.int("axis").unwrap_or(1) {
        at if at == shape.len() as i64 => shape.len(),
        at => axis(at, shape.len())?,
    };
    let (outer, inner) = shape.split_at_checked(at)?;
    Some(vec![outer.iter().product(), inner.iter().product()])
}

fn squeeze(known: &Known<'_>) -> Option<Vec<u64>> {
    let shape = known.shape(0)?;
    let axes = known.ints("axes", 1);
    let axes: Option<Vec<usize>> = axes.map(|axes| axes.iter().filter_map(|at| axis(*at, shape.len())).collect());
    let is_kept = |at: usize, size: u64| match &axes {
        Some(axes) => !axes.contains(&at),
        None => size != 1,
    };
    Some(shape.iter().enumerate().filter(|(at, size)| is_kept(*at, **size)).map(|(_, size)| *size).collect())
}

fn unsqueeze(known: &Known<'_>) -> Option<Vec<u64>> {
    let shape = known.shape(0)?;
    let axes = known.ints("axes", 1)?;
    let rank = shape.len().checked_add(axes.len()).filter(|rank| *rank <= 16)?;
    let places: Vec<usize> = axes.iter().map(|at| axis(*at, rank)).collect::<Option<_>>()?;
    let mut rest = shape.iter();
    (0..rank).map(|at| if places.contains(&at) { Some(1) } else { rest.next().copied() }).collect()
}

fn transposed(known: &Known<'_>) -> Vec<Fact> {
    let first = known.fact(0).cloned().unwrap_or_default();
    let shape = known.shape(0).and_then(|shape| match known.node.ints("perm") {
        Some(order) => {
            order.iter().map(|at| shape.get(usize::try_from(*at).ok()?).copied()).collect::<Option<Vec<_>>>()
        }
        None => Some(shape.iter().rev().copied().collect()),
    });
    // Numbers of a matrix would change their order; shapes are vectors.
    let numbers = first.numbers.filter(|_| shape.as_ref().is_some_and(|shape| shape.len() <= 1));
    vec![Fact { shape: shape.and_then(sized), numbers, ..first }]
}

fn concat(known: &Known<'_>, is_quantised: bool) -> Fact {
    // The quantised form has the result's scale and zero point first, then three inputs for each part.
    let places: Vec<usize> = if is_quantised {
        (2..known.node.inputs.len()).step_by(3).collect()
    } else {
        (0..known.node.inputs.len()).collect()
    };
    let element = places.first().map(|at| known.element(*at)).unwrap_or_default();
    let shapes: Option<Vec<&[u64]>> = places.iter().map(|at| known.shape(*at)).collect();
    let shape = shapes.and_then(|shapes| {
        let mut all = shapes.first()?.to_vec();
        let at = axis(known.node.int("axis").unwrap_or(0), all.len())?;
        let sum = shapes.iter().try_fold(0_u64, |sum, shape| sum.checked_add(*shape.get(at)?))?;
        *all.get_mut(at)? = sum;
        Some(all)
    });
    let is_vector = shape.as_ref().is_some_and(|shape| shape.len() == 1);
    let numbers: Option<Vec<&[f64]>> = places.iter().map(|at| known.numbers(*at)).collect();
    let numbers = numbers.filter(|_| is_vector).map(|parts| parts.concat()).filter(|all| all.len() <= NUMBERS_MAX);
    Fact { numbers, ..Fact::of_shape(element, shape) }
}

fn split(known: &Known<'_>) -> Vec<Fact> {
    let parts = known.node.outputs.len();
    let Some(shape) = known.shape(0) else { return vec![Fact::default(); parts] };
    let place = axis(known.node.int("axis").unwrap_or(0), shape.len());
    let Some((place, total)) = place.and_then(|at| Some((at, *shape.get(at)?))) else {
        return vec![Fact::default(); parts];
    };
    let each = total.div_ceil((parts as u64).max(1));
    let given = known.ints("split", 1);
    let mut numbers_left = known.numbers(0).filter(|_| shape.len() == 1);
    (0..parts)
        .map(|at| {
            let size = match &given {
                Some(sizes) => sizes.get(at).and_then(|size| u64::try_from(*size).ok()),
                None => Some(each.min(total.saturating_sub(each.saturating_mul(at as u64)))),
            };
            let mut own = shape.to_vec();
            let shape = size.and_then(|size| {
                *own.get_mut(place)? = size;
                Some(own)
            });
            let numbers = numbers_left.zip(size).and_then(|(left, size)| {
                let (own, rest) = left.split_at_checked(usize::try_from(size).ok()?)?;
                numbers_left = Some(rest);
                Some(own.to_vec())
            });
            Fact { numbers, ..Fact::of_shape(known.element(0), shape) }
        })
        .collect()
}

fn slice(known: &Known<'_>) -> Fact {
    let Some(shape) = known.shape(0) else { return Fact::of_shape(known.element(0), None) };
    let (Some(starts), Some(ends)) = (known.ints("starts", 1), known.ints("ends", 2)) else {
        return Fact::of_shape(known.element(0), None);
    };
    let axes = known.ints("axes", 3).unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = known.ints("steps", 4).unwrap_or_else(|| vec![1; starts.len()]);
    let mut sizes = shape.to_vec();
    let mut numbers = known.numbers(0).filter(|_| shape.len() == 1).map(<[f64]>::to_vec);
    for (((start, end), at), step) in starts.iter().zip(&ends).zip(&axes).zip(&steps) {
        let picked = axis(*at, shape.len()).and_then(|place| {
            let size = i64::try_from(*shape.get(place)?).ok()?;
            let picks = picks(*start, *end, *step, size)?;
            *sizes.get_mut(place)? = picks.count;
            Some(picks)
        });
        let Some(picked) = picked else { return Fact::of_shape(known.element(0), None) };
        numbers = numbers.and_then(|all| {
            (0..picked.count.min(NUMBERS_MAX as u64))
                .map(|at| {
                    let place = picked.first.checked_add(picked.step.checked_mul(i64::try_from(at).ok()?)?)?;
                    all.get(usize::try_from(place).ok()?).copied()
                })
                .collect()
        });
    }
    Fact { numbers, ..Fact::of_shape(known.element(0), Some(sizes)) }
}

struct Picks {
    first: i64,
    step: i64,
    count: u64,
}

/// Places that a slice takes from `size`, by the operator's clamping rule.
fn picks(start: i64, end: i64, step: i64, size: i64) -> Option<Picks> {
    if step == 0 {
        return None;
    }
    let from_end = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let first = from_end(start).clamp(low.max(0).min(high.max(0)), high.max(0));
    let stop = from_end(end).clamp(low, high.max(low));
    let way = if step > 0 { stop.checked_sub(first)? } else { first.checked_sub(stop)? };
    let stride = step.unsigned_abs();
    let count = u64::try_from(way.max(0)).ok()?.div_ceil(stride);
    Some(Picks { first, step, count })
}

fn gather(known: &Known<'_>) -> Fact {
    let (Some(data), Some(indices)) = (known.shape(0), known.shape(1)) else {
        return Fact::of_shape(known.element(0), None);
    };
    let Some(place) = axis(known.node.int("axis").unwrap_or(0), data.len()) else {
        return Fact::of_shape(known.element(0), None);
    };
    let mut shape = data.get(..place).unwrap_or_default().to_vec();
    shape.extend(indices);
    shape.extend(data.get(place + 1..).unwrap_or_default());
    let numbers = known.numbers(0).zip(known.numbers(1)).filter(|_| data.len() == 1).and_then(|(all, places)| {
        places.iter().map(|at| all.get(axis(*at as i64, all.len())?).copied()).collect::<Option<Vec<_>>>()
    });
    Fact { numbers, ..Fact::of_shape(known.element(0), Some(shape)) }
}

fn gather_nd(known: &Known<'_>) -> Option<Vec<u64>> {
    let (data, indices) = (known.shape(0)?, known.shape(1)?);
    let batch = usize::try_from(known.node.int("batch_dims").unwrap_or(0)).ok()?;
    let (depth, outer) = indices.split_last()?;
    let mut shape = outer.to_vec();
    shape.extend(data.get(batch.checked_add(usize::try_from(*depth).ok()?)?..)?);
    Some(shape)
}

fn expand(known: &Known<'_>) -> Option<Vec<u64>> {
    join(known.shape(0)?, &sizes(known.numbers(1)?)?)
}

fn tile(known: &Known<'_>) -> Option<Vec<u64>> {
    let repeats = sizes(known.numbers(1)?)?;
    known.shape(0)?.iter().zip(repeats).map(|(size, repeat)| size.checked_mul(repeat)).collect()
}

fn pad(known: &Known<'_>) -> Option<Vec<u64>> {
    let mut shape = known.shape(0)?.to_vec();
    let pads = known.ints("pads", 1)?;
    let axes = known.ints("axes", 3).unwrap_or_else(|| (0..shape.len() as i64).collect());
    let rank = shape.len();
    for (at, place) in axes.iter().enumerate() {
        let both = pads.get(at)?.checked_add(*pads.get(at.checked_add(axes.len())?)?)?;
        let size = shape.get_mut(axis(*place, rank)?)?;
        *size = size.checked_add_signed(both)?;
    }
    Some(shape)
}

fn depth_to_space(known: &Known<'_>) -> Option<Vec<u64>> {
    let [batch, channels, height, width] = known.shape(0)? else { return None };
    let side = u64::try_from(known.node.int("blocksize")?).ok().filter(|side| *side > 0 && *side < 1 << 16)?;
    Some(vec![*batch, channels / (side * side), height.checked_mul(side)?, width.checked_mul(side)?])
}

fn space_to_depth(known: &Known<'_>) -> Option<Vec<u64>> {
    let [batch, channels, height, width] = known.shape(0)? else { return None };
    let side = u64::try_from(known.node.int("blocksize")?).ok().filter(|side| *side > 0 && *side < 1 << 16)?;
    Some(vec![*batch, channels.checked_mul(side * side)?, height / side, width / side])
}

fn range(known: &Known<'_>) -> Fact {
    let number = |at: usize| known.numbers(at).and_then(|numbers| numbers.first().copied());
    let element = known.element(0);
    let (Some(start), Some(limit), Some(step)) = (number(0), number(1), number(2)) else {
        return Fact::of_shape(element, None);
    };
    let count = ((limit - start) / step).ceil();
    if !(0.0..1e12).contains(&count) {
        return Fact::of_shape(element, None);
    }
    let numbers = (count <= NUMBERS_MAX as f64).then(|| (0..count as u64).map(|at| start + step * at as f64).collect());
    Fact { numbers, ..Fact::of_shape(element, Some(vec![count as u64])) }
}

fn one_hot(known: &Known<'_>) -> Fact {
    let shape = known.shape(0).zip(known.numbers(1)).and_then(|(indices, depth)| {
        let mut shape = indices.to_vec();
        let at = axis(known.node.int("axis").unwrap_or(-1), shape.len() + 1)?;
        shape.insert(at, *sizes(depth)?.first()?);
        Some(shape)
    });
    Fact::of_shape(known.element(2), shape)
}
