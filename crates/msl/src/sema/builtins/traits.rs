//! The class and variable templates of the standard library.

/// The library's template of a name.
pub(in super::super) fn find(name: &str) -> Option<&'static str> {
    const KNOWN: &[&str] = &["vec", "packed_vec"];
    KNOWN.iter().copied().find(|known| *known == name)
}
