//! The message catalogue: every sentence a user meets, in English and Simplified Chinese.
