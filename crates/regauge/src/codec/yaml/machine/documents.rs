//! Where documents begin and end: directives, markers, byte order marks.

use super::super::event::Handler;
use super::super::fault;
use super::{Run, State, Step};
use crate::bytes::reader::Status;

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Handles the state between documents.
    pub(super) fn between(&mut self) -> Step<Option<Status>> {
        self.skip()?;
        if self.is_end(self.at) {
            if self.m.directives {
                return Err(fault::directives_without_document(None).at(self.at as u64).into());
            }
            return Ok(Some(Status::End));
        }
        if self.m.after_dots {
            if !self.m.fresh {
                let found = self.found(self.at)?;
                return Err(fault::after_dots(&found).at(self.at as u64).into());
            }
            self.m.after_dots = false;
        }
        let at_margin = self.line == self.at as isize;
        if at_margin {
            match self.bytes[self.at] {
                b'%' if !self.m.explicit => {
                    self.directive()?;
                    return Ok(None);
                }
                b'-' if self.is_marker(self.at)? => {
                    self.h.begin_document(true)?;
                    self.took(self.at + 3);
                    self.open_document();
                    return Ok(None);
                }
                b'.' if self.is_marker(self.at)? => {
                    if self.m.directives {
                        let fault = fault::directives_without_document(Some("`...`"));
                        return Err(fault.at(self.at as u64).into());
                    }
                    self.took(self.at + 3);
                    (self.m.after_dots, self.m.explicit) = (true, false);
                    return Ok(None);
                }
                // Allowed before a document, but not between its directives and `---`.
                0xEF if !self.m.directives && self.is_byte_order_mark(self.at) => {
                    self.took_line(self.at + 3);
                    return Ok(None);
                }
                _ => {}
            }
        }
        if self.m.explicit {
            let found = self.found(self.at)?;
            return Err(fault::behind_byte_order_mark(&found).at(self.at as u64).into());
        }
        if self.m.directives {
            let found = self.found(self.at)?;
            let fault = fault::directives_without_document(Some(&found));
            return Err(fault.at(self.at as u64).into());
        }
        self.h.begin_document(false)?;
        self.open_document();
        Ok(None)
    }

    fn open_document(&mut self) {
        (self.m.directives, self.m.version, self.m.compact) = (false, false, false);
        self.m.explicit = false;
        self.m.state = State::Node;
    }

    /// Ends the document: the root is complete, and the input ends or a marker is at `at`.
    pub(in crate::codec::yaml) fn end_document(&mut self) -> Step<Status> {
        let next = self.bytes.get(self.at);
        let dots = next == Some(&b'.');
        self.m.explicit = next == Some(&0xEF);
        self.h.end_document(dots)?;
        if dots {
            self.took(self.at + 3);
            self.m.after_dots = true;
        }
        self.m.handles.clear();
        self.m.state = State::Between;
        Ok(Status::Document)
    }
}
