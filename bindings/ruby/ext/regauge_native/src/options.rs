//! Keyword arguments.

use regauge::options::{self, Language, Opt, Secret, Setting, Takes};
use regauge::{Format, Limits, OnLoss, Options, yaml};

use crate::errors::{Call, Phase};
use crate::names::names;
use crate::plain::Plain;
use crate::ruby::{self, Raise, VALUE};

/// The keyword arguments of one call.
pub struct Settings {
    /// The library's options.
    pub core: Options,
    /// Whether keys become symbols.
    pub symbolize: bool,
    /// Whether everything that is loaded is frozen.
    pub freeze: bool,
    /// The classes that Marshal may instantiate: an array, or `nil`.
    pub permit: VALUE,
    /// Called with each object that the format cannot hold; `nil` for none.
    pub default: VALUE,
    /// Whether an object that the format cannot hold is asked for its `to_h`.
    pub to_h: bool,
    /// Whether symbols stay symbols in formats that have them.
    pub symbols: bool,
    /// Whether the readers have default settings, so that a previously used one can be reused.
    pub usual: bool,
    /// What counts as plain data, if nothing else is read or written.
    pub plain: Option<Plain>,
    /// Whether the keywords ask for reading the wrapped notation.
    pub unwrap: Option<bool>,
    /// Whether keywords have the format in their names: those of a conversion.
    is_generic: bool,
    /// The same for the caller's keywords: `Regauge.load` passes them on under their short names.
    is_called_generic: bool,
}

impl Settings {
    /// Returns the options without keyword arguments.
    pub fn new(format: Format) -> Settings {
        let mut core = Options::new(format, format);
        // What PyYAML reads, and close to what Psych does (`Schema::Psych`), which Rails' files expect.
        core.yaml.schema = yaml::Schema::Yaml11;
        core.marshal.inert = true;
        Settings {
            core,
            symbolize: false,
            freeze: false,
            permit: ruby::NIL,
            default: ruby::NIL,
            to_h: false,
            symbols: false,
            usual: true,
            plain: None,
            unwrap: None,
            is_generic: false,
            is_called_generic: false,
        }
    }

    /// The same for a conversion, whose keywords have the format in their names.
    pub fn converting(from: Format, to: Format) -> Settings {
        let mut settings = Settings::new(from);
        settings.core.to = to;
        settings.is_generic = true;
        settings.is_called_generic = true;
        settings
    }

    /// Parses keyword arguments: a hash, or `nil`.
    ///
    /// # Errors
    /// An `ArgumentError` for an unknown name or value.
    pub fn parse(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        Settings::new(format).with(keywords)
    }

    /// Describes the method that was called, for the hint of an error.
    pub fn call(&self, phase: Phase) -> Call {
        Call { phase, is_generic: self.is_called_generic }
    }

