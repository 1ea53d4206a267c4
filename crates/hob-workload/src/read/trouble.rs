//! Why a text is not a quantity, as a message in either language.

use hob_units::split_number;

use hob_text::Message;

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
