//! The vocabularies, and the small grammar that makes phrases of them.
//!
//! A list is one string, its entries parted by commas without a space after them, so that
//! "World War, 1939-1945" is one entry. Patterns are parted by line ends and hold marks such as
//! `{t}`, replaced by drawn words. In languages with a script of their own each entry has two
//! forms, and a phrase is made in both from the same draws.

mod english;
mod scripts;
mod subjects;
mod western;

use super::rng::Rng;

/// The raw lists of a language other than English.
struct Source {
    code: &'static str,
    script: &'static str,
    native: &'static str,
    given: &'static str,
    surname: &'static str,
    place: &'static str,
    publisher: &'static str,
    topic: &'static str,
    title: &'static str,
    subtitle: &'static str,
    by: &'static str,
}

/// A text in the Latin alphabet, and in the language's own script where it has another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    /// The romanised form, or simply the text.
    pub(super) roman: String,
    /// The form in the other script; empty where there is none.
    pub(super) native: String,
}

impl Phrase {
    /// The same piece of Latin text behind both forms.
    pub(super) fn push(&mut self, text: &str) {
        self.roman.push_str(text);
        if !self.native.is_empty() {
            self.native.push_str(text);
        }
    }
}

type Pair = (&'static str, &'static str);

/// A place of publication.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) name: Pair,
    /// The MARC country code, three characters.
    pub(super) code: &'static str,
}

/// A language and its words.
pub(super) struct Language {
    /// The MARC language code.
    pub(super) code: &'static str,
    /// The script as a linked field names it ($6), empty for Latin.
    pub(super) script: &'static str,
    /// The language's name for itself.
    pub(super) native: &'static str,
    pub(super) given: Vec<Pair>,
    pub(super) surname: Vec<Pair>,
    pub(super) place: Vec<Place>,
    pub(super) publisher: Vec<Pair>,
    pub(super) topic: Vec<Pair>,
    pub(super) title: Vec<Pair>,
    pub(super) subtitle: Vec<Pair>,
    pub(super) by: Vec<Pair>,
}

/// All the words there are.
pub(super) struct Vocabulary {
    /// English first, then the others.
    pub(super) languages: Vec<Language>,
    pub(super) adjective: Vec<&'static str>,
    pub(super) noun: Vec<&'static str>,
    pub(super) verb: Vec<&'static str>,
    /// Regions with their geographic area codes.
    pub(super) region: Vec<Pair>,
    pub(super) sentence: Vec<Pair>,
    pub(super) note: Vec<Pair>,
    pub(super) surname_head: Vec<&'static str>,
    pub(super) surname_tail: Vec<&'static str>,
    pub(super) heading: Vec<&'static str>,
    pub(super) class: Vec<&'static str>,
    pub(super) subdivision: Vec<&'static str>,
    pub(super) form: Vec<&'static str>,
    pub(super) period: Vec<&'static str>,
    pub(super) genre: Vec<&'static str>,
    pub(super) body: Vec<Pair>,
    pub(super) series: Vec<Pair>,
}

/// How often each language of [`Vocabulary::languages`] comes, in parts of 1,000.
pub(super) const LANGUAGE_WEIGHT: [u64; 16] =
    [690, 62, 58, 42, 20, 9, 5, 8, 14, 30, 20, 14, 11, 9, 5, 3];

const CENTURY: [&str; 5] = [
    "sixteenth-century",
    "seventeenth-century",
    "eighteenth-century",
    "nineteenth-century",
    "twentieth-century",
];

const MONTH: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the entries of a list: commas part them, unless a space follows.
fn list(text: &'static str) -> Vec<&'static str> {
    let mut entries = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(',') {
        if !text[at + 1..].starts_with(' ') {
            entries.push(&text[start..at]);
            start = at + 1;
        }
    }
    entries.push(&text[start..]);
    entries
}

fn pair(entry: &'static str) -> Pair {
    entry.split_once('=').unwrap_or((entry, ""))
}

fn pairs(text: &'static str) -> Vec<Pair> {
    list(text).into_iter().map(pair).collect()
}

fn patterns(text: &'static str) -> Vec<Pair> {
    text.lines().map(pair).collect()
}

fn places(text: &'static str) -> Vec<Place> {
    let place = |entry: &'static str| {
        let (name, code) = entry.rsplit_once('=').unwrap_or((entry, "xx "));
        Place { name: pair(name), code }
    };
    list(text).into_iter().map(place).collect()
}

