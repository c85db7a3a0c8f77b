//! Changes to documents: commands with many changes, transactions, and conditional changes.

use mongodb::ClientSession;
use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};

use super::MongoDb;
use super::fields::{
    Command, DUPLICATE_KEY, bytes_of, failed, field, first_error, insertion, is_duplicate, stored,
    unreadable, with_value,
};
use super::keys::Form;
use crate::engine::{Change, Layout};
use crate::error::{Error, Result, shown};

const DOING: &str = "change values";

/// Builds a command with its changes, which run in sequence up to the first failure.
fn with_changes(head: &Document, name: &str, changes: &[Document]) -> Document {
    let mut command = head.clone();
    command.insert(name, changes.to_vec());
    command.insert("ordered", true);
    command
}

/// Returns the number of changes done before the one whose key already exists.
fn duplicate_at(error: &Document) -> Option<usize> {
    let duplicate = error.get_i32("code").is_ok_and(|code| code == DUPLICATE_KEY);
    let at = error.get_i32("index").ok().filter(|_| duplicate)?;
    usize::try_from(at).ok()
}

fn refused(layout: &Layout, error: &Document) -> Error {
    Error::Engine {
        doing: format!("{DOING} of {}", layout.table),
        message: error.get_str("errmsg").unwrap_or("the server refused it").to_owned(),
        passing: false,
    }
}

impl MongoDb {
    /// Runs the changes as commands, in a transaction or without one.
    pub(super) async fn change(
        &self,
        layout: &Layout,
        commands: Vec<Command>,
        mut session: Option<&mut ClientSession>,
    ) -> Result {
        for (head, name, all) in commands {
            let mut rest = &all[..];
            // Another client inserted the key at the same moment: what is reported again was not
            // done.
            let mut again = 3;
            loop {
                let command = with_changes(&head, name, rest);
                let answer = self.run(command, session.as_deref_mut()).await?;
                let Some(error) = first_error(&answer) else { break };
                match duplicate_at(error) {
                    Some(done) if again > 0 && session.is_none() && done < rest.len() => {
                        again -= 1;
                        rest = &rest[done..];
                    }
                    _ => return Err(refused(layout, error)),
                }
            }
        }
        Ok(())
    }

    /// Inserts the leading changes that are values of new keys, and returns how many were done. The
    /// order is kept: nothing after an existing key is touched.
    pub(super) async fn insert_new(
        &self,
        layout: &Layout,
        form: Form,
        changes: &[Change<'_>],
        at_most: usize,
    ) -> Result<usize> {
        let mut done = 0;
        while let Some((command, count)) = insertion(layout, form, &changes[done..], at_most)? {
            let (head, name, all) = command;
            let answer = self.run(with_changes(&head, name, &all), None).await?;
            let Some(error) = first_error(&answer) else {
                done += count;
                continue;
            };
            return match duplicate_at(error) {
                Some(at) if at < count => Ok(done + at),
                _ => Err(refused(layout, error)),
            };
        }
        Ok(done)
    }

    /// Runs a command that changes documents, and returns the answer.
    async fn run(
        &self,
        mut command: Document,
        session: Option<&mut ClientSession>,
    ) -> Result<Document> {
        let run = match session {
            Some(session) => self.database.run_command(command).session(session).await,
            None => {
                command.insert("writeConcern", self.write_concern.clone());
                self.database.run_command(command).await
            }
        };
        run.map_err(failed(DOING, false))
    }

    /// Runs the changes in a transaction.
    pub(super) async fn change_at_once(&self, layout: &Layout, commands: Vec<Command>) -> Result {
        let mut session =
            self.database.client().start_session().await.map_err(failed(DOING, true))?;
        session.start_transaction().await.map_err(failed(DOING, true))?;
        if let Err(error) = self.change(layout, commands, Some(&mut session)).await {
            // If it is not ended this way, it times out a little later.
            let _ = session.abort_transaction().await;
            return Err(error);
        }
        let mut again = 3;
        loop {
            match session.commit_transaction().await {
                Ok(()) => return Ok(()),
                // Repeating a commit changes nothing.
                Err(error)
                    if again > 0 && error.contains_label("UnknownTransactionCommitResult") =>
                {
                    again -= 1;
                }
                Err(error) => return Err(failed(DOING, false)(error)),
            }
        }
    }

    /// Puts, deletes or replaces a value if it is still the one seen.
    pub(super) async fn swap_one(
        &self,
        layout: &Layout,
        form: Form,
        (key, seen, new): (&[u8], Option<&[u8]>, Option<&[u8]>),
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        let collection = self.collection(layout);
        let mut filter = Document::new();
        filter.insert(&layout.key, form.field(layout, key)?);
        let Some(seen) = seen else {
            let Some(new) = new else {
                filter.extend(with_value(layout));
                let found = collection.find_one(filter).await.map_err(failed(&doing, true))?;
                return Ok(found.is_none());
            };
            filter.insert(&layout.value, stored(layout, new));
            let document = RawDocumentBuf::try_from(&filter).map_err(|error| Error::Engine {
                doing: doing.clone(),
                message: error.to_string(),
                passing: false,
            })?;
            return match collection.insert_one(document).await {
                Ok(_) => Ok(true),
                Err(error) if is_duplicate(&error) => Ok(false),
                Err(error) => Err(failed(&doing, false)(error)),
            };
        };
        // An adopted field may hold text, or another binary subtype, for which bytes are compared.
        let found = collection.find_one(filter.clone()).await.map_err(failed(&doing, true))?;
        let Some(found) = found else { return Ok(false) };
        let present = field(&found, &layout.value)?;
        if bytes_of(layout, present)?.as_deref() != Some(seen) {
            return Ok(false);
        }
        let present = present.map(Bson::try_from).transpose();
        let present = present.map_err(|error| unreadable(&error))?;
        filter.insert(&layout.value, present.unwrap_or(Bson::Null));
        match new {
            Some(new) => {
                let mut set = Document::new();
                set.insert(&layout.value, stored(layout, new));
                let done = collection.update_one(filter, doc! { "$set": set }).await;
                Ok(done.map_err(failed(&doing, false))?.matched_count == 1)
            }
            None => {
                let done = collection.delete_one(filter).await;
                Ok(done.map_err(failed(&doing, false))?.deleted_count == 1)
            }
        }
    }
}
