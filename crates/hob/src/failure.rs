//! What a user reads when a command cannot be done: what happened, detail, hint, and a stable code.

use hob_model::ModelError;
use hob_text::Message;

use crate::exit::Code;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: Code,
    /// Stable id, `E-MODEL-NOT-FOUND`.
    pub id: &'static str,
    /// What happened.
    pub what: Message,
    /// What to do about it.
    pub hint: Option<Message>,
}

impl Failure {
    /// Wrong input.
    pub fn input(id: &'static str, what: Message) -> Self {
        Self { code: Code::WrongInput, id, what, hint: None }
    }

    /// The same failure with an action for the user.
    pub fn hint(mut self, hint: Message) -> Self {
        self.hint = Some(hint);
        self
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Unreadable { path, why } => {
                Self::input("E-UNREADABLE", Message::new("error-unreadable").with("path", path).with("why", why))
                    .hint(Message::new("hint-check-path"))
            }
            ModelError::Malformed { path, format, why } => Self::input(
                "E-MALFORMED",
                Message::new("error-malformed").with("path", path).with("format", format).with("why", why),
            )
            .hint(Message::new("hint-malformed")),
            ModelError::BadField { path, key, why } => Self::input(
                "E-BAD-FIELD",
                Message::new("error-bad-field").with("path", path).with("key", key).with("why", why),
            )
            .hint(Message::new("hint-bad-field")),
            ModelError::TooLarge { path, what, claimed, limit } => Self::input(
                "E-TOO-LARGE",
                Message::new("error-too-large")
                    .with("path", path)
                    .with("what", what)
                    .with("claimed", claimed)
                    .with("limit", limit),
            )
            .hint(Message::new("hint-malformed")),
            ModelError::NotFound { name, similar } => {
                let failure =
                    Self::input("E-MODEL-NOT-FOUND", Message::new("error-model-not-found").with("name", name));
                failure.hint(if similar.is_empty() {
                    Message::new("hint-model-forms")
                } else {
                    Message::new("hint-did-you-mean").with("names", similar.join(", "))
                })
            }
        }
    }
}
