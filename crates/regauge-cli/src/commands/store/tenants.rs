//! `regauge store tenants`: the gateway's tenants and tokens.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use regauge::Format;
use regauge::output::Output as _;
use regauge_gateway::tenants::{
    self, Home, Limits, Place, Scope, Scopes, State, Tenant, TenantId, Token, TokenId, TokenText,
    now,
};
use regauge_store::Codec;

use super::{failure, time};
use crate::args::{Loss, format};
use crate::commands::convert::{check_terminal, is_stream, output_format};
use crate::failure::{Failure, Result, complain};
use crate::output::Destination;
use crate::report::print;

const EXAMPLES: &str = "\
Examples:
  regauge store tenants create acme globex
  regauge store tenants token create acme --scope read --expires 90d
  regauge store tenants token create --scope admin
      creates a gateway token, for /v1/admin
  regauge store tenants suspend acme
  regauge store tenants move acme --to shared
  regauge store tenants export acme acme.ndjson

A running gateway picks up changes made here within a second. While it runs, `move` and `drop` are
available only through the gateway, under /v1/admin.";

/// Values per page of an export.
const PAGE: usize = 256;

/// Manage the gateway's tenants and their tokens
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TenantsArguments {
    /// Data folder of the gateway
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        env = "REGAUGE_GATEWAY_DATA",
        default_value = "gateway-data"
    )]
    pub data: PathBuf,
    #[command(subcommand)]
    pub command: TenantsCommand,
}

#[derive(Debug, Subcommand)]
pub enum TenantsCommand {
    /// Create tenants
    Create {
        /// Names of the tenants: a to z, 0 to 9 and -
        #[arg(required = true, value_name = "TENANT")]
        ids: Vec<TenantId>,
        /// Where their values are stored: own, one file per tenant, or shared, one file for all
        #[arg(long, default_value = "own", value_name = "PLACE")]
        place: Place,
        /// Codec of their values
        #[arg(long, default_value = "msgpack", value_name = "CODEC")]
        codec: Codec,
        /// Maximum size of a request body, in bytes [default: from the configuration]
        #[arg(long, value_name = "BYTES")]
        body_bytes: Option<u64>,
        /// Maximum nesting depth of a document [default: from the configuration]
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
        /// Requests per second [default: from the configuration]
        #[arg(long, value_name = "N")]
        rate: Option<u32>,
        /// Concurrent requests [default: from the configuration]
        #[arg(long, value_name = "N")]
        concurrency: Option<u32>,
    },
    /// List the tenants
    List {
        /// List only names after this one
        #[arg(long, value_name = "TENANT")]
        after: Option<TenantId>,
        /// Maximum number of tenants
        #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true)]
        limit: usize,
    },
    /// Suspend a tenant: refuse its tokens, keep its values
    Suspend {
        /// Tenant
        id: TenantId,
    },
    /// Resume a suspended tenant
    Resume {
        /// Tenant
        id: TenantId,
    },
    /// Write all documents of a tenant as a stream of {"key": …, "value": …}
    Export {
        /// Tenant
        id: TenantId,
        /// File to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// Output format: ndjson, msgpack or cbor [default: from the file name, else NDJSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<Format>,
        #[arg(long, value_enum, default_value_t = Loss::Wrap, value_name = "POLICY")]
        on_loss: Loss,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
    },
    /// Delete a tenant, its tokens and all its values
    Drop {
        /// Tenant
        id: TenantId,
        /// Repeat the name to confirm; this cannot be undone
        #[arg(long, value_name = "TENANT")]
        really: TenantId,
    },
    /// Move a tenant's values to a file of their own, or to the shared file
    Move {
        /// Tenant
        id: TenantId,
        /// Destination: own or shared
        #[arg(long, value_name = "PLACE")]
        to: Place,
    },
    /// Create, list, rotate and revoke tokens
    #[command(subcommand)]
    Token(TokenCommand),
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it; it is never shown again
    Create {
        /// Tenant; omit it for a gateway token
        id: Option<TenantId>,
        /// Permissions: read and write for a tenant [default: both]; admin and metrics for the
        /// gateway [default: admin]
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<Scopes>,
        /// Time until it expires: 90d, 12h, 30m, 60s [default: never]
        #[arg(long, value_name = "TIME", value_parser = until)]
        expires: Option<i64>,
    },
    /// List the tokens, without their secrets
    List {
        /// Tenant; omit it for gateway tokens
        id: Option<TenantId>,
    },
    /// Replace a token; the old one keeps working for a grace period
    Rotate {
        /// Number of the token: the part between rgt_ and the dot
        number: TokenId,
        /// Tenant of the token; omit it for a gateway token
        id: Option<TenantId>,
        /// How long the old token keeps working
        #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "1h")]
        overlap: i64,
    },
    /// Revoke a token immediately
    Revoke {
        /// Number of the token
        number: TokenId,
        /// Tenant of the token; omit it for a gateway token
        id: Option<TenantId>,
    },
}

