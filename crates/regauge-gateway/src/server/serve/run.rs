//! Listening, and stopping.

use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::Accept;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use regauge_os::Signal;
use regauge_store::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_io_timeout::TimeoutStream;

use crate::server::gateway::Gateway;
use crate::server::operate::{Config, Connected, tls};

/// The interval for detecting changes by other processes: a tenant suspended on the command line is
/// refused no later than this.
const FOLLOW: Duration = Duration::from_millis(500);

/// A listening gateway.
pub struct Running {
    /// The address it listens on.
    pub address: SocketAddr,
    gateway: Arc<Gateway>,
    handle: Handle<SocketAddr>,
    tls: Option<RustlsConfig>,
    serving: JoinHandle<io::Result<()>>,
    following: JoinHandle<()>,
}

fn failed(doing: String, error: &io::Error) -> Error {
    Error::Engine { doing, message: error.to_string(), passing: false }
}

/// Listens, on the caller's runtime. `more` may add extra addresses, for measurements.
///
/// # Errors
/// `Usage` for an unreadable certificate; `Engine` if the address is in use.
pub async fn start(
    gateway: Arc<Gateway>,
    more: impl FnOnce(axum::Router) -> axum::Router,
) -> Result<Running> {
    let config = &gateway.config;
    let doing = format!("listen on {}", config.listen);
    let listener = TcpListener::bind(config.listen).await.map_err(|e| failed(doing.clone(), &e))?;
    let address = listener.local_addr().map_err(|error| failed(doing, &error))?;
    let handle = Handle::new();
    let limits = config.connections;
    let seconds = Duration::from_secs;
    let mut server =
        axum_server::Server::<SocketAddr>::from_listener(listener).handle(handle.clone());
    server
        .http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(seconds(limits.header_seconds))
        .max_headers(limits.headers)
        .max_buf_size(limits.header_bytes);
    let acceptor = Guarding {
        gateway: Arc::clone(&gateway),
        slots: Arc::new(Semaphore::new(limits.max)),
        write: seconds(limits.write_seconds),
    };
    let service = more(gateway.router()).into_make_service();
    let tls = match &config.tls {
        Some(files) => Some(RustlsConfig::from_config(tls::load(files)?)),
        None => None,
    };
    let serving = match &tls {
        Some(config) => {
            let acceptor = RustlsAcceptor::new(config.clone()).acceptor(acceptor);
            tokio::spawn(server.acceptor(acceptor).http1_only().serve(service))
        }
        None => tokio::spawn(server.acceptor(acceptor).http1_only().serve(service)),
    };
    let followed = Arc::clone(&gateway);
    let following = tokio::spawn(async move {
        let mut ticks = tokio::time::interval(FOLLOW);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let gateway = Arc::clone(&followed);
            let done = tokio::task::spawn_blocking(move || gateway.follow()).await;
            if let Ok(Err(error)) = done {
                tracing::error!(%error, "the registry cannot be read");
            }
        }
    });
    Ok(Running { address, gateway, handle, tls, serving, following })
}

impl Running {
    /// Reloads certificate and key. New connections use them; if they are broken, the old ones
    /// stay.
    ///
    /// # Errors
    /// `Usage`.
    pub fn reload(&self) -> Result {
        if let (Some(config), Some(files)) = (&self.tls, &self.gateway.config.tls) {
            config.reload_from_config(tls::load(files)?);
        }
        Ok(())
    }

    /// Stops accepting connections, lets running requests finish, and closes.
    ///
    /// # Errors
    /// `Engine`.
    pub async fn stop(self) -> Result {
        self.gateway.stopping.store(true, Ordering::Relaxed);
        let patience = Duration::from_secs(self.gateway.config.connections.stop_seconds);
        self.handle.graceful_shutdown(Some(patience));
        let done = self.serving.await;
        self.following.abort();
        // It holds the gateway, and with it the folder.
        let _ = self.following.await;
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failed("serve".to_owned(), &error)),
            Err(error) => Err(failed("serve".to_owned(), &io::Error::other(error))),
        }
    }
}

/// Runs a gateway until SIGTERM, SIGINT or Ctrl-C. SIGHUP reloads its certificate.
///
/// # Errors
/// `Usage` for an invalid configuration; `Engine`.
pub fn serve(config: Config) -> Result {
    // As many files as the system allows: both connections and tenants need them.
    regauge_os::raise_open_files();

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads())
        // The registry is checked alongside the tenants' requests.
        .max_blocking_threads(config.blocking() + 4)
        .enable_all()
        .build()
        .map_err(|error| failed("start threads".to_owned(), &error))?;
    runtime.block_on(async {
        let (sender, mut signals) = mpsc::unbounded_channel();
        let listening = regauge_os::on_signal(move |signal| {
            // Nobody listens any more once the gateway has stopped.
            let _ = sender.send(signal);
        });
        listening.map_err(|error| failed("wait for signals".to_owned(), &error))?;
        let gateway = Gateway::open(config)?;
        let running = start(gateway, |router| router).await?;
        let scheme = if running.tls.is_some() { "https" } else { "http" };
        tracing::info!(address = %format!("{scheme}://{}", running.address), "listening");
        while let Some(Signal::HangUp) = signals.recv().await {
            match running.reload() {
                Ok(()) => tracing::info!("reloaded the certificate"),
                Err(error) => tracing::error!(%error, "the old certificate stays in use"),
            }
        }
        tracing::info!("stopping");
        running.stop().await?;
        tracing::info!("stopped");
        Ok(())
    })
}

/// Limits the number of connections, and drops stalled clients.
#[derive(Clone)]
struct Guarding {
    gateway: Arc<Gateway>,
    slots: Arc<Semaphore>,
    write: Duration,
}

impl<S> Accept<TcpStream, S> for Guarding {
    type Stream = Guarded;
    type Service = S;
    type Future = Ready<io::Result<(Guarded, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return ready(Err(io::Error::other("too many connections")));
        };
        // A failure here shows up with the first byte.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.write));
        let connected = self.gateway.metrics.connection();
        ready(Ok((
            Guarded { stream: Box::pin(stream), _slot: slot, _connected: connected },
            service,
        )))
    }
}

struct Guarded {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    _slot: OwnedSemaphorePermit,
    _connected: Connected,
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}
