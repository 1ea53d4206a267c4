//! Why a text is not a quantity, as a message in either language.

use hob_units::split_number;

use hob_text::Message;

use super::quantity::Quantity;
use crate::closest::closest;

/// What was meant: the same text in half-width characters, or with the nearest unit.
pub(crate) fn near<Q: Quantity>(text: &str) -> Option<Message> {
    if let Some(plain) = half_width(text).filter(|plain| Q::parse(plain).is_some()) {
        return Some(Message::new("workload-hint-half-width").with("text", format!("\"{plain}\"")));
    }
    let (_, unit) = split_number(text)?;
    let near = nearest_unit(unit, Q::UNITS)?;
    let number = text.trim().strip_suffix(unit)?.trim_end();
    let meant = format!("{number} {near}");
    Q::parse(&meant)?;
    Some(Message::new("workload-hint-did-you-mean").with("suggestion", meant))
}

/// The unit that was begun (`tok`), mistyped (`tokenz`), or shortened in another way (`secs`, `hrs`).
fn nearest_unit(unit: &str, known: &[&'static str]) -> Option<&'static str> {
    /// A longer word that merely begins like a unit is another word.
    const SHORTENED_MAX: usize = 4;
    let unit = unit.to_lowercase();
    let begun = known.iter().copied().find(|known| !unit.is_empty() && known.to_lowercase().starts_with(&unit));
    let mistyped = || closest(&unit, known.iter().copied());
    let shortened = || {
        let begins = known.iter().copied().filter(|known| unit.starts_with(&known.to_lowercase()));
        begins.filter(|_| unit.len() <= SHORTENED_MAX).max_by_key(|known| known.len())
    };
    begun.or_else(mistyped).or_else(shortened)
}

/// The text with the full-width characters of a Chinese keyboard replaced; `None` when it has none.
pub(crate) fn half_width(text: &str) -> Option<String> {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '“' | '”' | '「' | '」' => '"',
            '‘' | '’' => '\'',
            '\u{3000}' => ' ',
            '。' => '.',
            '、' => ',',
            '【' => '[',
            '】' => ']',
            // The full-width forms lie in the order of ASCII.
            '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
            _ => c,
        })
        .collect();
    (plain != text).then_some(plain)
}

/// What is wrong with a `NUMBER UNIT` text that its parser refused.
pub(crate) fn of_quantity(text: &str) -> Message {
    let Some((number, unit)) = split_number(text) else { return Message::new("workload-why-no-number") };
    if number < 0.0 {
        return Message::new("workload-why-negative");
    }
    if unit.is_empty() {
        return Message::new("workload-why-no-unit");
    }
    if number >= 1e18 {
        return Message::new("workload-why-too-large");
    }
    Message::new("workload-why-unit").with("unit", unit)
}

/// What is wrong with an amount of money.
pub(crate) fn of_money(text: &str) -> Message {
    let text = text.trim();
    let amount = text.split('/').next().unwrap_or(text);
    let starts_with_code = amount.len() > 3 && amount.bytes().take(3).all(|byte| byte.is_ascii_uppercase());
    if !starts_with_code {
        return Message::new("workload-why-no-currency");
    }
    let number = amount.get(3..).unwrap_or("").trim();
    match split_number(number) {
        Some((value, _)) if value < 0.0 => Message::new("workload-why-negative"),
        Some((_, "")) => Message::new("workload-why-period"),
        _ => Message::new("workload-why-no-number"),
    }
}