/// A hundred years. A token that is to last longer need not expire.
const SECONDS_MAX: i64 = 36_500 * 86_400;

/// Parses a time after which a token expires: as [`seconds`], but not at once.
fn until(text: &str) -> std::result::Result<i64, String> {
    match seconds(text)? {
        0 => Err("expected more than 0: such a token would expire at once".to_owned()),
        total => Ok(total),
    }
}

/// Parses `90d`, `12h`, `30m`, `60s` into seconds.
fn seconds(text: &str) -> std::result::Result<i64, String> {
    let wrong = || "expected a number and s, m, h or d, as in 90d".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number = text[..text.len() - 1].parse::<u32>().map_err(|_| wrong())?;
    match i64::from(number) * factor {
        total if total > SECONDS_MAX => Err("expected at most 36500d, a hundred years".to_owned()),
        total => Ok(total),
    }
}

/// Runs one of the subcommands.
pub fn run(arguments: &TenantsArguments) -> Result {
    let TenantsArguments { data, command } = arguments;
    let makes = matches!(
        command,
        TenantsCommand::Create { .. }
            | TenantsCommand::Token(TokenCommand::Create { id: None, .. })
    );
    if !makes && !data.join("tenants.db").exists() {
        return Err(Failure::usage(format!(
            "{} is not a gateway data folder; pass --data, or run `create` to make one",
            data.display()
        )));
    }
    let home = Home::open(data).map_err(failure)?;
    let registry = &home.registry;
    match command {
        TenantsCommand::Create { ids, place, codec, body_bytes, depth, rate, concurrency } => {
            let limits = Limits {
                body_bytes: *body_bytes,
                depth: *depth,
                rate: *rate,
                concurrency: *concurrency,
            };
            registry.create_many(ids, *place, *codec, limits).map_err(failure).map(|_| ())
        }
        TenantsCommand::List { after, limit } => {
            let after = after.as_ref().map(TenantId::as_str);
            let found = registry.list(after, *limit).map_err(failure)?;
            print(found.iter().fold(String::new(), |text, one| text + &line(&home, one)).as_bytes())
        }
        TenantsCommand::Suspend { id } => {
            registry.set_state(id, State::Suspended).map_err(failure).map(|_| ())
        }
        TenantsCommand::Resume { id } => {
            registry.set_state(id, State::Active).map_err(failure).map(|_| ())
        }
        TenantsCommand::Export { id, output, to, on_loss, force } => {
            export(&home, id, output, *to, *on_loss, *force)
        }
        TenantsCommand::Drop { id, really } => {
            if id != really {
                return Err(Failure::usage(format!(
                    "--really names {really}, not {id}; nothing was dropped"
                )));
            }
            let lock = home.lock().map_err(failure)?;
            home.drop_tenant(&lock, id).map_err(failure)
        }
        TenantsCommand::Move { id, to } => {
            let lock = home.lock().map_err(failure)?;
            let moved = home.move_tenant(&lock, id, *to).map_err(failure)?;
            let (values, bytes) = (moved.values, moved.bytes);
            print(
                format!("{values} values, {bytes} bytes, each compared with its copy\n").as_bytes(),
            )
        }
        TenantsCommand::Token(command) => token(&home, command),
    }
}

