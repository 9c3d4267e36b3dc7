//! "Did you mean": the known name nearest to a misspelled one.

/// The number of insertions, deletions, changes and swaps of neighbours between two names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut last = '\0';
    for (row, l) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, &r) in right.iter().enumerate() {
            let change = above[column] + usize::from(l != r);
            let mut best = change.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && l == right[column - 1] && last == r {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
        last = l;
    }
    above[right.len()]
}

/// The candidate nearest to `name`, if one is near enough to be meant.
pub(super) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    if name.len() > 64 {
        return None;
    }
    let most = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 64 && *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(d, candidate)| d <= most && d < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_near_names_only() {
        assert_eq!(nearest("lenght", ["length", "normalize"]), Some("length"));
        assert_eq!(nearest("idx", ["index", "id"]), Some("id"));
        assert_eq!(nearest("foo", ["normalize"]), None);
    }
}
