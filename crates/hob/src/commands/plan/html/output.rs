//! Where the page goes. It never takes the place of a file that is not such a page.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use hob_text::Message;

use crate::failure::Failure;
use crate::printer::Printer;

/// What a page says of its maker, in its first lines; a file with these words may be written over.
pub const GENERATOR: &str = "hob plan --html";
/// The generator stands within so many bytes of a page.
const HEAD_BYTES: u64 = 1024;

/// A place for the page; `None` is standard output.
pub struct Target(Option<PathBuf>);

impl Target {
    /// Checks the place before anything is drawn.
    pub fn new(out: Option<&Path>, workload_file: &Path) -> Result<Self, Failure> {
        let path = match out {
            Some(out) if out == OsStr::new("-") => return Ok(Self(None)),
            Some(out) => out.to_owned(),
            None => Path::new(workload_file.file_stem().unwrap_or(OsStr::new("plan"))).with_added_extension("html"),
        };
        match is_ours(&path) {
            Ok(true) => Ok(Self(Some(path))),
            Ok(false) => {
                let what = Message::new("report-error-exists").with("file", path.display());
                Err(Failure::input("E-REPORT-EXISTS", what).hint(Message::new("report-hint-exists")))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self(Some(path))),
            Err(error) => Err(unwritable(&path, &error)),
        }
    }

    /// Writes the page and says where it lies.
    pub fn write(&self, page: &str, printer: &Printer) -> Result<(), Failure> {
        let Some(path) = &self.0 else {
            printer.line(page);
            return Ok(());
        };
        std::fs::write(path, page).map_err(|error| unwritable(path, &error))?;
        printer.note(&printer.text(&Message::new("report-written").with("file", path.display())));
        Ok(())
    }
}

/// Whether the file that is there is a page of ours.
fn is_ours(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).contains(&format!("content=\"{GENERATOR}\"")))
}

fn unwritable(path: &Path, why: &std::io::Error) -> Failure {
    let what = Message::new("report-error-unwritable").with("file", path.display()).with("why", why);
    Failure::input("E-REPORT-UNWRITABLE", what).hint(Message::new("report-hint-unwritable"))
}