fn line(home: &Home, tenant: &Tenant) -> String {
    let size = home.file_bytes(tenant).map_or("-".to_owned(), |bytes| bytes.to_string());
    format!(
        "{:24} {:9} {:6} {:14} {size:>12} {}\n",
        tenant.id.as_str(),
        tenant.state.name(),
        tenant.place.name(),
        tenant.codec.to_string(),
        time(tenant.created)
    )
}

fn token(home: &Home, command: &TokenCommand) -> Result {
    let registry = &home.registry;
    let whose = |id: &Option<TenantId>| -> Result<Option<Tenant>> {
        id.as_ref().map(|id| registry.get(id)).transpose().map_err(failure)
    };
    match command {
        TokenCommand::Create { id, scopes, expires } => {
            let tenant = whose(id)?;
            let usual: &[Scope] =
                if tenant.is_some() { &[Scope::Read, Scope::Write] } else { &[Scope::Admin] };
            let asked: Vec<Scope> = scopes.iter().flat_map(|one| one.iter()).collect();
            let scopes = Scopes::of(if asked.is_empty() { usual } else { &asked });
            let expires = expires.map(|seconds| now() + seconds);
            show(&registry.add_token(tenant.as_ref(), scopes, expires).map_err(failure)?)
        }
        TokenCommand::List { id } => {
            let tokens = registry.tokens(whose(id)?.as_ref()).map_err(failure)?;
            let mut text = String::new();
            for Token { id, scopes, created, expires, .. } in tokens {
                let until = expires.map_or("never".to_owned(), time);
                // Writing to a string does not fail.
                let _ = writeln!(text, "{id} {:12} {} {until}", scopes.to_string(), time(created));
            }
            print(text.as_bytes())
        }
        TokenCommand::Rotate { number, id, overlap } => {
            let tenant = whose(id)?;
            let until = now() + overlap;
            show(&registry.rotate_token(tenant.as_ref(), *number, until).map_err(failure)?)
        }
        TokenCommand::Revoke { number, id } => {
            match registry.revoke_token(whose(id)?.as_ref(), *number).map_err(failure)? {
                true => Ok(()),
                false => Err(Failure::usage(format!("no such token {number}"))),
            }
        }
    }
}

fn show((token, text): &(Token, TokenText)) -> Result {
    if let Some(expires) = token.expires {
        complain(format_args!("the token expires at {}", time(expires)));
    }
    print(format!("{}\n", text.reveal()).as_bytes())
}

fn export(
    home: &Home,
    id: &TenantId,
    output: &std::path::Path,
    to: Option<Format>,
    on_loss: Loss,
    force: bool,
) -> Result {
    let implied = to.or(is_stream(output).then_some(Format::Ndjson));
    let (to, compression) = output_format(output, implied, None)?;
    if !matches!(to, Format::Ndjson | Format::Msgpack | Format::Cbor) {
        return Err(Failure::usage(format!(
            "found {}, expected ndjson, msgpack or cbor for the export of a tenant; \
             use `regauge convert` for other formats",
            to.name()
        )));
    }
    check_terminal(output, to, compression)?;
    let tenant = home.registry.get(id).map_err(failure)?;
    let mut store = home.store(&tenant).map_err(failure)?;
    let destination = Destination::open(output, force)?;
    let outlet = destination.outlet(compression, None, 1);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    let mut from = None;
    loop {
        let page = tenants::export(&mut store, from, PAGE, to, on_loss.into()).map_err(failure)?;
        outlet.write(&page.0).map_err(|error| Failure::io(&destination.name, &error))?;
        from = page.1;
        if from.is_none() {
            break;
        }
    }
    outlet.finish().map_err(|error| Failure::io(&destination.name, &error))?;
    destination.commit()
}