impl Language {
    fn new(source: &Source) -> Language {
        Language {
            code: source.code,
            script: source.script,
            native: source.native,
            given: pairs(source.given),
            surname: pairs(source.surname),
            place: places(source.place),
            publisher: patterns(source.publisher),
            topic: pairs(source.topic),
            title: patterns(source.title),
            subtitle: patterns(source.subtitle),
            by: patterns(source.by),
        }
    }
}

impl Vocabulary {
    pub(super) fn new() -> Vocabulary {
        let english = Source {
            code: "eng",
            script: "",
            native: "English",
            given: english::GIVEN,
            surname: english::SURNAME,
            place: english::PLACE,
            publisher: english::PUBLISHER,
            topic: english::TOPIC,
            title: english::TITLE,
            subtitle: english::SUBTITLE,
            by: "{r}\n{r}\nby {r}\nby {r}\nedited by {r}\n[by] {r}",
        };
        let sources = [
            english,
            western::GERMAN,
            western::FRENCH,
            western::SPANISH,
            western::ITALIAN,
            western::PORTUGUESE,
            western::DUTCH,
            western::LATIN,
            western::POLISH,
            scripts::RUSSIAN,
            scripts::CHINESE,
            scripts::JAPANESE,
            scripts::HEBREW,
            scripts::ARABIC,
            scripts::GREEK,
            scripts::KOREAN,
        ];
        Vocabulary {
            languages: sources.iter().map(Language::new).collect(),
            adjective: list(english::ADJECTIVE),
            noun: list(english::NOUN),
            verb: list(english::VERB),
            region: pairs(english::REGION),
            sentence: patterns(english::SENTENCE),
            note: patterns(english::NOTE),
            surname_head: list(english::SURNAME_HEAD),
            surname_tail: list(english::SURNAME_TAIL),
            heading: list(subjects::HEADING),
            class: list(subjects::CLASS),
            subdivision: list(subjects::SUBDIVISION),
            form: list(subjects::FORM),
            period: list(subjects::PERIOD),
            genre: list(subjects::GENRE),
            body: patterns(subjects::BODY),
            series: patterns(subjects::SERIES),
        }
    }

    /// Returns a surname of `language`: in English a third of them are put together from two
    /// halves, since English books come from everywhere and a closed list would repeat too much.
    pub(super) fn surname(&self, rng: &mut Rng, language: &Language) -> Phrase {
        if language.code == "eng" && rng.chance(450) {
            let roman = format!("{}{}", rng.pick(&self.surname_head), rng.pick(&self.surname_tail));
            return Phrase { roman, native: String::new() };
        }
        phrase(rng.pick_skewed(&language.surname))
    }

    /// Returns a phrase made by `pattern`: each mark drawn once, in both scripts alike. `who`
    /// stands for the mark `{r}`.
    pub(super) fn expand(
        &self,
        rng: &mut Rng,
        language: &Language,
        pattern: Pair,
        who: Option<&Phrase>,
    ) -> Phrase {
        let mut drawn: Vec<(char, Phrase)> = Vec::new();
        let mut fill = |pattern: &str, native: bool| {
            let mut text = String::with_capacity(pattern.len() * 2);
            let mut rest = pattern;
            while let Some((before, after)) = rest.split_once('{') {
                text.push_str(before);
                let mark = after.chars().next().unwrap_or('t');
                rest = &after[mark.len_utf8() + 1..];
                if !drawn.iter().any(|(seen, _)| *seen == mark) {
                    let value = self.draw(rng, language, mark, who, &drawn);
                    drawn.push((mark, value));
                }
                let Some((_, value)) = drawn.iter().find(|(seen, _)| *seen == mark) else {
                    continue;
                };
                text.push_str(if native { &value.native } else { &value.roman });
            }
            text.push_str(rest);
            text
        };
        let roman = fill(pattern.0, false);
        let native = fill(pattern.1, true);
        Phrase { roman, native }
    }

