//! The one table of exit codes (docs/src/exit-codes.md).

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Done.
    Done = 0,
    /// Wrong input or usage; nothing was changed.
    WrongInput = 2,
    /// Nothing that is allowed can do it.
    NothingFeasible = 3,
    /// Something outside did not answer, such as a full disk.
    Outside = 5,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}
