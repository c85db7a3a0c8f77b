//! Suggests a name when no contender has the one given.

/// Returns the message for a choice that leaves no contender: the nearest name, and all names.
pub(crate) fn no_contender(wanted: &[String], mut known: Vec<String>) -> String {
    known.sort();
    known.dedup();
    let distance = |name: &&String| {
        let name = name.to_lowercase();
        wanted.iter().map(|one| distance(&one.to_lowercase(), &name)).min()
    };
    let nearest = match known.iter().min_by_key(distance) {
        Some(nearest) => format!("the nearest name is {nearest}; "),
        None => String::new(),
    };
    format!(
        "no contender for this data is called {}; {nearest}there are {}",
        wanted.join(" or "),
        known.join(", ")
    )
}

/// Returns how many characters must be inserted, removed or replaced to make one text of the other
/// (Levenshtein's distance).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (index, a) in one.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], index + 1);
        for (place, b) in other.chars().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[place + 1];
            row[place + 1] = changed.min(corner + 1).min(row[place] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_texts() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("json", "json", 0),
            ("serde_jsom", "serde_json", 1),
            ("kitten", "sitting", 3),
            ("né", "ne", 1),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_and_each_is_listed_once() {
        let known = ["oj", "serde_json", "oj", "bson"].map(str::to_owned).to_vec();
        assert_eq!(
            no_contender(&["Serde-Json".to_owned()], known),
            "no contender for this data is called Serde-Json; the nearest name is serde_json; \
             there are bson, oj, serde_json"
        );
        assert_eq!(
            no_contender(&["x".to_owned()], Vec::new()),
            "no contender for this data is called x; there are "
        );
    }
}
