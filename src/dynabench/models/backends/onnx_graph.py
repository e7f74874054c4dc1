"""Inspect and run an ONNX graph: what it may hold, its inputs, its session."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends.pieces import Pieces

FILE = "model.onnx"
BATCH = 32
"""Rows of one run at most."""
DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
"""ONNX's operators, and those that ONNX Runtime itself brings."""
USUAL = {
    "ids": ("input_ids", "ids", "tokens"),
    "mask": ("attention_mask", "input_mask", "mask"),
    "types": ("token_type_ids", "segment_ids", "types"),
}
"""What exporters call a graph's inputs."""
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32}
Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Inspected:
    """The result of inspecting a graph file before it is loaded.

    `live` is true for a graph that quantises activations as it runs, with one scale for a whole batch.
    """

    live: bool


def inspect(folder: Path) -> Inspected:
    """Look through the folder's graph; raises `Invalid` with what is not taken and what to do."""
    import onnx

    path = folder / FILE
    if not path.is_file():
        raise Invalid({FILE: "The folder lacks it."})
    try:
        model = onnx.load_model(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own, among others
        raise Invalid({FILE: f"This is no ONNX file, or a part of one is missing: {error}"}) from error
    nodes = [node for part in _graphs(model.graph) for node in part.node]
    _check_operators(model, nodes)
    for tensor in _tensors(model.graph):
        _check_place(tensor, folder)
    return Inspected(any(node.op_type.startswith("DynamicQuantize") for node in nodes))


def _check_operators(model: Any, nodes: Sequence[Any]) -> None:
    if not nodes:
        raise Invalid({FILE: "This is no ONNX file, or an empty one."})
    if model.functions:
        message = "It defines functions of its own; inline them first (onnx.inliner.inline_local_functions)."
        raise Invalid({FILE: message})
    strange = sorted({f"{node.domain}:{node.op_type}" for node in nodes if node.domain not in DOMAINS})
    if strange:
        message = f"It needs operators that ONNX Runtime does not bring: {', '.join(strange[:5])}. Export without them."
        raise Invalid({FILE: message})
    if any(node.op_type == "Loop" for node in nodes):
        raise Invalid({FILE: "It holds a Loop, which might never end; a model that reads a text at once needs none."})


def _check_place(tensor: Any, folder: Path) -> None:
    """Weights beside the graph lie in the folder, in a file that may be there."""
    if tensor.data_location != tensor.EXTERNAL:
        return
    place = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    path, root = (folder / place).resolve(), folder.resolve()
    if not place or not path.is_relative_to(root):
        raise Invalid({FILE: f"Weights lie in {place!r}, outside the folder; save all of the model in one file."})
    if not path.is_file():
        raise Invalid({FILE: f"Weights lie in {place!r}, which the folder lacks."})


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph and those within its operators."""
    waiting = [graph]
    while waiting:
        subgraph = waiting.pop()
        yield subgraph
        for node in subgraph.node:
            for attribute in node.attribute:
                waiting += [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def _tensors(graph: Any) -> Iterator[Any]:
    for part in _graphs(graph):
        yield from part.initializer
        for thin in part.sparse_initializer:
            yield from (thin.values, thin.indices)
        for node in part.node:
            for attribute in node.attribute:
                yield from [*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors]
                for thin in [attribute.sparse_tensor, *attribute.sparse_tensors]:
                    yield from (thin.values, thin.indices)


class Graph:
    """A loaded graph that reads word pieces.

    `length` is the number of pieces that it reads at a time, None for any. Rows run one by one where the graph takes
    one only, and where it quantises activations as they come: their scale belongs to the whole run, so that a row's
    answer would depend on what shares its batch. One by one, as many run at once as there are threads.
    """

    def __init__(self, folder: Path, names: dict[str, str], threads: int | None = None, pad: int = 0) -> None:
        """Load the folder's graph; `names` says which of its inputs is `ids`, `mask`, `types` where that is unusual,
        `pad` is the piece that rows are filled up with.

        Raises `Invalid` when the graph is not taken or cannot be loaded.
        """
        self._pad = pad
        self._threads = threads or min(runtime.cores(), 4)
        self._alone = inspect(folder).live
        self._session = _session(folder / FILE, 1 if self._alone else self._threads)
        self.outputs = [graph_output.name for graph_output in self._session.get_outputs()]
        self._feeds = _feeds(self._session, names)
        rows, self.length = _shape(self._session)
        self._alone = self._alone or rows == 1
        self._workers = ThreadPoolExecutor(self._threads, "onnx") if self._alone and self._threads > 1 else None

    @property
    def alone(self) -> bool:
        """Return whether the graph runs rows one by one."""
        return self._alone

    def run(self, rows: Sequence[Pieces], outputs: Sequence[str], least: int = 0) -> list[list[Array]]:
        """For each row what each of `outputs` says of it, padding included; rows are padded to `least` pieces or more.

        Raises whatever ONNX Runtime does, and ValueError for outputs that are not for each row.
        """
        if not self._alone:
            order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
            parts = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        else:
            parts = [[row] for row in range(len(rows))]
        batches = [[rows[row] for row in part] for part in parts]
        arrays_by_batch = (self._workers.map if self._workers and len(batches) > 1 else map)(
            lambda batch: self._session.run(list(outputs), self._fed(batch, least)), batches
        )
        arrays_by_row: dict[int, list[Array]] = {}
        for part, arrays in zip(parts, arrays_by_batch, strict=True):
            if any(np.shape(array)[:1] != (len(part),) for array in arrays):
                shapes = " and ".join(str(np.shape(array)) for array in arrays)
                raise ValueError(f"of {len(part)} texts it gave {shapes}; the first dimension must be theirs")
            arrays_by_row.update((row, [array[at] for array in arrays]) for at, row in enumerate(part))
        return [arrays_by_row[row] for row in range(len(rows))]

    def close(self) -> None:
        """End the threads."""
        if self._workers:
            self._workers.shutdown()

    def _fed(self, batch: Sequence[Pieces], least: int) -> dict[str, NDArray[Any]]:
        longest = self.length or max(least, *(len(row) for row in batch))
        arrays = {role: np.zeros((len(batch), longest), np.int64) for role in USUAL}
        for at, row in enumerate(batch):
            arrays["ids"][at, : len(row)], arrays["ids"][at, len(row) :] = row.ids, self._pad
            arrays["types"][at, : len(row)] = row.types
            arrays["mask"][at, : len(row)] = 1
        return {name: arrays[role].astype(kind) for role, (name, kind) in self._feeds.items()}


def _session(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # the cores are shared with others
    options.enable_mem_pattern = False  # it keeps a plan for every shape, and texts have all lengths
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Invalid({FILE: f"ONNX Runtime cannot load it: {error}"}) from error


def _feeds(session: Any, names: dict[str, str]) -> dict[str, tuple[str, Any]]:
    """For each of `ids`, `mask` and `types` that the graph takes, its input's name and numbers."""
    inputs = {graph_input.name: graph_input for graph_input in session.get_inputs()}
    feeds: dict[str, tuple[str, Any]] = {}
    for role, usual in USUAL.items():
        chosen_name = names.get(role, "")
        name = chosen_name or next((usual_name for usual_name in usual if usual_name in inputs), "")
        if chosen_name and chosen_name not in inputs:
            raise Invalid({f"options.{role}": f"The graph has no input {chosen_name!r}; it has {', '.join(inputs)}."})
        if name:
            kind = inputs.pop(name).type
            if kind not in NUMBERS:
                raise Invalid({FILE: f"The input {name} takes {kind}; one of {', '.join(NUMBERS)} is needed."})
            feeds[role] = name, NUMBERS[kind]
    if "ids" not in feeds or inputs:
        message = f"Not understood: {', '.join(inputs)}. The options ids, mask and types say which input is which."
        raise Invalid({FILE: f"The graph's inputs are word pieces. {message}"})
    return feeds


def _shape(session: Any) -> tuple[int | None, int | None]:
    """Rows and pieces that the graph takes, None for any; raises `Invalid` for fixed batches of several rows."""
    shapes = [graph_input.shape for graph_input in session.get_inputs()]
    if any(len(shape) != 2 for shape in shapes):
        raise Invalid({FILE: "Each input of the graph has two dimensions, texts and word pieces."})
    rows, length = ({shape[at] for shape in shapes if isinstance(shape[at], int)} for at in (0, 1))
    if length and min(length) < 16:
        raise Invalid({FILE: f"The graph reads {min(length)} pieces at a time; 16 are needed at least."})
    if rows - {1} or len(length) > 1:
        raise Invalid({FILE: "The graph takes a fixed number of texts; export it for any number (dynamic axes)."})
    return (1 if rows else None), (length.pop() if length else None)
