"""What every server that tools/servers.py starts has in common."""

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


# Below what Linux, BSD and macOS give to connections that go out.
PORTS = (15_000, 32_000)


class Unavailable(Exception):
    """The server cannot be had here; the text says why."""


class Server:
    """A server in a folder of its own, on loopback and a free port, as a user that is not root.

    A subclass says `name`, `variable` (what the tests read its URL from) and `users` (whom it runs
    as where we are root), and has `require`, `prepare`, `command`, `ready` and `url`. Everything
    that a later call of this program has to know is in `state`, which is kept in a file.
    """

    name = ""
    variable = ""
    users = ("nobody",)
    # Seconds till it must have answered.
    patience = 60

    def __init__(self, folder):
        self.folder = Path(folder) / self.name
        self.file = self.folder / "state.json"
        self.state = json.loads(self.file.read_text()) if self.file.exists() else {}

    def require(self):
        """Raises `Unavailable` where something is missing that no one can make here."""

    def prepare(self):
        """Makes data and configuration, once. The folder is there and belongs to the user."""

    def command(self):
        """The command that runs the server in the foreground, and changes of its environment."""
        raise NotImplementedError

    def ready(self):
        """Whether it answers."""
        raise NotImplementedError

    def url(self):
        """What regauge opens."""
        raise NotImplementedError

    def variables(self):
        """What the tests are told of it."""
        return {self.variable: self.url()}

    def user(self):
        """The user it runs as: ourselves, or somebody with fewer rights where we are root."""
        if os.geteuid() != 0:
            return None
        for name in (*self.users, "nobody"):
            try:
                pwd.getpwnam(name)
                return name
            except KeyError:
                continue
        raise Unavailable("there is no user but root")

    def port(self, name="port"):
        """A port that was free when it was first asked for, and is kept."""
        if name not in self.state:
            self.state[name] = free_ports(1)[0]
        return self.state[name]

    def save(self):
        self.file.write_text(json.dumps(self.state))

    def start(self):
        """Makes it where it is new, runs it, and waits till it answers."""
        self.require()
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            user = self.user()
            if user:
                shutil.chown(self.folder, user)
            self.prepare()
        self.save()
        # One that is dying may still answer, and would be taken for the new one.
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
        """The last words of the log; where Java was when it failed is no words."""
        log = self.folder / "log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        said = [line for line in lines if line.strip() and not line.lstrip().startswith("at ")]
        return " | ".join(said[-4:])

    def processes(self):
        """The server's process and all that it has started, by their numbers."""
        pid = self.state.get("pid")
        return [pid, *descendants(pid)] if pid and is_running(pid) else []

    def stop(self, sign=signal.SIGTERM, patience=60):
        """Ends it as it likes to be ended."""
        found = self.processes()
        if not found:
            return
        os.kill(found[0], sign)
        try:
            wait_for(lambda: not any(map(is_running, found)), patience, "")
        except Unavailable:
            self.kill()

    def discard(self):
        """Ends it for good: its data are thrown away next."""
        self.stop()

    def kill(self):
        """Ends it at once, as `kill -9` does, with all that it has started."""
        found = self.processes()
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: not any(map(is_running, found)), 20, f"{self.name} cannot be killed")


def as_user(user):
    """What `subprocess` takes to run something as a user; nothing for ourselves."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def run(command, user=None, **more):
    """Runs a command to its end. `Unavailable` with its words where it fails."""
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


def free_ports(count):
    """Ports of loopback that nobody listens on, all different.

    None of those that the system gives to whoever asks for any: a test would be given the port of a
    server that is stopped just then.
    """
    found = []
    while len(found) < count:
        port = random.randrange(*PORTS)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def answers(port):
    """Whether somebody listens there."""
    with socket.socket() as one:
        one.settimeout(1)
        if one.connect_ex(("127.0.0.1", port)) != 0:
            return False
        # A socket may be given the very port that it asks for, and meets itself there.
        return one.getsockname() != one.getpeername()


def wait_for(holds, seconds, otherwise):
    """Waits till `holds()`; raises `Unavailable` with the text `otherwise` after so long."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Unavailable(otherwise)
        time.sleep(0.05)


def is_running(pid):
    """Whether there is such a process, and not only its entry in the table."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    if stat.rsplit(")", 1)[1].split()[0] != "Z":
        return True
    # Its first thread is gone; others may take a while, with all that they have open.
    try:
        if len(os.listdir(f"/proc/{pid}/task")) > 1:
            return True
    except OSError:
        return False
    try:
        # Ours, if we have started it in this very run.
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    return False


def descendants(pid):
    """The processes that a process has started, and those that they have."""
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
