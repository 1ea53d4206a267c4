//! Transcoding and rendering.

use hob_text::Message;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::read::{Located, Positive, Resolution};
use crate::work::{Media, Render, Transcode};

use super::Check;

/// Full HD, the most common format of both: height and width.
const FULL_HD: (u64, u64) = (1080, 1920);
const FULL_HD_SHOWN: &str = "1920x1080";

/// Longest side of video: 16K. Codecs and engines end there or before.
const VIDEO_SIDE_MAX: u64 = 16_384;
/// Renditions of one input; ladders have up to a dozen.
const RENDITIONS_MAX: usize = 64;
/// Frames of one job; a feature film in stereo has 400,000.
const FRAMES: std::ops::RangeInclusive<f64> = 1.0..=1e9;

/// The stated size of a video; reports one that no video has.
fn video_size(stated: Option<&Located<Positive<Resolution>>>, check: &mut Check<'_>) -> Option<(u64, u64)> {
    let size = stated?;
    let (height, width) = size.value.value;
    if height.max(width) > VIDEO_SIDE_MAX {
        let problem = Problem::new(Code::OutOfRange, size.span.clone(), size.field.clone());
        let expected = Message::new("workload-expected-video-size").with("most", VIDEO_SIDE_MAX);
        check.reader.report(problem.with("got", format!("{width}x{height}")).expected(expected));
    }
    Some((height, width))
}

pub(crate) fn transcode(root: &raw::Root, check: &mut Check<'_>) -> Option<Transcode> {
    let Some(video) = &root.video else {
        check.missing("video", Message::new("workload-expected-video"));
        return None;
    };
    let stated = video_size(video.value.resolution.as_ref(), check);
    let input = Media {
        codec: check.or(
            video.value.codec.as_ref().map(|codec| codec.value.value.to_owned()),
            "video.codec",
            "h264".to_owned(),
            "h264",
            "assumed-codec",
        ),
        resolution: check.or(stated, "video.resolution", FULL_HD, FULL_HD_SHOWN, "assumed-full-hd"),
        fps: check.or(video.value.fps.as_ref().map(|fps| fps.value.value), "video.fps", 30.0, "30 fps", "assumed-fps"),
    };
    let (arrives, total) = (&video.value.arrives, &video.value.total);
    if let (Some(arrives), Some(total)) = (arrives, total) {
        check.exclusive(arrives, total);
    }
    let was_reported =
        check.reader.problems.iter().any(|problem| matches!(problem.field.as_str(), "video.arrives" | "video.total"));
    if arrives.is_none() && total.is_none() && !was_reported {
        let problem = Problem::new(Code::NoAmount, video.span.clone(), "video.total");
        check.absent(problem.expected(Message::new("workload-expected-video-amount")));
    }
    let outputs = renditions(root, &input, check);
    let empty = raw::Transcode::default();
    let settings = root.transcode.as_ref().map_or(&empty, |raw| &raw.value);
    let preset = settings.preset.as_ref().map(|preset| preset.value.value.to_owned());
    // Engines of two generations differ by more than two to one, so a rate without its card says nothing.
    if let (None, Some(measured)) =
        (&settings.measured_gpu, settings.measured_encode.as_ref().or(settings.measured_decode.as_ref()))
    {
        let field = "transcode.measured_gpu";
        let was_reported = check.reader.problems.iter().any(|problem| problem.field == field);
        if !was_reported {
            let problem = Problem::new(Code::Missing, measured.span.clone(), field).with("kind", check.kind);
            check.absent(problem.expected(Message::new("workload-expected-measured-gpu")));
        }
    }
    Some(Transcode {
        input,
        outputs: outputs?,
        hours_per_hour: arrives.as_ref().map(|arrives| arrives.value.value),
        hours: total.as_ref().map(|total| total.value.value.as_hours()),
        preset: check.or(preset, "transcode.preset", "p4".to_owned(), "p4", "assumed-preset"),
        measured_encode_fps: settings.measured_encode.as_ref().map(|fps| fps.value.value),
        measured_decode_fps: settings.measured_decode.as_ref().map(|fps| fps.value.value),
        measured_gpu: settings.measured_gpu.as_ref().map(|gpu| gpu.value.0.clone()),
    })
}

