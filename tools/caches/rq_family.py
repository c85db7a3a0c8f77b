"""Writes jobs of rq: hashes whose call is a pickle in zlib, queues, registries, and results in streams."""

import logging
import sys
import types

from caches import samples
from caches.family import Family, field, label, seed_uuids, seeded_uuid

# About how many values a job has: its fields, its place in a queue or a registry, its result.
VALUES_PER_JOB = 14


def send(*args, **kwargs):
    """Does the work of a job."""
    return {"sent": True, "to": args[0], "size": len(kwargs.get("body", ""))}


def fail(*args, **kwargs):
    raise ValueError(f"no such user: {args[0]}")


jobs = types.ModuleType("shop.jobs")
sys.modules["shop.jobs"] = jobs
for one in (send, fail):
    one.__module__ = "shop.jobs"
    setattr(jobs, one.__name__, one)


class Rq(Family):
    """rq with its default serializer, a few queues, and jobs that a worker has run."""

    name = "rq"
    share = 0.06
    database = 9
    packages = ("rq", "redis")

    def case(self, run, index):
        """Returns queue, identifier, function, arguments and metadata of a job."""
        rng = run.random(index)
        # What is done by a worker, what fails there, and what still waits.
        part = rng.random()
        queue = "finished" if part < 0.15 else "failed" if part < 0.2 else rng.choice(["default", "high", "low"])
        args = (rng.randrange(10**6), rng.choice(samples.NAMES))
        kwargs = {"body": samples.prose(rng, run.length(rng)), "tags": rng.choices(samples.WORDS, k=3)}
        meta = {"trace": f"{rng.getrandbits(64):016x}", "user": rng.randrange(999)} if rng.random() < 0.3 else None
        function = "shop.jobs.fail" if queue == "failed" else "shop.jobs.send"
        return queue, seeded_uuid(run, index), function, args, kwargs, meta

    def jobs(self, run):
        return max(5, run.count // VALUES_PER_JOB)

    def make(self, run):
        seed_uuids(run)
        import rq

        logging.getLogger("rq.worker").setLevel(logging.CRITICAL)
        client = run.client()
        framework = f"rq {self.versions()['rq']}"
        queues = {}
        for index in range(self.jobs(run)):
            queue, ident, function, args, kwargs, meta = self.case(run, index)
            queues.setdefault(queue, []).append(rq.Queue.prepare_data(
                function, args, kwargs, job_id=ident, meta=meta, result_ttl=864_000, failure_ttl=31_536_000,
                timeout=180))
        made = {}
        for name, waiting in queues.items():
            queue = made[name] = rq.Queue(name, connection=client)
            for at in range(0, len(waiting), 500):
                queue.enqueue_many(waiting[at:at + 500])
        for name in ("finished", "failed"):
            if name in made:
                worker = rq.SimpleWorker([made[name]], connection=client, name=f"worker-{name}")
                worker.work(burst=True, logging_level="CRITICAL")
        yield from self.labels(client, framework)

    def labels(self, client, framework):
        """Yields a label for each key that rq has written."""
        plain = field("scalar")
        data = field("pickle", "zlib", ["zlib"])
        for key in sorted(key.decode() for key in client.scan_iter(count=1000)):
            if 0 <= client.ttl(key) < 3600:
                # A worker that has stopped, or a lock: gone when the dump is read.
                client.delete(key)
                continue
            kind = client.type(key).decode()
            if key.startswith("rq:job:") and kind == "hash":
                fields = {name: plain for name in map(bytes.decode, client.hkeys(key))}
                fields |= {"data": data}
                if "meta" in fields:
                    fields["meta"] = field("pickle")
                if "exc_info" in fields:
                    fields["exc_info"] = field("text", None, ["zlib"])
                if "dependency_ids" in fields:
                    fields["dependency_ids"] = field("json")
                yield label(key, "scalar", kind=kind, framework=framework, fields=fields)
            elif key.startswith("rq:results:"):
                yield label(key, "scalar", kind=kind, framework=framework,
                            fields=self.result_fields(client, key))
            else:
                yield label(key, "scalar", kind=kind, framework=framework)

    def result_fields(self, client, key):
        """Returns the labels of the fields of a result, which are named with the identifier of their entry."""
        fields = {}
        for entry, found in client.xrange(key):
            for name in map(bytes.decode, found):
                if name == "return_value":
                    fields[f"{entry.decode()}/{name}"] = field("pickle", None, ["base64"])
                elif name == "exc_string":
                    fields[f"{entry.decode()}/{name}"] = field("text", None, ["base64", "zlib"])
        return fields

    def check(self, run):
        from rq.job import Job

        client = run.client()
        for index in run.sample(self.jobs(run)):
            queue, ident, function, args, kwargs, meta = self.case(run, index)
            job = Job.fetch(ident, connection=client)
            yield ident, (function, args, kwargs, meta or {}), (job.func_name, tuple(job.args), job.kwargs, job.meta)
            if queue == "finished":
                yield f"{ident}, its result", send(*args, **kwargs), job.return_value()


FAMILIES = (Rq(),)
