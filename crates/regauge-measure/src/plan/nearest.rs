//! Suggests a name when no contender has the one given.

/// Returns the message for a choice that leaves no contender: the nearest of the names by which
/// contenders are chosen, if one is near, and where to find all of them.
pub(crate) fn no_contender(wanted: &[String], known: &[String]) -> String {
    let names = || known.iter().map(String::as_str);
    let nearest = wanted.iter().find_map(|one| nearest(one, names()));
    let nearest = nearest.map_or(String::new(), |one| format!("the nearest name is {one}; "));
    format!(
        "no contender for this data is called {}; {nearest}--list shows their names, formats and \
         runtimes",
        wanted.join(" or ")
    )
}

/// Returns the known name of which this one seems to be a misspelling, in any case of letters: the
/// nearest one, unless more than a third of its characters differ.
pub fn nearest<'n>(wanted: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &'n str| {
        let longest = wanted.chars().count().max(name.chars().count());
        let distance = strsim::levenshtein(&wanted, &name.to_lowercase());
        (distance * 3 <= longest).then_some((distance, name))
    };
    known.into_iter().filter_map(distance).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let message = |wanted: &str| {
            let known = ["oj", "serde_json", "oj", "bson", "python"].map(str::to_owned);
            no_contender(&[wanted.to_owned()], &known)
        };
        assert_eq!(
            message("Serde-Json"),
            "no contender for this data is called Serde-Json; the nearest name is serde_json; \
             --list shows their names, formats and runtimes"
        );
        assert!(message("pyton").contains("; the nearest name is python; "));
        assert_eq!(
            message("nosuchthing"),
            "no contender for this data is called nosuchthing; --list shows their names, formats \
             and runtimes"
        );
    }
}
