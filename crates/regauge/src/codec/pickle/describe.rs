//! Descriptions of whatever has no value of its own: classes, calls and objects, as names and data.
//! `docs/formats/pickle.md` defines the layout; the writer reads it back.

use super::arena::{Kind, Node, Step};
use super::understand::understand;
use super::walk::{Run, Task, Walk};
use crate::policy::event::{Origin, Sink, Type};
use crate::{Error, Result};

/// Returns the key of an object's step in its description.
pub(super) fn step_name(step: Step) -> &'static str {
    match step {
        Step::Append => "items",
        Step::SetItems => "pairs",
        Step::Add => "members",
        Step::Build => "state",
    }
}

/// A run of chunks of the same kind.
struct Group {
    step: Step,
    /// The number of its first chunk.
    chunk: u32,
    nodes: u64,
    /// The place of its first node.
    start: u32,
}

impl Walk<'_> {
    /// Emits the description of an object that is not a plain container.
    #[inline(never)]
    pub fn describe<S: Sink + ?Sized>(&mut self, index: u32, sink: &mut S) -> Result {
        let object = *self.arena.object(index);
        let groups = self.groups(index);
        let made_of = self.arena.made_of(index);
        let (first, second, third) =
            (made_of.first().copied(), made_of.get(1).copied(), made_of.get(2).copied());
        match object.kind {
            Kind::Global if groups.is_empty() => return self.global(index, sink),
            Kind::PersistentId | Kind::Extension | Kind::Buffer | Kind::ReadonlyBuffer
                if groups.is_empty() =>
            {
                return self.bare(index, sink);
            }
            Kind::New | Kind::Instance => {
                let kind = if object.kind == Kind::New { "object" } else { "instance" };
                if self.is_empty_tuple(second)
                    && let Some(state) = self.only_state(&groups)
                    && let Some(name) = self.plain_name(first)
                {
                    return self.fields(kind, &name, state, sink);
                }
            }
            Kind::Call => {
                if let Some(name) = self.reconstructed(first, second)
                    && let Some(state) = self.only_state(&groups)
                {
                    return self.fields("reconstructed", &name, state, sink);
                }
            }
            _ => {}
        }
        self.check_callable(first)?;
        let kind = match object.kind {
            Kind::New => "new",
            Kind::NewEx => "new_ex",
            Kind::Instance => "instance_call",
            Kind::Call => "call",
            _ => "changed",
        };
        // The description of something changed in place is about that thing itself.
        let changed = kind == "changed";
        let about = if changed { Some(Node::Object(object.at, index)) } else { first };
        let name = about.and_then(|about| self.name(about)).unwrap_or_default();
        let simple = match changed {
            true => self.simple_name(about).is_some(),
            false => self.plain_name(about).is_some(),
        };
        self.typed(kind, &name, sink)?;
        let mut tasks = Vec::new();
        let mut entries = 0;
        if !simple {
            entries += 1;
            tasks.push(Task::Key("callable"));
            tasks.extend(match changed {
                true => Some(Task::Bare(index)),
                false => about.map(Task::Value),
            });
        }
        if !changed && let Some(Node::Object(_, arguments)) = second {
            self.consume(arguments)?;
            let tuple = self.arena.object(arguments);
            entries += 1;
            tasks.push(Task::Key("args"));
            tasks.push(Task::BeginArray(self.arena.count(arguments)));
            tasks.push(Task::Items(Run::of(tuple.start, tuple.end)));
        }
        if object.kind == Kind::NewEx {
            entries += 1;
            tasks.push(Task::Key("kwargs"));
            tasks.extend(third.map(Task::Value));
        }
        let twice = |group: &Group| groups.iter().filter(|one| one.step == group.step).count() > 1;
        if groups.iter().any(twice) {
            entries += 1;
            tasks.push(Task::Key("steps"));
            tasks.push(Task::BeginArray(groups.len() as u64));
            for group in &groups {
                tasks.push(Task::BeginMap(1));
                self.group(group, &mut tasks);
                tasks.push(Task::EndMap);
            }
            tasks.push(Task::EndArray);
        } else {
            entries += groups.len() as u64;
            for group in &groups {
                self.group(group, &mut tasks);
            }
        }
        self.enter()?;
        sink.begin_map(Some(entries))?;
        self.tasks.push(Task::EndMap);
        // The last task pushed is the first to run.
        self.tasks.extend(tasks.into_iter().rev());
        Ok(())
    }

    /// Refuses a call of something that a known call returned: none of those values can be called,
    /// so Python refuses the pickle too. Without this check, the value itself would be written in
    /// place of the callable, which no reader accepts.
    fn check_callable(&self, callable: Option<Node>) -> Result {
        let Some(Node::Object(_, index)) = callable else { return Ok(()) };
        if !matches!(self.arena.object(index).kind, Kind::Call | Kind::New)
            || understand(self.arena, index, self.input).is_none()
        {
            return Ok(());
        }
        let made_of = self.arena.made_of(index).first();
        let name = made_of.and_then(|class| self.name(*class)).unwrap_or_default();
        Err(Error::syntax(format!("found a value of {name}, expected a callable")).at(self.at()))
    }

    /// Returns the steps of an object. Adjacent steps of the same kind are merged; each `BUILD` is
    /// a step of its own.
    fn groups(&self, index: u32) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut number = self.arena.first_chunk(index);
        while let Some(chunk) = self.arena.chunk(number) {
            let nodes = u64::from(chunk.end - chunk.start);
            match groups.last_mut() {
                Some(last) if last.step == chunk.step && chunk.step != Step::Build => {
                    last.nodes += nodes;
                }
                _ => groups.push(Group {
                    step: chunk.step,
                    chunk: number,
                    nodes,
                    start: chunk.start,
                }),
            }
            number = chunk.next;
        }
        groups
    }

    /// Adds the tasks of one step.
    fn group(&self, group: &Group, tasks: &mut Vec<Task>) {
        tasks.push(Task::Key(step_name(group.step)));
        match group.step {
            Step::Build => {
                let state = self.arena.slots.get(group.start as usize).copied();
                tasks.extend(state.map(Task::Value));
            }
            Step::SetItems => {
                tasks.push(Task::BeginMap(group.nodes / 2));
                tasks.push(Task::Pairs(Run::chunks(group.chunk, group.step)));
            }
            Step::Append | Step::Add => {
                tasks.push(Task::BeginArray(group.nodes));
                tasks.push(Task::Items(Run::chunks(group.chunk, group.step)));
            }
        }
    }

    /// Emits an object without arguments: its type around its fields, or around nothing.
    fn fields<S: Sink + ?Sized>(
        &mut self,
        kind: &str,
        name: &str,
        state: Option<Node>,
        sink: &mut S,
    ) -> Result {
        self.typed(kind, name, sink)?;
        match state {
            None => sink.null(),
            Some(state) => {
                self.tasks.push(Task::Value(state));
                Ok(())
            }
        }
    }

    /// Returns the state of an object if its only change was to be given a dict as its state;
    /// `Some(None)` if it was not changed at all.
    fn only_state(&self, groups: &[Group]) -> Option<Option<Node>> {
        match groups {
            [] => Some(None),
            [one] if one.step == Step::Build => {
                let state = *self.arena.slots.get(one.start as usize)?;
                let Node::Object(_, index) = state else { return None };
                (self.arena.object(index).kind == Kind::Dict).then_some(Some(state))
            }
            _ => None,
        }
    }

    fn is_empty_tuple(&self, node: Option<Node>) -> bool {
        matches!(node, Some(Node::Object(_, index))
            if self.arena.object(index).kind == Kind::Tuple && self.arena.count(index) == 0)
    }

    /// Returns the `module.name` of a global.
    fn name(&self, node: Node) -> Option<String> {
        let (module, name) = self.arena.global(node, self.input)?;
        Some(format!("{module}.{name}"))
    }

    /// Returns the `module.name` of a global that can be split again at the last point.
    fn simple_name(&self, node: Option<Node>) -> Option<String> {
        let (module, name) = self.arena.global(node?, self.input)?;
        (!name.contains('.') && !name.is_empty()).then(|| format!("{module}.{name}"))
    }

    /// Returns the same for a global that was not changed.
    fn plain_name(&self, node: Option<Node>) -> Option<String> {
        self.arena.is_untouched(node?).then(|| self.simple_name(node))?
    }

    /// Returns the class of a call of `copyreg._reconstructor(class, object, None)`, which creates
    /// objects in protocols 0 and 1.
    fn reconstructed(&self, callee: Option<Node>, arguments: Option<Node>) -> Option<String> {
        if self.plain_name(callee)? != "copyreg._reconstructor" {
            return None;
        }
        let Some(Node::Object(_, arguments)) = arguments else { return None };
        let &[class, base, Node::None(_)] = self.arena.made_of(arguments) else { return None };
        if self.plain_name(Some(base))? != "builtins.object" {
            return None;
        }
        self.plain_name(Some(class))
    }

    /// Emits a class or a function by its name.
    fn global<S: Sink + ?Sized>(&mut self, index: u32, sink: &mut S) -> Result {
        let node = Node::Object(0, index);
        let Some((module, name)) = self.arena.global(node, self.input) else {
            return Err(Error::syntax("found a global without a name").at(self.at()));
        };
        let full = format!("{module}.{name}");
        self.spend_text(full.len())?;
        self.enter()?;
        sink.begin_typed(&Type { origin: Origin::Python, kind: "global", name: &full })?;
        sink.str(&format!("{module}:{name}"))?;
        self.leave();
        sink.end_typed()
    }

    /// Emits a description that consists of one value.
    pub fn bare<S: Sink + ?Sized>(&mut self, index: u32, sink: &mut S) -> Result {
        let kind = match self.arena.object(index).kind {
            Kind::Global => return self.global(index, sink),
            Kind::PersistentId => "persistent_id",
            Kind::Extension => "extension",
            Kind::Buffer => "buffer",
            _ => "readonly_buffer",
        };
        let value = self.arena.made_of(index)[0];
        self.typed(kind, "", sink)?;
        self.tasks.push(Task::Value(value));
        Ok(())
    }
}
