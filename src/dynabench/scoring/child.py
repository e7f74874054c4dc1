"""The process that a model is evaluated in: asked over its standard input, it answers on its standard output.

A message is its length in 4 bytes, big-endian, and JSON. Whatever the model prints goes to standard error. When the
worker is gone the process ends: it notices within a second, also in the middle of a batch.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from dynabench.errors import Invalid, Unavailable
from dynabench.models.protocol import Output
from dynabench.models.sandbox import usage

EVERY = 0.5
"""Seconds between two looks at whether the worker lives."""

ENDED = {"out of memory": "out_of_memory", "memory ran out": "out_of_memory", "longer than": "time"}
"""What the sandbox says of a process that had to be ended."""


def main(folder: str, memory: int) -> None:
    """Open the model, say so, and answer until the input ends, with so many bytes of memory."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        model = _opened(Path(folder), memory)
    except Exception as error:
        send(answers, _told(error))
        return
    send(answers, {"card": {"name": model.card.name, "version": model.card.version}})
    while (request := receive(requests)) is not None:
        try:
            send(answers, _answered(model, request))
        except Exception as error:
            send(answers, _told(error, model.card.inside))
    if close := getattr(model, "close", None):
        close()


def send(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Write one message."""
    packed = orjson.dumps(message)
    stream.write(len(packed).to_bytes(4, "big") + packed)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message; None at the end of the stream."""
    head = stream.read(4)
    return orjson.loads(stream.read(int.from_bytes(head, "big"))) if len(head) == 4 else None


def _opened(folder: Path, memory: int) -> Any:
    from dynabench import heap
    from dynabench.models import catalog, spec
    from dynabench.settings import get_settings

    settings = get_settings()
    if settings.ray and spec.card(folder).inside:  # what others serve has its limits and its cache here
        from dynabench.models.cluster import connection
        from dynabench.models.cluster.everywhere import Everywhere

        return Everywhere(folder, connection.connect(settings), processors=settings.ray_processors)
    usage.bound(memory)
    heap.keep_freed()
    return catalog.open_model(folder, bulk=True)


def _answered(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Checked outputs in batches of `batch` rows, with each batch's seconds and the process's peak memory; of a model
    on a cluster `single` asks one process there, and `elsewhere` says that the memory is that one's."""
    from dynabench.media.store import Store
    from dynabench.models import validity
    from dynabench.settings import get_settings

    files = Store.of(get_settings())
    rows = [files.unfolded(row) for row in request["rows"]]
    size, elsewhere = request["batch"], hasattr(model, "one")
    ask = model.one if elsewhere and request.get("single") else model.predict
    if request.get("forget"):
        (model if elsewhere else usage).forget_peak()
    outputs, seconds = [], []
    for start in range(0, len(rows), size):
        batch, begun = rows[start : start + size], time.perf_counter()
        found = ask(batch)
        seconds.append(time.perf_counter() - begun)
        outputs += validity.checked(model.card, batch, found)
    said = [{"answer": o.answer, "probabilities": o.probabilities, "cost": _price(o)} for o in outputs]
    log = model.log() if callable(getattr(model, "log", None)) else []
    peak = (model if elsewhere else usage).peak()
    return {"outputs": said, "seconds": seconds, "peak": peak, "elsewhere": elsewhere, "log": list(log)}


def _price(output: Output) -> float | None:
    """What an answer cost, now or when it was asked for first: what a crash makes us look up again counts once."""
    return output.extras.get("cost", output.extras.get("price"))


def _told(error: Exception, inside: bool = True) -> dict[str, Any]:
    """An error as its code (`service.CODES`) and in words."""
    from dynabench.models.backends.served.spending import Spent
    from dynabench.models.validity import Broken

    codes = {Broken: "wrong_output", Spent: "spending", Unavailable: "unreachable", Invalid: "refused"}
    code = next((code for kind, code in codes.items() if isinstance(error, kind)), "crashed")
    if code == "unreachable" and inside:  # a process of the model's own, which ended
        code = next((code for words, code in ENDED.items() if words in str(error)), "crashed")
    if isinstance(error, MemoryError) or usage.starved(str(error)) or type(error).__name__ == "OutOfMemoryError":
        code = "out_of_memory"
    if isinstance(error, Invalid) and "ray" in error.fields:
        code = "cluster"
    return {"code": code, "reason": f"{error}"[:2000] or type(error).__name__}


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(EVERY)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