    /// Sets the keyword arguments: a hash, or `nil`.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn with(mut self, keywords: VALUE) -> Result<Settings, Raise> {
        let mut result = Ok(());
        if keywords != ruby::NIL {
            ruby::each_pair(keywords, |key, value| {
                result = self.set(key, value);
                result.is_ok()
            });
        }
        result.map(|()| self)
    }

    /// Parses the keyword arguments for loading. `on_loss: :wrap` used to undo the notation: a
    /// caller who still passes it must not get the notation itself.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn loading(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        let settings = Settings::parse(format, keywords)?;
        if settings.core.on_loss == OnLoss::Wrap {
            return Err(ruby::argument_error(
                "on_loss: :wrap is for writing; pass unwrap: true to read what it wrote",
            ));
        }
        Ok(settings)
    }

    /// Parses the keyword arguments of a store, which reads what it wrote.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn storing(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        let mut settings = Settings::parse(format, keywords)?;
        settings.core.unwrap = settings.unwrap.unwrap_or(settings.core.on_loss == OnLoss::Wrap);
        Ok(settings)
    }

    fn set(&mut self, key: VALUE, value: VALUE) -> Result<(), Raise> {
        let truth = value != ruby::NIL && value != ruby::FALSE;
        // A method of all formats says by this key that it is one. It is a module rather than a
        // symbol, so that no keyword of a user can be mistaken for it.
        if key == names().generic {
            self.is_called_generic = truth;
            return Ok(());
        }
        let name = word(key).ok_or_else(|| ruby::argument_error("a keyword is not a symbol"))?;
        match name.as_str() {
            "symbolize_names" => self.symbolize = truth,
            "freeze" => self.freeze = truth,
            "permit" => self.permit = classes_or_nil(value)?,
            "default" => {
                if value != ruby::NIL && !ruby::responds(value, names().id_call)? {
                    return Err(ruby::argument_error("default: takes anything with a method call"));
                }
                self.default = value;
            }
            "to_h" => self.to_h = truth,
            _ => {
                self.usual = false;
                return self.set_core(&name, value, truth);
            }
        }
        Ok(())
    }

    fn set_core(&mut self, name: &str, value: VALUE, truth: bool) -> Result<(), Raise> {
        match name {
            "limits" => self.core.limits = limits(value)?,
            "unwrap" => {
                self.core.unwrap = truth;
                self.unwrap = Some(truth);
            }
            "symbols" => self.symbols = choice(name, value, &[("text", false), ("keep", true)])?,
            "pretty" => self.core.json_write.indent = truth.then_some(2),
            "skip_bad" => {
                deprecated(name, "bad")?;
                self.core.skip_bad = truth;
            }
            "threads" => {
                deprecated(name, "jobs")?;
                self.set_option("jobs", value, truth)?;
            }
            _ => self.set_option(name, value, truth)?,
        }
        Ok(())
    }

    /// Sets the options of the table that have this name, those of the formats at hand first.
    fn set_option(&mut self, name: &str, value: VALUE, truth: bool) -> Result<(), Raise> {
        let formats = [self.core.from, self.core.to];
        let found = options::named(Language::Ruby, name, formats, self.is_generic);
        let Some(first) = found.first() else {
            return Err(ruby::argument_error(&format!("unknown keyword: :{name}")));
        };
        if let Some(instead) = first.instead {
            deprecated(name, instead)?;
        }
        for row in found.iter().map(|named| named.row) {
            if matches!(row.takes, Takes::Paths | Takes::Renames) {
                self.set_paths(row.opt, name, value)?;
                continue;
            }
            let given = word(value).unwrap_or_default();
            let secret = (row.takes == Takes::Secret).then(|| secret_of(value)).flatten();
            let to = match row.takes {
                Takes::Secret => secret.as_ref().map(Setting::Secret),
                Takes::Text => word(value).is_some().then_some(Setting::Text(&given)),
                Takes::Switch | Takes::File => Some(Setting::Switch(truth)),
                Takes::Number(..) => ruby::small_integer(value)
                    .and_then(|number| u64::try_from(number).ok())
                    .map(Setting::Number),
                _ if row.opt == Opt::YamlSchema && given == "1.2" => Some(Setting::Word("core")),
                _ => Some(Setting::Word(row.core_word(Language::Ruby, &given))),
            };
            if !to.is_some_and(|to| self.core.set(row.opt, to)) {
                let expected = row.expected(Language::Ruby);
                return Err(ruby::argument_error(&format!("{name}: takes {expected}")));
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Adds paths to keep or to leave out, from an array, or new names by paths, from a hash.
    fn set_paths(&mut self, opt: Opt, name: &str, value: VALUE) -> Result<(), Raise> {
        use rb_sys::ruby_value_type as kind;
        let select = &mut self.core.select;
        let mut fault = None;
        match (opt, ruby::kind_of(value)) {
            (Opt::Rename, kind::RUBY_T_HASH) => ruby::each_pair(value, |path, new| {
                let added = match (word(path), word(new)) {
                    (Some(path), Some(new)) => select.rename(&path, &new),
                    _ => Err("found no text, expected a path and a name".to_owned()),
                };
                fault = added.err();
                fault.is_none()
            }),
            (Opt::Only | Opt::Drop, kind::RUBY_T_ARRAY) => {
                for index in 0..ruby::array_length(value) {
                    let added = match (word(ruby::array_at(value, index)), opt) {
                        (Some(path), Opt::Drop) => select.drop(&path),
                        (Some(path), _) => select.only(&path),
                        (None, _) => Err("found no text, expected a path".to_owned()),
                    };
                    fault = fault.or(added.err());
                }
            }
            _ => {
                let expected = opt.row().expected(Language::Ruby);
                return Err(ruby::argument_error(&format!("{name}: takes {expected}")));
            }
        }
        match fault {
            Some(fault) => Err(ruby::argument_error(&format!("{name}: {fault}"))),
            None => Ok(()),
        }
    }
}

/// Warns of an old name of an option.
#[cold]
fn deprecated(name: &str, instead: &str) -> Result<(), Raise> {
    let names = names();
    ruby::call(names.regauge, names.id_deprecated, &[ruby::text(name), ruby::text(instead)])?;
    Ok(())
}

/// `Native.own_options(format, keywords)`: the keywords of a method of all formats under the names that
/// they have in the format's module, and a mark for hints; without those of other formats, which have
/// no effect.
pub fn own_options(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, keywords] = arguments else {
        return Err(ruby::argument_error("own_options takes a format and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    let own = ruby::hash();
    let mut result = Ok(());
    ruby::each_pair(keywords, |key, value| {
        result = own_option(format, own, key, value);
        result.is_ok()
    });
    result?;
    ruby::hash_insert(own, &[names().generic, ruby::TRUE], false)?;
    Ok(own)
}

fn own_option(format: Format, own: VALUE, key: VALUE, value: VALUE) -> Result<(), Raise> {
    let name = word(key).unwrap_or_default();
    let found = options::named(Language::Ruby, &name, [format; 2], true);
    let mut key = key;
    if let Some(first) = found.first() {
        if let Some(instead) = first.instead {
            deprecated(&name, instead)?;
        }
        let Some(here) = found.iter().find(|named| named.row.is_for(format)) else {
            return Ok(());
        };
        if let Some(short) = here.row.spelled(Language::Ruby, false) {
            key = ruby::symbol(short);
        }
    }
    ruby::hash_insert(own, &[key, value], true)?;
    Ok(())
}

fn limits(value: VALUE) -> Result<Limits, Raise> {
    let mut limits = Limits::default();
    if value == ruby::NIL {
        return Ok(limits);
    }
    if word(value).as_deref() == Some("none") {
        return Ok(Limits::NONE);
    }
    if ruby::kind_of(value) != rb_sys::ruby_value_type::RUBY_T_HASH {
        return Err(ruby::argument_error("limits: takes a hash such as { depth: 100 }, or :none"));
    }
    let mut set = Ok(());
    ruby::each_pair(value, |key, value| {
        let name = word(key).unwrap_or_default();
        let bound = match ruby::small_integer(value) {
            Some(bound) => u64::try_from(bound).map(Some).ok(),
            None if value == ruby::NIL => Some(None),
            None => None,
        };
        set = match bound {
            Some(bound) => limits.set(&name, bound),
            None => Err(format!("the limit {name} takes a number from 0, or nil for no limit")),
        };
        set.is_ok()
    });
    match set {
        Ok(()) => Ok(limits),
        Err(refused) => Err(ruby::argument_error(&refused)),
    }
}

/// Returns the text of a symbol or string.
pub fn word(value: VALUE) -> Option<String> {
    use rb_sys::ruby_value_type as kind;
    let string = match ruby::kind_of(value) {
        kind::RUBY_T_SYMBOL => ruby::symbol_text(value),
        kind::RUBY_T_STRING => value,
        _ => return None,
    };
    let text = String::from_utf8_lossy(ruby::bytes_of(string)).into_owned();
    ruby::keep(string);
    Some(text)
}

/// Returns the secret in a String that is not empty.
fn secret_of(value: VALUE) -> Option<Secret> {
    if ruby::kind_of(value) != rb_sys::ruby_value_type::RUBY_T_STRING {
        return None;
    }
    let secret = Secret::new(ruby::bytes_of(value));
    ruby::keep(value);
    secret
}

fn choice<T: Copy>(name: &str, value: VALUE, known: &[(&str, T)]) -> Result<T, Raise> {
    let given = word(value).unwrap_or_default();
    known.iter().find(|(word, _)| *word == given).map(|(_, v)| *v).ok_or_else(|| {
        let words: Vec<String> = known.iter().map(|(word, _)| format!(":{word}")).collect();
        ruby::argument_error(&format!("{name}: takes {}", words.join(", ")))
    })
}

/// Returns `permit:`, whose classes a document may name.
fn classes_or_nil(value: VALUE) -> Result<VALUE, Raise> {
    use rb_sys::ruby_value_type as kind;
    let is_class = |value| matches!(ruby::kind_of(value), kind::RUBY_T_CLASS | kind::RUBY_T_MODULE);
    let is_list = value == ruby::NIL
        || ruby::kind_of(value) == kind::RUBY_T_ARRAY
            && ruby::array_values(value).iter().all(|class| is_class(*class));
    if is_list {
        return Ok(value);
    }
    Err(ruby::argument_error("permit: takes an array of classes and modules, not of their names"))
}

/// Returns the permitted class or module (from an array, or `nil`) that has this name; `nil` for
/// none.
pub fn permitted(permit: VALUE, name: VALUE) -> VALUE {
    if permit == ruby::NIL {
        return ruby::NIL;
    }
    let wanted = ruby::bytes_of(name);
    for index in 0..ruby::array_length(permit) {
        let class = ruby::array_at(permit, index);
        use rb_sys::ruby_value_type as kind;
        if !matches!(ruby::kind_of(class), kind::RUBY_T_CLASS | kind::RUBY_T_MODULE) {
            continue;
        }
        let known = ruby::module_name(class);
        if known != ruby::NIL && ruby::bytes_of(known) == wanted {
            return class;
        }
    }
    ruby::NIL
}
