"""The common part of every server that tools/servers.py starts."""

import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path


# Below the ephemeral ports of Linux, BSD and macOS.
PORTS = (15_000, 32_000)


class Unavailable(Exception):
    """The server is unavailable here; the text says why."""


class Server:
    """A server in its own folder, on loopback and a free port, running as a non-root user.

    A subclass defines `name`, `variable` (from which the tests read its URL) and `users` (which
    user to run it as if we are root), and has `require`, `prepare`, `command`, `ready` and `url`.
    Everything that a later call of this program needs is in `state`, which is saved in a file.
    """

    name = ""
    variable = ""
    users = ("nobody",)
    # Seconds within which it must answer.
    patience = 60

    def __init__(self, folder):
        self.folder = Path(folder) / self.name
        self.file = self.folder / "state.json"
        self.state = json.loads(self.file.read_text()) if self.file.exists() else {}

    def require(self):
        """Raises `Unavailable` if something is missing that cannot be created here."""

    def prepare(self):
        """Creates data and configuration, once. The folder exists and belongs to the user."""

    def command(self):
        """Returns the command that runs the server in the foreground, and environment changes."""
        raise NotImplementedError

    def ready(self):
        """Returns whether it answers."""
        raise NotImplementedError

    def url(self):
        """Returns the URL for regauge."""
        raise NotImplementedError

    def variables(self):
        """Returns the environment variables for the tests."""
        return {self.variable: self.url()}

    def user(self):
        """Returns the user it runs as: ourselves, or an unprivileged one if we are root."""
        if os.geteuid() != 0:
            return None
        for name in (*self.users, "nobody"):
            try:
                pwd.getpwnam(name)
                return name
            except KeyError:
                continue
        raise Unavailable("there is no user other than root")

    def port(self, name="port"):
        """Returns a port that was free when first requested, and is kept."""
        if name not in self.state:
            self.state[name] = free_ports(1)[0]
        return self.state[name]

    def save(self):
        self.file.write_text(json.dumps(self.state))

    def start(self):
        """Creates it if it is new, runs it, and waits until it answers."""
        self.require()
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            user = self.user()
            if user:
                shutil.chown(self.folder, user)
            self.prepare()
        self.save()
        # A dying one may still answer, and would be mistaken for the new one.
        wait_for(lambda: not self.ready(), 20, f"somebody else answers in the place of {self.name}")
        command, environment = self.command()
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                [str(one) for one in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **environment},
                start_new_session=True,
                **as_user(self.user()),
            )
        self.state["pid"] = process.pid
        self.save()
        wait_for(
            lambda: process.poll() is not None or self.ready(),
            self.patience,
            f"{self.name} did not answer; its log ends: {self.tail()}",
        )
        if process.poll() is not None:
            raise Unavailable(f"{self.name} ended at once; its log ends: {self.tail()}")

    def tail(self):
        """Returns the last words of the log, without Java's stack trace."""
        log = self.folder / "log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        said = [line for line in lines if line.strip() and not line.lstrip().startswith("at ")]
        return " | ".join(said[-4:])

    def processes(self):
        """Returns the process IDs of the server and everything that it has started."""
        pid = self.state.get("pid")
        return [pid, *descendants(pid)] if pid and is_running(pid) else []

    def stop(self, sign=signal.SIGTERM, patience=60):
        """Shuts it down cleanly."""
        found = self.processes()
        if not found:
            return
        os.kill(found[0], sign)
        try:
            wait_for(lambda: not any(map(is_running, found)), patience, "")
        except Unavailable:
            self.kill()

    def discard(self):
        """Stops it for good: its data will be discarded."""
        self.stop()

    def kill(self):
        """Kills it at once, like `kill -9`, with everything that it has started."""
        found = self.processes()
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: not any(map(is_running, found)), 20, f"{self.name} cannot be killed")


def as_user(user):
    """Returns the `subprocess` arguments for running as a user; none for ourselves."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def run(command, user=None, **more):
    """Runs a command to completion. Raises `Unavailable` with its message if it fails."""
    done = subprocess.run(
        [str(one) for one in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        **as_user(user),
        **more,
    )
    if done.returncode != 0:
        words = " | ".join((done.stderr or done.stdout).strip().splitlines()[-4:])
        raise Unavailable(f"{Path(str(command[0])).name} failed: {words}")
    return done.stdout


# The ports that were returned.
GIVEN = set()


def free_ports(count):
    """Returns free loopback ports, none of which was returned before.

    Excludes those that the system assigns on request: a test could otherwise get the port of a
    server that is stopped at that moment.
    """
    found = []
    while len(found) < count:
        port = random.randrange(*PORTS)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        # One that was given to a server before is free until that server has started.
        if port not in GIVEN:
            GIVEN.add(port)
            found.append(port)
    return found


def answers(port):
    """Returns whether something listens there."""
    with socket.socket() as one:
        one.settimeout(1)
        if one.connect_ex(("127.0.0.1", port)) != 0:
            return False
        # A socket may be assigned the very port that it connects to, and so connect to itself.
        return one.getsockname() != one.getpeername()


def wait_for(holds, seconds, otherwise):
    """Waits until `holds()`; raises `Unavailable` with the text `otherwise` after a timeout."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Unavailable(otherwise)
        time.sleep(0.05)


def is_running(pid):
    """Returns whether the process is running, rather than a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    if stat.rsplit(")", 1)[1].split()[0] != "Z":
        return True
    # Its first thread is gone; others may take a while, with everything that they have open.
    try:
        if len(os.listdir(f"/proc/{pid}/task")) > 1:
            return True
    except OSError:
        return False
    try:
        # Ours, if it was started in this run.
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    return False


def descendants(pid):
    """Returns the descendants of a process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
    found, queue = [], [pid]
    while queue:
        parent = queue.pop()
        for child, one in parents.items():
            if one == parent:
                found.append(child)
                queue.append(child)
    return found
