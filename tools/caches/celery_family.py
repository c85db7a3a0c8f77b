"""Writes Celery's messages, results and groups, and what kombu keeps of messages that are not acknowledged."""

import importlib.util
import json
import uuid

from caches import samples
from caches.family import Family, label, seed_uuids

# Serializer, compression, the share of messages, and the module that it needs.
WAYS = [("json", None, 0.55, "json"), ("json", "zlib", 0.1, "json"), ("pickle", None, 0.15, "pickle"),
        ("pickle", "zlib", 0.05, "pickle"), ("msgpack", None, 0.1, "msgpack"), ("yaml", None, 0.05, "yaml")]
ACCEPTED = ["json", "pickle", "msgpack", "yaml"]
CONTENT_TYPES = {"application/json", "application/x-python-serialize", "application/x-msgpack", "application/x-yaml"}


class Celery(Family):
    """Celery with Redis as broker and result backend."""

    name = "celery"
    share = 0.09
    database = 8
    packages = ("celery", "kombu", "redis")

    def application(self, run, serializer="json", backend=None):
        import celery

        app = celery.Celery("shop", broker=run.url, backend=backend)
        app.conf.update(result_serializer=serializer, accept_content=ACCEPTED, result_accept_content=ACCEPTED,
                        worker_hijack_root_logger=False, broker_connection_retry_on_startup=True)
        return app

    def counts(self, run):
        """Returns each way with its queue and its number of messages, then the number of results."""
        messages = run.share(0.55)
        ways = [(serializer, compression, queue, max(2, int(messages * part)))
                for serializer, compression, part, module in WAYS if importlib.util.find_spec(module)
                for queue in ["celery" if (serializer, compression) == ("json", None) else
                              "-".join(filter(None, ("celery", serializer, compression)))]]
        return ways, run.share(0.4)

    def arguments(self, run, queue, index, plain):
        rng = run.random(f"{queue}/{index}")
        length = run.length(rng) // 2
        args = [rng.randrange(10**6), samples.prose(rng, length)]
        kwargs = {"locale": rng.choice(["de", "en", "ja"]), "retry": rng.random() < 0.5}
        if rng.random() < 0.3:
            kwargs["order"] = samples.product(rng, length // 2)
        if not plain:
            # The same globals in each message.
            kwargs["when"] = samples.moment(rng)
        task = rng.choice(["shop.mail.send", "shop.index.update", "shop.thumbnail.make"])
        return task, args, kwargs, str(uuid.UUID(int=rng.getrandbits(128), version=4))

    def result(self, run, index):
        """Returns identifier, serializer, state and value of a result."""
        rng = run.random(f"result/{index}")
        serializer = "pickle" if rng.random() < 0.25 else "json"
        ident = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if rng.random() < 0.1:
            return ident, serializer, "FAILURE", ValueError(samples.prose(rng, 40))
        value = rng.choice([samples.product(rng, run.length(rng)), None, rng.randrange(10**6), samples.rows(rng, 200)])
        return ident, serializer, "SUCCESS", value

    def make(self, run):
        seed_uuids(run)
        # A program that only sends tasks, and waits for no results.
        app = self.application(run)
        framework = f"celery {self.versions()['celery']}"
        ways, results = self.counts(run)
        yield from self.make_messages(run, app, framework, ways)
        yield from self.make_unacknowledged(run, app, framework)
        yield from self.bindings(run, framework)
        yield from self.make_results(run, self.receivers(run), framework, results)

    def receivers(self, run):
        """Returns an application for each serializer of results."""
        return {serializer: self.application(run, serializer, run.url) for serializer in ("json", "pickle")}

    def make_messages(self, run, app, framework, ways):
        with app.producer_pool.acquire(block=True) as producer:
            for serializer, compression, queue, count in ways:
                for index in range(count):
                    task, args, kwargs, ident = self.arguments(run, queue, index, serializer != "pickle")
                    app.send_task(task, args, kwargs, task_id=ident, queue=queue, serializer=serializer,
                                  compression=compression, producer=producer)
                steps = ["base64"] + (["zlib"] if compression else [])
                yield label(queue, serializer, kind="list", framework=framework, envelope="celery-message", steps=steps,
                            names=self.names(run, queue) if serializer == "pickle" else ())

    def bindings(self, run, framework):
        """Yields the labels of kombu's bindings: newer versions keep permanent ones apart."""
        for key in sorted(run.client().scan_iter("_kombu.binding*", count=1000)):
            yield label(key.decode(), "text", kind="set", framework=framework)

    def names(self, run, queue):
        import pickle

        from caches.family import pickle_names

        _, args, kwargs, _ = self.arguments(run, queue, 0, False)
        return pickle_names(pickle.dumps((args, kwargs)))

    def make_unacknowledged(self, run, app, framework):
        """Takes some messages as a worker that is busy does."""
        connection = app.connection_for_read()
        channel = connection.default_channel
        # A worker that stops properly would put them back.
        channel.do_restore = False
        queue = "celery-urgent"
        with app.producer_pool.acquire(block=True) as producer:
            for index in range(run.share(0.02)):
                task, args, kwargs, ident = self.arguments(run, queue, index, True)
                app.send_task(task, args, kwargs, task_id=ident, queue=queue, producer=producer)
                channel.basic_get(queue)
        yield label("unacked", "json", kind="hash", framework=framework,
                    note="an Array of a message of Celery, its exchange and its routing key")
        yield label("unacked_index", "text", kind="zset", framework=framework, content="uuid")

    def make_results(self, run, apps, framework, count):
        from celery.result import EagerResult, GroupResult

        members = []
        for index in range(count):
            ident, serializer, state, value = self.result(run, index)
            backend = apps[serializer].backend
            backend.store_result(ident, value, state)
            yield label(f"celery-task-meta-{ident}", serializer, framework=framework,
                        names=self.result_names(value) if serializer == "pickle" else ())
            members.append(ident)
            if len(members) == 20:
                group = str(uuid.UUID(int=run.random(f"group/{index}").getrandbits(128), version=4))
                # What is saved are the identifiers; results of another kind would ask the server for their state.
                results = [EagerResult(one, None, "SUCCESS") for one in members]
                apps["json"].backend.save_group(group, GroupResult(group, results))
                yield label(f"celery-taskset-meta-{group}", "json", framework=framework)
                members = []

    def result_names(self, value):
        return {"builtins.ValueError"} if isinstance(value, ValueError) else ()

    def check(self, run):
        app = self.application(run)
        ways, results = self.counts(run)
        client = run.client()
        channel = app.connection_for_read().default_channel
        for serializer, _, queue, count in ways:
            for index in run.sample(count):
                task, args, kwargs, ident = self.arguments(run, queue, index, serializer != "pickle")
                # Messages are pushed at the head.
                message = channel.message_to_python(json.loads(client.lindex(queue, count - 1 - index)))
                message.accept = CONTENT_TYPES
                found_args, found_kwargs, _ = message.decode()
                yield f"{queue} {index}", (task, ident, args, kwargs), (
                    message.headers["task"], message.headers["id"], list(found_args), found_kwargs)
        apps = self.receivers(run)
        for index in run.sample(results):
            ident, serializer, state, value = self.result(run, index)
            found = apps[serializer].backend.get_task_meta(ident)
            yield ident, (state, repr(value)), (found["status"], repr(found["result"]))


FAMILIES = (Celery(),)