fn renditions(root: &raw::Root, input: &Media, check: &mut Check<'_>) -> Option<Vec<Media>> {
    let was_reported = check.reader.problems.iter().any(|problem| problem.field.starts_with("rendition"));
    let list = root.rendition.as_ref().filter(|list| !list.value.0.is_empty());
    let Some(list) = list else {
        if !was_reported {
            check.missing("rendition", Message::new("workload-expected-rendition"));
        }
        return None;
    };
    if list.value.0.len() > RENDITIONS_MAX {
        let problem = Problem::new(Code::TooMany, list.span.clone(), "rendition").with("count", list.value.0.len());
        check.reader.report(problem.with("max", RENDITIONS_MAX));
        return None;
    }
    let mut outputs = Vec::new();
    for item in &list.value.0 {
        let raw = &item.value;
        let under = |key: &str| format!("{}.{key}", item.field);
        let stated = video_size(raw.resolution.as_ref(), check);
        outputs.push(Media {
            codec: check.or(
                raw.codec.as_ref().map(|codec| codec.value.value.to_owned()),
                &under("codec"),
                "h264".to_owned(),
                "h264",
                "assumed-codec",
            ),
            resolution: check.or(
                stated,
                &under("resolution"),
                input.resolution,
                &format!("{}x{}", input.resolution.1, input.resolution.0),
                "assumed-as-input",
            ),
            fps: check.or(
                raw.fps.as_ref().map(|fps| fps.value.value),
                &under("fps"),
                input.fps,
                &format!("{} fps", input.fps),
                "assumed-as-input",
            ),
        });
    }
    Some(outputs)
}

pub(crate) fn render(root: &raw::Root, check: &mut Check<'_>) -> Option<Render> {
    let Some(table) = &root.render else {
        check.missing("render", Message::new("workload-expected-render"));
        return None;
    };
    let raw = &table.value;
    if raw.frames.is_none() && !check.reader.problems.iter().any(|problem| problem.field == "render.frames") {
        let problem = Problem::new(Code::Missing, table.span.clone(), "render.frames").with("kind", check.kind);
        check.absent(problem.expected(Message::new("workload-expected-count").with("example", "3000 frames")));
    }
    if let Some(frames) = raw.frames.as_ref().filter(|frames| !FRAMES.contains(&frames.value.value)) {
        let problem = Problem::new(Code::OutOfRange, frames.span.clone(), "render.frames");
        let expected = Message::new("workload-expected-count").with("example", "3000 frames");
        check.reader.report(problem.with("got", frames.value.value).expected(expected));
    }
    let measured = raw.measured.as_ref().and_then(|measured| {
        let (frame, gpu) = (&measured.value.frame, &measured.value.gpu);
        let was_reported = check.reader.problems.iter().any(|problem| problem.field.starts_with("render.measured"));
        if (frame.is_none() || gpu.is_none()) && !was_reported {
            let problem =
                Problem::new(Code::Missing, measured.span.clone(), "render.measured").with("kind", check.kind);
            check.absent(problem.expected(Message::new("workload-expected-measured-frame")));
        }
        Some((frame.as_ref()?.value.value, gpu.as_ref()?.value.0.clone()))
    });
    let renderer = raw.renderer.as_ref().map(|renderer| renderer.value.0.clone());
    let usual = "blender-cycles";
    Some(Render {
        renderer: check.or(renderer, "render.renderer", usual.to_owned(), usual, "assumed-renderer"),
        frames: raw.frames.as_ref()?.value.value,
        measured_frame: measured,
        resolution: check.or(
            raw.resolution.as_ref().map(|size| size.value.value),
            "render.resolution",
            FULL_HD,
            FULL_HD_SHOWN,
            "assumed-full-hd",
        ),
        samples: raw.samples.as_ref().map(|samples| samples.value.as_u32()),
        scene_memory: raw.scene_memory.as_ref().map(|size| size.value.value),
    })
}
