//! Words that the sources use for vendors, generations, charge types and the like, and what they mean here.

use hob_units::Period;

use crate::expected::Expected;
use crate::gpu::{GpuArchitecture, Vendor};
use crate::instance::{Availability, GpuLink};
use crate::price::ChargeType;
use crate::provenance::Confidence;

/// Longest commitment that is read: ten years.
const TERM_MONTHS_MAX: u16 = 120;

pub(crate) fn vendor(word: &str) -> Option<Vendor> {
    Some(match word.to_ascii_lowercase().as_str() {
        "nvidia" => Vendor::Nvidia,
        "amd" => Vendor::Amd,
        "intel" => Vendor::Intel,
        _ => Vendor::Other,
    })
}

pub(crate) fn architecture(word: &str) -> GpuArchitecture {
    match word.to_ascii_lowercase().as_str() {
        "blackwell ultra" => GpuArchitecture::Blackwell,
        "cdna 3" => GpuArchitecture::Cdna3,
        word => {
            let known = GpuArchitecture::ALL.into_iter().find(|each| each.word() == word);
            known.unwrap_or(GpuArchitecture::Other)
        }
    }
}

pub(crate) fn confidence(word: &str) -> Option<Confidence> {
    Some(match word.to_ascii_lowercase().as_str() {
        "high" => Confidence::High,
        "medium" => Confidence::Medium,
        "low" => Confidence::Low,
        _ => return None,
    })
}

pub(crate) fn availability(word: &str) -> Option<Availability> {
    Availability::ALL.into_iter().find(|each| each.word().eq_ignore_ascii_case(word))
}

pub(crate) fn gpu_link(word: &str) -> Option<GpuLink> {
    Some(match word.to_ascii_lowercase().as_str() {
        "pcie" => GpuLink::Pcie,
        "nvlink" => GpuLink::Nvlink,
        "nvswitch" => GpuLink::Nvswitch,
        _ => return None,
    })
}

pub(crate) fn yes_no(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

pub(crate) fn period(word: &str) -> Option<Period> {
    Some(match word.to_ascii_lowercase().as_str() {
        "hour" | "h" | "hourly" => Period::Hour,
        "day" | "d" => Period::Day,
        "month" | "monthly" => Period::Month,
        "year" | "yearly" => Period::Year,
        _ => return None,
    })
}

/// The words that the readers below know; what an error offers instead of a wrong one.
pub(crate) const CONFIDENCES: Expected = Expected::OneOf(&["high", "medium", "low"]);
pub(crate) const AVAILABILITIES: Expected =
    Expected::OneOf(&["on_sale", "limited", "invitation_only", "retired", "not_confirmed", "owned"]);
pub(crate) const LINKS: Expected = Expected::OneOf(&["pcie", "nvlink", "nvswitch"]);
pub(crate) const PERIODS: Expected = Expected::OneOf(&["hour", "day", "month", "year"]);
pub(crate) const CHARGES: Expected = Expected::OneOf(&["on-demand", "monthly", "spot", "reserved-12", "owned"]);

/// A way of billing: `on-demand`, `monthly`, `spot`, `reserved-12` (months), `owned`, and the words of the clouds.
#[must_use]
pub fn charge(word: &str) -> Option<ChargeType> {
    let word = word.to_ascii_lowercase().replace('_', "-");
    Some(match word.as_str() {
        "on-demand" | "ondemand" | "pay-as-you-go" | "payg" | "postpaid-by-hour" | "postpaid" | "hourly" => {
            ChargeType::PayAsYouGo
        }
        "monthly" | "prepaid" | "subscription" => ChargeType::Monthly,
        "spot" | "spotpaid" | "preemptible" => ChargeType::Spot,
        "owned" | "own" => ChargeType::Owned,
        other => {
            let term = other.strip_prefix("reserved-")?.trim_end_matches("-months");
            let term_months = match term.strip_suffix('y') {
                Some(years) => years.parse::<u16>().ok()?.checked_mul(12)?,
                None => term.parse::<u16>().ok()?,
            };
            if term_months == 0 || term_months > TERM_MONTHS_MAX {
                return None;
            }
            ChargeType::Reserved { term_months }
        }
    })
}

/// The plain word of a charge type, which [`charge`] reads back.
#[must_use]
pub fn charge_word(charge: ChargeType) -> String {
    match charge {
        ChargeType::PayAsYouGo => "on-demand".to_owned(),
        ChargeType::Monthly => "monthly".to_owned(),
        ChargeType::Spot => "spot".to_owned(),
        ChargeType::Reserved { term_months } => format!("reserved-{term_months}"),
        ChargeType::Owned => "owned".to_owned(),
    }
}
