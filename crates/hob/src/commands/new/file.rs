//! Where the new file goes. It appears whole or not at all, and never in place of another by accident.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use hob_text::Message;

use crate::failure::Failure;
use crate::printer::Printer;

/// A place for the text.
pub struct Target {
    /// `None` is standard output.
    path: Option<PathBuf>,
    name: String,
    may_replace: bool,
}

impl Target {
    /// Checks the place before anything is asked; `-` is standard output.
    pub fn new(out: &Path, may_replace: bool) -> Result<Self, Failure> {
        if out == OsStr::new("-") {
            return Ok(Self { path: None, name: "hob.toml".to_owned(), may_replace });
        }
        let target = Self { path: Some(out.to_owned()), name: out.display().to_string(), may_replace };
        if out.is_dir() || (out.exists() && !may_replace) {
            return Err(target.exists());
        }
        Ok(target)
    }

    /// The file's name, as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder in which the file is to lie; paths in it are relative to that.
    pub fn folder(&self) -> &Path {
        let folder = self.path.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// Writes the text and says what comes next.
    pub fn write(&self, text: &str, printer: &Printer) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            printer.line(text.trim_end());
            printer.note(&printer.get("new-next"));
            return Ok(());
        };
        let unwritable = |why: &std::io::Error| {
            let what = Message::new("new-error-unwritable").with("file", &self.name).with("why", why);
            Failure::input("E-NEW-UNWRITABLE", what).hint(Message::new("new-hint-unwritable"))
        };
        let mut whole = self.beside().map_err(|error| unwritable(&error))?;
        whole.write_all(text.as_bytes()).map_err(|error| unwritable(&error))?;
        let placed = if self.may_replace { whole.persist(path) } else { whole.persist_noclobber(path) };
        match placed {
            // Another program made the file while the questions were answered.
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => return Err(self.exists()),
            Err(error) => return Err(unwritable(&error.error)),
            Ok(_) => {}
        }
        printer.note(&printer.text(&Message::new("new-written").with("file", &self.name)));
        Ok(())
    }

    /// A file beside the target that is renamed once it is whole, and is removed if it never is.
    fn beside(&self) -> std::io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hob-new-");
        #[cfg(unix)]
        {
            // A workload file is for the team to read; the user's mask still applies.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(self.folder())
    }

    fn exists(&self) -> Failure {
        let what = Message::new("new-error-exists").with("file", &self.name);
        Failure::input("E-NEW-EXISTS", what).hint(Message::new("new-hint-force"))
    }
}
