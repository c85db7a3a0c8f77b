//! Describes the machine that the figures belong to.

use serde::{Deserialize, Serialize};

/// What a reader needs to know before comparing with figures of another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: u64,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel.
    pub system: String,
    /// The average number of runnable processes in the minute before the start.
    pub load: Option<f64>,
}

impl Machine {
    /// Describes this machine. Fields that the system does not report stay empty.
    #[must_use]
    pub fn here() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let after = |text: &str, name: &str| -> Option<String> {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let distribution = read("/etc/os-release")
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))
            .map_or(String::new(), |name| format!(", {}", name.trim_matches('"')));
        let kernel = read("/proc/sys/kernel/osrelease");
        Machine {
            processor: after(&read("/proc/cpuinfo"), "model name")
                // Windows has it in the environment.
                .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok().filter(|_| cfg!(windows)))
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            memory_bytes: memory("MemTotal:"),
            system: format!("{} {}{distribution}", std::env::consts::OS, kernel.trim())
                .replace(" ,", ",")
                .trim_end()
                .to_owned(),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
        }
    }

    /// Returns whether `--setup` works there.
    #[must_use]
    pub fn can_set_up(&self) -> bool {
        !self.system.starts_with("windows")
    }
}

/// Returns a value from `/proc/meminfo` in bytes, if the system has that file: `MemAvailable:` is
/// what processes can still allocate.
pub(crate) fn memory(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
