"""What frameworks put around a value in a cache, a session or a queue."""

from typing import Any, NamedTuple

from . import _regauge


class Envelope(NamedTuple):
    """A value without its envelopes, and what they say about it.

    data is the value, a document of format: loads(data, format) returns it. layers are the envelopes, from
    the outermost: name ('rails-cache-7.1'), title, steps that were undone ('zlib'), holds (the format inside)
    and what else it says, such as expires.
    """

    data: bytes
    format: str
    layers: list[dict[str, Any]]


def open_envelope(
    data: Any, /, format: str | None = None, *, secret: bytes | str | None = None, salt: str | None = None
) -> Envelope | None:
    """Takes off what Rails, Django, Celery and others put around a value; None if there is nothing.

    format is what the bytes are known to be, if anything. Nothing is executed. With the secret of the application, a
    signature is checked and what is encrypted is decrypted; DecodeError if it is not that of the value, or if there is
    nothing to check. salt is what the application itself passes where it signs, if it does.

    >>> import regauge
    >>> inside = regauge.open_envelope(b'{"queue": "mail", "class": "Job", "args": [7], "jid": "1"}')
    >>> inside.layers[0]['title'], regauge.loads(inside.data, inside.format)
    ('a job of Sidekiq', [7])
    """
    found = _regauge.open_envelope(data, format, {"secret": secret, "salt": salt})
    if found is None:
        return None
    layers, inside, value = found
    return Envelope(value, inside, layers)
