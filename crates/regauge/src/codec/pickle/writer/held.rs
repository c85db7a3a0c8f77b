//! Which Python types pickle holds, and what they may contain.

use super::Form;
use crate::codec::pickle::known;
use crate::model::value::Value;
use crate::policy::event::{Origin, Type};

/// A type that pickle holds.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Tuple,
    Set,
    FrozenSet,
    ByteArray,
    Deque(Option<i64>),
    OrderedDict,
    /// Module and name of the factory.
    DefaultDict(Option<(String, String)>),
    Counter,
    Decimal,
    Fraction,
    Range,
    Slice,
    Path(String, String),
    Fold,
    /// The full name.
    Global(String),
    /// `object`: a class without arguments, around its state.
    Object(String, String),
    Instance(String, String),
    Reconstructed(String, String),
    Described(Description, String),
    PersistentId,
    Extension,
    Buffer,
    ReadonlyBuffer,
}

/// The kind of object that a description describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Description {
    Call,
    New,
    NewEx,
    Instance,
    Changed,
}

/// What comes next in the map of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nothing has been written.
    Start,
    Callable,
    /// The callable has been written.
    Called,
    Arguments,
    /// Arguments have been written, and wait for keyword arguments.
    Argued,
    Keywords,
    /// The object has been created.
    Made,
    Items,
    Pairs,
    Members,
    State,
    Steps,
}

impl Held {
    /// Returns the pickle type for this one; `None` if there is none, or it may not be written.
    pub fn of(t: &Type<'_>, calls: bool, protocol: u8) -> Option<Held> {
        if t.origin != Origin::Python {
            return None;
        }
        let split = || {
            let (module, name) = t.name.rsplit_once('.')?;
            let known = known::find(module, name).is_some();
            (!name.is_empty() && (calls || known)).then(|| (module.to_owned(), name.to_owned()))
        };
        let empty = |held| t.name.is_empty().then_some(held);
        // Types that require something from the loading program.
        let calling = |held| calls.then_some(held);
        let described = |description| {
            (calls || split().is_some()).then(|| Held::Described(description, t.name.to_owned()))
        };
        match t.kind {
            "tuple" => empty(Held::Tuple),
            "set" => empty(Held::Set),
            "frozenset" => empty(Held::FrozenSet),
            "bytearray" => empty(Held::ByteArray),
            "ordered_dict" => empty(Held::OrderedDict),
            "counter" => empty(Held::Counter),
            "decimal" => empty(Held::Decimal),
            "fraction" => empty(Held::Fraction),
            "range" => empty(Held::Range),
            "slice" => empty(Held::Slice),
            "fold" => empty(Held::Fold),
            "deque" if t.name.is_empty() => Some(Held::Deque(None)),
            "deque" => {
                let maxlen: i64 = t.name.parse().ok()?;
                (maxlen >= 0 && maxlen.to_string() == t.name).then_some(Held::Deque(Some(maxlen)))
            }
            "defaultdict" if t.name.is_empty() => Some(Held::DefaultDict(None)),
            "defaultdict" => {
                let (module, name) = t.name.rsplit_once('.')?;
                known::find(module, name)?;
                Some(Held::DefaultDict(Some((module.to_owned(), name.to_owned()))))
            }
            "path" => {
                let (module, name) = t.name.rsplit_once('.')?;
                (known::find(module, name)?.what == known::What::Path)
                    .then(|| Held::Path(module.to_owned(), name.to_owned()))
            }
            "global" => (calls || split().is_some()).then(|| Held::Global(t.name.to_owned())),
            "object" => split().map(|(module, name)| Held::Object(module, name)),
            "instance" => split().map(|(module, name)| Held::Instance(module, name)),
            "reconstructed" => split().map(|(module, name)| Held::Reconstructed(module, name)),
            "call" => described(Description::Call),
            "new" => described(Description::New),
            "new_ex" => described(Description::NewEx),
            "instance_call" => described(Description::Instance),
            "changed" => described(Description::Changed),
            "persistent_id" => calling(empty(Held::PersistentId)?),
            "extension" if protocol >= 2 => calling(empty(Held::Extension)?),
            "buffer" if protocol >= 5 => empty(Held::Buffer),
            "readonly_buffer" if protocol >= 5 => empty(Held::ReadonlyBuffer),
            _ => None,
        }
    }

    /// Returns whether it can contain a value of this form.
    pub fn takes(&self, form: Form) -> bool {
        match self {
            Held::Tuple | Held::Set | Held::FrozenSet | Held::Deque(_) => form == Form::Array,
            Held::Range | Held::Slice => form == Form::Array,
            Held::OrderedDict | Held::DefaultDict(_) | Held::Counter => form == Form::Map,
            Held::Described(..) => form == Form::Map,
            Held::ByteArray => form == Form::Bytes,
            Held::Decimal | Held::Fraction | Held::Path(..) | Held::Global(_) => form == Form::Text,
            Held::Extension | Held::Buffer => form == Form::Integer,
            Held::Fold => form == Form::Time,
            Held::Object(..) | Held::Instance(..) | Held::Reconstructed(..) => {
                matches!(form, Form::Null | Form::Map | Form::Other)
            }
            Held::PersistentId | Held::ReadonlyBuffer => true,
        }
    }

    /// Returns whether Python can hash it, so that it can be a member of a set.
    pub fn is_hashable(&self) -> bool {
        !is_changeable(self.name())
    }

    /// Returns whether it is an object of a class, around its state.
    pub fn is_object(&self) -> bool {
        matches!(self, Held::Object(..) | Held::Instance(..) | Held::Reconstructed(..))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Held::Tuple => "tuple",
            Held::Set => "set",
            Held::FrozenSet => "frozenset",
            Held::ByteArray => "bytearray",
            Held::Deque(_) => "deque",
            Held::OrderedDict => "ordered_dict",
            Held::DefaultDict(_) => "defaultdict",
            Held::Counter => "counter",
            Held::Decimal => "decimal",
            Held::Fraction => "fraction",
            Held::Range => "range",
            Held::Slice => "slice",
            Held::Path(..) => "path",
            Held::Fold => "fold",
            Held::Global(_) => "global",
            Held::Object(..) => "object",
            Held::Instance(..) => "instance",
            Held::Reconstructed(..) => "reconstructed",
            Held::Described(..) => "call",
            Held::PersistentId => "persistent_id",
            Held::Extension => "extension",
            Held::Buffer => "buffer",
            Held::ReadonlyBuffer => "readonly_buffer",
        }
    }
}

/// Returns whether values of this kind are mutable, and therefore not hashable in Python.
fn is_changeable(kind: &str) -> bool {
    matches!(kind, "set" | "bytearray" | "deque" | "ordered_dict" | "defaultdict" | "counter")
}

/// Returns whether Python can hash the value, so that it can be a key.
pub(super) fn is_hashable(k: &Value) -> bool {
    match k {
        Value::Map(_) => false,
        Value::Array(values) => values.iter().all(is_hashable),
        Value::Anchor(_, value) => is_hashable(value),
        Value::Typed(t, value) => match (t.origin, t.kind.as_str()) {
            // Slices are hashable from Python 3.12 on.
            (Origin::Python, kind) if is_changeable(kind) || kind == "slice" => false,
            (Origin::Python, "tuple") => is_hashable(value),
            (Origin::Python, _) => true,
            _ => false,
        },
        _ => true,
    }
}
