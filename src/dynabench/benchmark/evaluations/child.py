"""The child process that evaluates a model: it opens the model, reports that, and answers rows in batches."""

import sys
import time
from pathlib import Path
from typing import Any

from dynabench.kit import process_memory
from dynabench.kit.child_process import ParentChannel
from dynabench.kit.distributions import RAY
from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.protocol import Output

CODE_BY_MESSAGE = {"out of memory": "out_of_memory", "memory ran out": "out_of_memory", "longer than": "time"}
"""What the sandbox says of a process that had to be ended."""


def main(folder: str, memory: int) -> None:
    """Open the model with a limit of `memory` bytes, report that, and answer requests until the input ends."""
    parent = ParentChannel()
    try:
        model = _open_model(Path(folder), memory)
    except Exception as error:
        parent.send(_error_message(error))
        return
    parent.send({"card": {"name": model.card.name, "version": model.card.version}})
    while (request := parent.receive()) is not None:
        try:
            answer = _answer(model, request)
        except Exception as error:
            answer = _error_message(error, model.card.inside)
        parent.send(answer)
    if close := getattr(model, "close", None):
        close()


def _open_model(folder: Path, memory: int) -> Any:
    from dynabench.kit import process_memory
    from dynabench.kit.settings import get_settings
    from dynabench.models import catalog, spec
    from dynabench.models.clusters import chosen_cluster

    settings = get_settings()
    cluster = chosen_cluster(settings)
    if cluster and spec.card(folder).inside:  # what others serve has its limits and its cache here
        return cluster.open_model(settings, folder)
    process_memory.limit_memory(memory)
    process_memory.keep_freed_memory()
    return catalog.open_model(folder, bulk=True)


def _answer(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Checked outputs in batches of `batch` rows, with each batch's seconds and the process's peak memory; of a model
    on a cluster `single` asks one process there, and `elsewhere` says that the memory is that one's."""
    from dynabench.kit.settings import get_settings
    from dynabench.media.store import MediaStore
    from dynabench.models import validity

    files = MediaStore.of(get_settings())
    rows = [files.unfolded(row) for row in request["rows"]]
    size, elsewhere = request["batch"], hasattr(model, "predict_single")
    ask = model.predict_single if elsewhere and request.get("single") else model.predict
    if request.get("forget"):
        (model if elsewhere else process_memory).reset_peak()
    outputs, seconds = [], []
    for start in range(0, len(rows), size):
        batch, begun = rows[start : start + size], time.perf_counter()
        answers = ask(batch)
        seconds.append(time.perf_counter() - begun)
        outputs += validity.checked(model.card, batch, answers)
    outputs_json = [{"answer": o.answer, "probabilities": o.probabilities, "cost": _answer_cost(o)} for o in outputs]
    log = model.log() if callable(getattr(model, "log", None)) else []
    peak = (model if elsewhere else process_memory).peak_bytes()
    return {"outputs": outputs_json, "seconds": seconds, "peak": peak, "elsewhere": elsewhere, "log": list(log)}


def _answer_cost(output: Output) -> float | None:
    """The cost of an answer, also one from the cache: an answer that is looked up after a crash counts once."""
    return output.extras.get("cost", output.extras.get("price"))


def _error_message(error: Exception, inside: bool = True) -> dict[str, Any]:
    from dynabench.models.backends.served.stores import Spent
    from dynabench.models.validity import Broken

    codes = {Broken: "wrong_output", Spent: "spending", Unavailable: "unreachable", Invalid: "refused"}
    code = next((code for kind, code in codes.items() if isinstance(error, kind)), "crashed")
    if code == "unreachable" and inside:  # a process of the model's own, which ended
        code = next((code for words, code in CODE_BY_MESSAGE.items() if words in str(error)), "crashed")
    if (
        isinstance(error, MemoryError)
        or process_memory.is_out_of_memory(str(error))
        or type(error).__name__ == "OutOfMemoryError"
    ):
        code = "out_of_memory"
    if isinstance(error, Invalid) and RAY in error.fields:
        code = "cluster"
    return {"code": code, "reason": f"{error}"[:2000] or type(error).__name__}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