    /// Returns the value of one mark.
    fn draw(
        &self,
        rng: &mut Rng,
        language: &Language,
        mark: char,
        who: Option<&Phrase>,
        drawn: &[(char, Phrase)],
    ) -> Phrase {
        let both = |text: String| Phrase { native: text.clone(), roman: text };
        match mark {
            't' | 'u' => phrase(rng.pick(&language.topic)),
            'T' => both(capitalized(rng.pick(&language.topic).0)),
            'a' | 'b' => both(rng.pick(&self.adjective).to_owned()),
            'A' => both(capitalized(rng.pick(&self.adjective))),
            'o' | 'q' => both(rng.pick(&self.noun).to_owned()),
            'v' => both(rng.pick(&self.verb).to_owned()),
            'n' | 'm' => self.surname(rng, language),
            'p' => {
                let (roman, native) = rng.pick(&language.place).name;
                phrase((roman.split(',').next().unwrap_or(roman), native))
            }
            'g' => both(rng.pick_skewed(&self.region).0.to_owned()),
            'c' => both(rng.pick(&CENTURY).to_owned()),
            'y' => both(rng.between(1780, 1950).to_string()),
            'z' => {
                let earlier = drawn.iter().find(|(seen, _)| *seen == 'y');
                let from = earlier.and_then(|(_, year)| year.roman.parse().ok()).unwrap_or(1900);
                both((from + rng.between(1, 60)).to_string())
            }
            'd' => both(format!(
                "{} {}, {}",
                rng.pick(&MONTH),
                rng.between(1, 28),
                rng.between(1890, 2005)
            )),
            'e' => {
                let pattern = rng.pick(&language.title);
                self.expand(rng, language, pattern, who)
            }
            'x' => both(rng.between(2, 4000).to_string()),
            'r' => who.cloned().unwrap_or_default(),
            _ => Phrase::default(),
        }
    }

    /// Returns a sentence of a summary.
    pub(super) fn sentence(&self, rng: &mut Rng) -> String {
        let pattern = rng.pick(&self.sentence);
        capitalized(&self.expand(rng, &self.languages[0], pattern, None).roman)
    }
}

fn phrase((roman, native): Pair) -> Phrase {
    Phrase { roman: roman.to_owned(), native: native.to_owned() }
}

/// `text` with its first letter in upper case.
pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_at_commas_without_a_space() {
        assert_eq!(list("a,b, c,d"), ["a", "b, c", "d"]);
        assert_eq!(list("Berlin=gw ,Wien=au "), ["Berlin=gw ", "Wien=au "]);
    }

    #[test]
    fn every_entry_is_whole() {
        let words = Vocabulary::new();
        assert_eq!(words.languages.len(), LANGUAGE_WEIGHT.len());
        assert_eq!(LANGUAGE_WEIGHT.iter().sum::<u64>(), 1000);
        for language in &words.languages {
            assert_eq!(language.code.len(), 3);
            for place in &language.place {
                assert_eq!(place.code.len(), 3, "{} {:?}", language.code, place.name);
            }
            let lists = [&language.given, &language.surname, &language.topic, &language.publisher];
            for entry in lists.into_iter().chain([&language.title, &language.by]).flatten() {
                assert!(!entry.0.is_empty(), "{}: empty entry", language.code);
                // A second form exactly where the language has a script for it.
                assert_eq!(
                    entry.1.is_empty(),
                    language.script.is_empty(),
                    "{}: {entry:?}",
                    language.code
                );
            }
        }
        for (name, code) in &words.region {
            assert_eq!(code.trim_end().len(), 7.min(code.len()), "{name}");
        }
    }

    #[test]
    fn no_mark_is_left_in_a_phrase() {
        let words = Vocabulary::new();
        let mut rng = Rng::for_item(0, 0, 0);
        for language in &words.languages {
            for list in [&language.title, &language.subtitle, &language.publisher] {
                for pattern in list {
                    let made = words.expand(&mut rng, language, *pattern, None);
                    assert!(!made.roman.contains(['{', '}', '=']), "{made:?}");
                    assert_eq!(made.native.is_empty(), language.script.is_empty(), "{made:?}");
                }
            }
        }
        let english = &words.languages[0];
        for list in [&words.sentence, &words.note, &words.body, &words.series] {
            for pattern in list {
                let made = words.expand(&mut rng, english, *pattern, None);
                assert!(!made.roman.contains(['{', '}']), "{made:?}");
            }
        }
    }
}
