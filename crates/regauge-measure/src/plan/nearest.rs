//! Suggests a name when no contender has the one given.

/// Returns the message for a choice that leaves no contender: the nearest of the names by which
/// contenders are chosen, if one is near, and where to find all of them.
pub(crate) fn no_contender(wanted: &[String], mut known: Vec<String>) -> String {
    known.sort();
    known.dedup();
    let nearest = known.iter().filter_map(|name| Some((distance_to(wanted, name)?, name))).min();
    let nearest = match nearest {
        Some((_, nearest)) => format!("the nearest name is {nearest}; "),
        None => String::new(),
    };
    format!(
        "no contender for this data is called {}; {nearest}--list shows their names, formats and \
         runtimes",
        wanted.join(" or ")
    )
}

/// Returns how far a name is from the nearest of those wanted, or nothing if it is not a misspelling
/// of any: if more than a third of its characters differ.
fn distance_to(wanted: &[String], name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    wanted
        .iter()
        .filter_map(|one| {
            let one = one.to_lowercase();
            let longest = one.chars().count().max(name.chars().count());
            Some(strsim::levenshtein(&one, &name)).filter(|distance| distance * 3 <= longest)
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let message = |wanted: &str| {
            let known = ["oj", "serde_json", "oj", "bson", "python"].map(str::to_owned).to_vec();
            no_contender(&[wanted.to_owned()], known)
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
