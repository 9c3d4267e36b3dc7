//! Which known word a misspelt one is closest to, for hints.

/// The nearest of `known`, if it is near enough to be a likely slip.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = text.chars().count();
    if !(3..=24).contains(&length) {
        return None;
    }
    let limit = if length < 5 { 1 } else { 2 };
    known
        .into_iter()
        .filter(|word| word.len() > 2 && word.len().abs_diff(length) <= limit)
        .map(|word| (distance(text, word), word))
        .filter(|&(distance, _)| distance > 0 && distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

/// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut row = Vec::with_capacity(to.len() + 1);
        row.push(i + 1);
        for (j, &b) in to.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, j).saturating_add(usize::from(a != b));
            let removed = at(&last, j + 1).saturating_add(1);
            let inserted = at(&row, j).saturating_add(1);
            let mut best = replaced.min(removed).min(inserted);
            let swapped =
                i > 0 && j > 0 && from.get(i - 1) == Some(&b) && to.get(j - 1) == Some(&a);
            if swapped {
                best = best.min(at(&before_last, j - 1).saturating_add(1));
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let known = ["struct", "kernel", "class", "return", "int"];
        assert_eq!(nearest("sturct", known), Some("struct"));
        assert_eq!(nearest("kernal", known), Some("kernel"));
        assert_eq!(nearest("clas", known), Some("class"));
        assert_eq!(nearest("retrun", known), Some("return"));
        assert_eq!(nearest("struct", ["struct"]), None);
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
