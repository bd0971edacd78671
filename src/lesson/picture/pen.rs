//! What the parts draw with.
