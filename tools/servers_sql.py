"""PostgreSQL and MariaDB on loopback, for the tests of the store."""

import os
import shutil
import signal
from pathlib import Path

import servers_tls
from servers_common import Server, Unavailable, answers, run


class PostgreSQL(Server):
    name = "postgres"
    variable = "REGAUGE_TEST_POSTGRES"
    users = ("postgres",)
    packages = ("postgresql-15",)

    def binaries(self):
        versions = Path("/usr/lib/postgresql")
        found = sorted(versions.glob("*/bin/initdb"), key=lambda one: float(one.parts[-3]))
        if found:
            return found[-1].parent
        initdb = shutil.which("initdb")
        if not initdb:
            raise Unavailable("PostgreSQL is not installed (postgresql-15)")
        return Path(os.path.realpath(initdb)).parent

    def require(self):
        self.binaries()

    def prepare(self):
        run(
            [
                self.binaries() / "initdb", "-D", self.folder / "data", "-U", "regauge",
                "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8",
            ],
            user=self.user(),
            cwd=self.folder,
        )
        servers_tls.give(self)

    def command(self):
        certificate, key = self.folder / "server.pem", self.folder / "server.key"
        tls = [
            "-c", "ssl=on", "-c", f"ssl_cert_file={certificate}", "-c", f"ssl_key_file={key}",
        ] if certificate.exists() else []
        return [
            self.binaries() / "postgres", "-D", self.folder / "data", "-p", self.port(),
            "-k", self.folder, "-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=64MB",
            "-c", "max_connections=60", *tls,
        ], {}

    def ready(self):
        try:
            run([self.binaries() / "pg_isready", "-q", "-h", "127.0.0.1", "-p", self.port()])
            return True
        except Unavailable:
            return False

    def kill(self):
        super().kill()
        # Until the dead process's status is collected, PostgreSQL considers it alive.
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        for lock in self.folder.glob(".s.PGSQL.*"):
            lock.unlink(missing_ok=True)

    def stop(self, sign=signal.SIGINT, patience=60):
        # "Fast": without waiting for the clients to go.
        super().stop(sign, patience)

    def url(self):
        # Only for tests of TLS.
        return f"postgres://regauge@127.0.0.1:{self.port()}/postgres?sslmode=disable"


class MariaDB(Server):
    name = "mysql"
    variable = "REGAUGE_TEST_MYSQL"
    users = ("mysql",)
    packages = ("mariadb-server",)

    def binary(self, name):
        found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if not found:
            raise Unavailable(f"MariaDB is not installed (mariadb-server): no {name}")
        return found

    def require(self):
        for name in ("mariadbd", "mariadb-install-db"):
            self.binary(name)

    def prepare(self):
        user = self.user()
        run(
            [
                self.binary("mariadb-install-db"), "--no-defaults",
                f"--datadir={self.folder / 'data'}", "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            user=user,
            cwd=self.folder,
        )
        first = self.folder / "first.sql"
        first.write_text(
            "CREATE DATABASE IF NOT EXISTS regauge;\n"
            "CREATE USER IF NOT EXISTS 'regauge'@'127.0.0.1' IDENTIFIED BY 'regauge';\n"
            "CREATE USER IF NOT EXISTS 'regauge'@'localhost' IDENTIFIED BY 'regauge';\n"
            "GRANT ALL ON *.* TO 'regauge'@'127.0.0.1';\n"
            "GRANT ALL ON *.* TO 'regauge'@'localhost';\n"
        )
        servers_tls.give(self)

    def command(self):
        folder = self.folder
        certificate, key = folder / "server.pem", folder / "server.key"
        tls = [f"--ssl-cert={certificate}", f"--ssl-key={key}"] if certificate.exists() else []
        return [
            self.binary("mariadbd"), "--no-defaults", f"--datadir={folder / 'data'}",
            f"--socket={folder / 's'}", f"--pid-file={folder / 'pid'}",
            f"--init-file={folder / 'first.sql'}", "--bind-address=127.0.0.1",
            f"--port={self.port()}", "--innodb-buffer-pool-size=64M", "--max-allowed-packet=16M",
            *tls,
        ], {}

    def ready(self):
        return answers(self.port())

    def url(self):
        return f"mysql://regauge:regauge@127.0.0.1:{self.port()}/regauge"
