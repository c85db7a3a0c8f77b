"""Cassandra and FerretDB on loopback, for the tests of the store."""

import hashlib
import os
import shutil
from pathlib import Path

import servers_tls
from servers_common import Server, Unavailable, answers, run

CASSANDRA = "5.0.6"
FERRETDB = "1.24.0"

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>regauge</groupId>
  <artifactId>cassandra-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>{CASSANDRA}</version>
    </dependency>
  </dependencies>
</project>
"""

# `commitlog_sync: batch` writes a change to the log before it is acknowledged. Cassandra's own
# default, `periodic`, does so up to ten seconds later: kill -9 then loses acknowledged changes.
# Small heaps and logs, one node; the limit of a change (half a segment, 4 MiB) is a quarter of a
# larger server's, so that what passes here passes there.
CONFIGURATION = """cluster_name: regauge-test
num_tokens: 1
allocate_tokens_for_local_replication_factor: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:{storage}"
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {storage}
ssl_storage_port: {ssl_storage}
native_transport_port: {native}
start_native_transport: true
endpoint_snitch: SimpleSnitch
commitlog_sync: {sync}
commitlog_segment_size: 8MiB
commitlog_total_space: 64MiB
commitlog_disk_access_mode: legacy
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
file_cache_size: 32MiB
networking_cache_size: 16MiB
concurrent_reads: 4
concurrent_writes: 4
concurrent_counter_writes: 2
native_transport_max_threads: 8
concurrent_compactors: 1
memtable_flush_writers: 1
key_cache_size: 4MiB
row_cache_size: 0MiB
counter_cache_size: 0MiB
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
auto_bootstrap: false
hinted_handoff_enabled: false
data_file_directories: [{run}/data]
commitlog_directory: {run}/commitlog
saved_caches_directory: {run}/saved_caches
hints_directory: {run}/hints
cdc_raw_directory: {run}/cdc
"""

# TLS is optional, on the same port.
CONFIGURATION_TLS = """client_encryption_options:
  enabled: true
  optional: true
  keystore: {keystore}
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
"""

SYNC = {"batch": "batch", "periodic": "periodic\ncommitlog_sync_period: 10000ms"}

LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""

EXPORTS = """java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch
java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry
java.rmi/sun.rmi.server java.sql/java.sql java.base/java.lang.ref jdk.unsupported/sun.misc
jdk.compiler/com.sun.tools.javac.file""".split()

OPENS = """java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref
java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
java.base/jdk.internal.util.jar jdk.management/com.sun.management.internal java.base/sun.nio.ch
java.base/java.io java.base/java.nio java.base/java.util.concurrent java.base/java.util
java.base/java.lang java.base/java.util.concurrent.atomic java.base/java.math java.base/java.net
java.rmi/sun.rmi.transport.tcp""".split()


def cache():
    """Returns the folder for downloads and builds: REGAUGE_SERVERS, else build/servers."""
    given = os.environ.get("REGAUGE_SERVERS")
    folder = Path(given) if given else Path(__file__).resolve().parent.parent / "build" / "servers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def need(program):
    found = shutil.which(program)
    if not found:
        raise Unavailable(f"there is no {program}")
    return found


class Cassandra(Server):
    """Cassandra from its jars, fetched by Maven; runs on Java 17."""

    name = "cassandra"
    variable = "REGAUGE_TEST_CASSANDRA"
    packages = ("openjdk-17-jre-headless", "maven")
    patience = 180

    def jars(self):
        return cache() / f"cassandra-{CASSANDRA}"

    def require(self):
        need("java")
        jars = self.jars()
        if (jars / "complete").exists():
            return
        maven = need("mvn")
        jars.mkdir(parents=True, exist_ok=True)
        (jars / "pom.xml").write_text(POM)
        run([maven, "-q", "-B", "-f", jars / "pom.xml", "dependency:copy-dependencies",
             f"-DoutputDirectory={jars / 'lib'}"])
        (jars / "complete").touch()

    def prepare(self):
        folder = self.folder / "cfg"
        folder.mkdir()
        (folder / "logback.xml").write_text(LOGBACK)
        text = CONFIGURATION.format(
            storage=self.port("storage"), ssl_storage=self.port("ssl_storage"),
            native=self.port(), run=self.folder / "run",
            # To see what the default does: REGAUGE_CASSANDRA_SYNC=periodic.
            sync=SYNC[os.environ.get("REGAUGE_CASSANDRA_SYNC", "batch")])
        given = servers_tls.give(self)
        if given:
            certificate, key = given
            keystore = self.folder / "server-keystore.pem"
            keystore.write_text(key.read_text() + certificate.read_text())
            text += CONFIGURATION_TLS.format(keystore=keystore)
        (folder / "cassandra.yaml").write_text(text)

    def command(self):
        exports = [one for name in EXPORTS for one in ("--add-exports", f"{name}=ALL-UNNAMED")]
        opens = [one for name in OPENS for one in ("--add-opens", f"{name}=ALL-UNNAMED")]
        # Only the first compiler: it starts sooner, which suits tests; 4 is for measuring.
        tier = os.environ.get("REGAUGE_CASSANDRA_TIER", "1")
        return [
            need("java"), "-Xms512m", "-Xmx512m", "-Xss256k", "-XX:+UseSerialGC",
            f"-XX:TieredStopAtLevel={tier}",
            "-Djdk.attach.allowAttachSelf=true", *exports, *opens,
            f"-Dcassandra.config=file://{self.folder}/cfg/cassandra.yaml",
            f"-Dcassandra.storagedir={self.folder}/run", "-Dcassandra-foreground=yes",
            f"-Dlogback.configurationFile={self.folder}/cfg/logback.xml",
            "-Dcassandra.superuser_setup_delay_ms=0",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=1",
            "-Dcassandra.disable_stdout_redirect=true",
            "-cp", f"{self.folder}/cfg:{self.jars() / 'lib'}/*",
            "org.apache.cassandra.service.CassandraDaemon",
        ], {}

    def ready(self):
        return answers(self.port())

    def discard(self):
        # It would take seconds to write out data that is no longer needed.
        self.kill()

    def url(self):
        return f"cassandra://127.0.0.1:{self.port()}/regauge?replication=1"


class FerretDB(Server):
    """FerretDB 1 on SQLite, built with Go: MongoDB's protocol without another server.

    FerretDB 2 needs PostgreSQL with an extension that Debian 12 does not have.
    """

    name = "mongodb"
    variable = "REGAUGE_TEST_MONGODB"

    source = Path(__file__).resolve().parent / "ferretdb"

    def binary(self):
        program = hashlib.sha256((self.source / "main.go").read_bytes()).hexdigest()
        return cache() / f"ferretdb-{FERRETDB}-{program[:8]}"

    def require(self):
        binary = self.binary()
        if binary.exists():
            return
        partial = binary.with_name(f"{binary.name}.new")
        run([need("go"), "build", "-C", self.source, "-p", "2", "-o", partial, "."])
        partial.rename(binary)

    def prepare(self):
        # TLS has a separate port.
        if servers_tls.give(self):
            self.port("tls")

    def command(self):
        address = f"127.0.0.1:{self.port()}"
        command = [self.binary(), address, self.folder / "data"]
        if "tls" in self.state:
            keys = [self.folder / "server.pem", self.folder / "server.key"]
            command += [f"127.0.0.1:{self.port('tls')}", *keys]
        return command, {"DO_NOT_TRACK": "1"}

    def ready(self):
        return answers(self.port())

    def url(self):
        return f"mongodb://127.0.0.1:{self.port()}/regauge"

    def variables(self):
        with_tls = f"mongodb://127.0.0.1:{self.state.get('tls')}/regauge"
        more = {"REGAUGE_TEST_MONGODB_TLS": with_tls} if "tls" in self.state else {}
        return {**super().variables(), **more}
