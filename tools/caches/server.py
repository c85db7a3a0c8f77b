"""Starts a Redis server of our own on a free port of loopback, and stops it."""

import contextlib
import shutil
import socket
import subprocess
import time

from caches.family import Missing

DATABASES = 32


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(folder, patience=300):
    """Yields host and port of a server with its dump.rdb in a folder, which is loaded if it is there.

    It saves only on request.
    """
    try:
        import redis
    except ImportError as error:
        raise Missing(f"the Python package redis is not installed: {error}") from error
    program = shutil.which("redis-server")
    if not program:
        raise Missing("redis-server is not installed")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--databases", str(DATABASES), "--save", "",
               "--appendonly", "no", "--dir", str(folder), "--dbfilename", "dump.rdb", "--loglevel", "warning"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        client = redis.Redis(host="127.0.0.1", port=port)
        until = time.monotonic() + patience
        while True:
            try:
                client.ping()
                break
            # A server that is still loading its dump answers with an error.
            except redis.exceptions.ConnectionError as error:
                if server.poll() is not None or time.monotonic() > until:
                    raise Missing(f"redis-server did not start: {error}") from error
                time.sleep(0.05)
        yield "127.0.0.1", port
    finally:
        server.terminate()
        server.wait()
