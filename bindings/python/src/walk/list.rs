//! Lists, and tuples that are written as them.

use regauge::Result;
use regauge::event::Sink;
use regauge::path::Step;

use super::shared::Shared;
use super::{Object, Walker, changed, leaf};
use crate::raw::inside::Items;
use crate::raw::number;
use crate::raw::view::{self, Kind, Text};

impl<'py> Walker<'py> {
    /// Walks a list, or a tuple that is written as one.
    ///
    /// As long as its values are leaves or empty, no code can change it: so it need not be held before there is another one.
    #[inline(never)]
    pub(super) fn list<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        kind: Kind,
        sink: &mut S,
    ) -> Result {
        if !matches!(self.shared, Shared::None) || !self.may_go_along() {
            return self.held_list(object, kind, sink);
        }
        let Some((mut items, count)) = Items::new(object, kind) else {
            return self.held_list(object, kind, sink);
        };
        self.enter()?;
        sink.begin_array(Some(count as u64))?;
        loop {
            let rest = items.clone();
            let Some(item) = items.next() else { break };
            let of = view::kind(&item);
            let done = 'leaf: {
                'apart: {
                    if of == Kind::Constant {
                        break 'apart;
                    }
                    break 'leaf leaf!('apart, of, &item, sink);
                }
                if of == Kind::Constant {
                    return self.constants(object, rest, sink);
                }
                if let Some(done) = self.bare(of, &item, sink) {
                    break 'leaf done;
                }
                let _held = object.clone();
                return self.rest_of_list(rest, sink);
            };
            if let Err(error) = done {
                return Err(self.failed_at(error, Step::Index(items.index())));
            }
        }
        sink.end_array()?;
        self.depth -= 1;
        Ok(())
    }

    /// Walks the rest of what is in a list or tuple, which begins with a constant: a constant mostly follows, which its
    /// address alone tells.
    #[inline(never)]
    fn constants<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        mut items: Items<'_, 'py>,
        sink: &mut S,
    ) -> Result {
        while let Some(item) = items.next_constant() {
            if let Err(error) = sink.constant(view::constant(&item)) {
                return Err(self.failed_at(error, Step::Index(items.index())));
            }
        }
        let _held = object.clone();
        self.rest_of_list(items, sink)
    }

    /// Walks a list, or a tuple that is written as one, that may occur elsewhere too, or whose memory is not read.
    #[inline(never)]
    fn held_list<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        kind: Kind,
        sink: &mut S,
    ) -> Result {
        // Held, because its content may change its container.
        let object = &object.clone();
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        self.items(object, kind, sink)?;
        self.end_anchor(object, sink)
    }

    /// Walks what is in a list or tuple, which the caller holds.
    #[inline]
    pub(super) fn items<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        kind: Kind,
        sink: &mut S,
    ) -> Result {
        self.enter()?;
        let Some((items, count)) = self.may_go_along().then(|| Items::new(object, kind)).flatten()
        else {
            return self.list_step_by_step(object, kind, sink);
        };
        sink.begin_array(Some(count as u64))?;
        self.rest_of_list(items, sink)
    }

    /// Walks the rest of what is in a list or tuple, which the caller holds.
    #[inline(never)]
    fn rest_of_list<S: Sink + ?Sized>(
        &mut self,
        mut items: Items<'_, 'py>,
        sink: &mut S,
    ) -> Result {
        let mut ran = self.ran;
        while let Some(item) = items.next() {
            let of = view::kind(&item);
            let done = 'done: {
                'apart: {
                    break 'done leaf!('apart, of, &item, sink);
                }
                let done = match of {
                    Kind::Text => {
                        // Finding that out may have run Python code.
                        self.ran += 1;
                        let Some(item) = items.clone().again() else { return Err(changed("list")) };
                        self.value(&item, sink)
                    }
                    of => self.apart(of, &item, sink),
                };
                if self.ran != ran && done.is_ok() {
                    ran = self.ran;
                    if !items.renew() {
                        return Err(changed("list"));
                    }
                }
                done
            };
            if let Err(error) = done {
                return Err(self.failed_at(error, Step::Index(items.index())));
            }
        }
        if items.has_changed() {
            return Err(changed("list"));
        }
        sink.end_array()?;
        self.depth -= 1;
        Ok(())
    }

    /// Walks a list or tuple, looking it up again for each value.
    #[inline(never)]
    fn list_step_by_step<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        kind: Kind,
        sink: &mut S,
    ) -> Result {
        let Some((held, of)) = view::still(object, kind) else { return Err(self.python()) };
        let (count, ran) = (view::count(&held, of), self.ran);
        sink.begin_array(Some(count as u64))?;
        for index in 0..count {
            let Some(item) = view::item(&held, of, index) else {
                return Err(changed("list"));
            };
            let item: &Object<'py> = &item;
            if let Err(error) = self.value(&item.clone(), sink) {
                return Err(self.failed_at(error, Step::Index(index as u64)));
            }
        }
        if self.may_have_changed(ran) && view::count(object, kind) != count {
            return Err(changed("list"));
        }
        sink.end_array()?;
        self.depth -= 1;
        Ok(())
    }
}
