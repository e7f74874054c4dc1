"""Exports of models as ONNX graphs, and comparisons of the answers of two models."""

import itertools
import logging
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models import encoder, spec
from dynabench.models.backends import pieces
from dynabench.models.backends.onnx_graph import FILE as GRAPH_FILE
from dynabench.models.backends.onnx_graph import inspect as inspect_graph
from dynabench.models.protocol import Inputs, Model, ModelCard, ModelOutput
from dynabench.models.spec import Spec
from dynabench.tasks import shipped

ALONE = 32
"""Rows that are asked one at a time, to see how quick a model is."""


@dataclass(frozen=True)
class ExportSpeed:
    """Answers a second, asked one at a time and all at once."""

    alone: float
    together: float


@dataclass(frozen=True)
class Agreement:
    """`equal` is the share of `rows` with the same answer; `largest` is by how much probabilities differ at most.

    `first` and `second` are the models' speeds; `differing` are the numbers of the rows that are answered differently.
    """

    rows: int
    equal: float
    largest: float
    first: ExportSpeed
    second: ExportSpeed
    differing: tuple[int, ...]


def compare_answers(first: Model, second: Model, rows: Sequence[Inputs]) -> Agreement:
    """Ask both models about all rows; raises `Invalid` without any row."""
    if not rows:
        raise Invalid({"data": "There is no row to compare answers on."})
    first_outputs, first_speed = _predict_timed(first, rows)
    second_outputs, second_speed = _predict_timed(second, rows)
    name = first.card.answer
    pairs = list(zip(first_outputs, second_outputs, strict=True))
    differing = tuple(
        row
        for row, (first_output, second_output) in enumerate(pairs)
        if first_output.answer[name] != second_output.answer[name]
    )
    largest = max(_probability_gap(first_output, second_output) for first_output, second_output in pairs)
    return Agreement(len(rows), 1 - len(differing) / len(rows), largest, first_speed, second_speed, differing)


def _predict_timed(model: Model, rows: Sequence[Inputs]) -> tuple[list[ModelOutput], ExportSpeed]:
    model.predict(rows[:1])  # the first call pays for what later ones find ready
    alone = rows[:ALONE]
    start = time.perf_counter()
    for row in alone:
        model.predict([row])
    middle = time.perf_counter()
    outputs = model.predict(rows)
    end = time.perf_counter()
    return outputs, ExportSpeed(len(alone) / (middle - start), len(rows) / (end - middle))


def _probability_gap(first_output: ModelOutput, second_output: ModelOutput) -> float:
    """The largest difference of a label's probability, or that of the text which the first answer gives."""
    first, second = first_output.probabilities or {}, second_output.probabilities or {}
    both = set(first) & set(second)
    return max((abs(first[label] - second[label]) for label in both), default=0.0)


def task_samples(card: ModelCard, count: int, seed: int = 0) -> list[dict[str, str]]:
    """Inputs made of what comes with the card's task: its contexts and seeds, and their sentences for what else is
    asked for; fewer where the task has fewer. Raises `Invalid` for a task that is not one of ours.
    """
    shipped_task = next((task for task in shipped.shipped_tasks() if task.config.id == card.task), None)
    if shipped_task is None:
        raise Invalid({"data": f"Nothing is known to try a model of {card.task!r} on; name a file of inputs."})
    value_sets: list[dict[str, Any]] = [row["values"] for row in shipped_task.contexts()]
    value_sets += [row["context"] | row["input"] for row in shipped_task.seeds()]
    texts = (str(text) for row in value_sets for text in row.values())
    sentences = sorted({part.strip() + "." for text in texts for part in text.split(".") if part.strip()})
    rng = random.Random(seed)
    drawn = itertools.islice(itertools.cycle(value_sets), max(count, len(value_sets))) if sentences else ()
    rows = [{name: str(row.get(name) or rng.choice(sentences)) for name in card.inputs} for row in drawn]
    return rng.sample(rows, min(count, len(rows)))


def read_inputs(path: Path, card: ModelCard, columns: dict[str, str], count: int) -> list[dict[str, str]]:
    """The first inputs in a file of JSON lines, perhaps gzipped; `columns` says which holds which input.

    Raises `Invalid` for a file that is none, or lacks a column.
    """
    try:
        objects = itertools.islice(read_objects(path), count)
        return [{name: str(raw[columns.get(name, name)]) for name in card.inputs} for _number, raw in objects]
    except KeyError as error:
        message = f"{path.name} has no column {error}; --column says which column holds {', '.join(card.inputs)}."
        raise Invalid({"data": message}) from error
    except (Invalid, OSError) as error:
        raise Invalid({"data": f"{path.name} is no file of JSON lines: {error}"}) from error


INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LONGEST = 512
"""Pieces that an encoder reads at most."""


@dataclass(frozen=True)
class ExportSource:
    """The source of an export: `network` maps arrays of `inputs`, each (texts, pieces), to `outputs`.

    `options` are those of the ONNX folder; `save` writes the tokenizer to a path.
    """

    network: Any
    inputs: Sequence[str]
    outputs: Sequence[str]
    options: dict[str, Any]
    save: Callable[[Path], Any]


def write(source: Path, target: Path, name: str, int8: bool = False) -> None:
    """Make the ONNX folder `target` of the model folder `source`; raises `Invalid` for models that cannot be exported.

    `target` exists and is empty; labels, licence and limits are those of the source, scores are left to be measured.
    """
    details = spec.read(source)
    content = _described(source, details, name, int8)
    with _quietly():
        if details.kind == "onnx":
            content["options"] = _quantised(source, target, details, int8)
        else:
            content["options"] = _traced(_source(source, details), target, int8)
    spec.write(target, content)


def _described(source: Path, details: Spec, name: str, int8: bool) -> dict[str, Any]:
    """Return the content of `model.yaml` without the options; raises `Invalid` for a name that is not valid."""
    copied = details.model_dump(exclude={"scores", "options", "kind", "name", "summary"}, exclude_defaults=True)
    summary = f"{details.name} {spec.version(source)} as ONNX{', int8' if int8 else ''}."
    content = {"name": name, "kind": "onnx", **copied, "returns": details.returns, "max_length": details.max_length}
    try:
        Spec.model_validate(content)
    except ValidationError as error:
        raise Invalid(
            {"out": f"Its last part is the model's name, in lower case: {error.errors()[0]['msg']}."}
        ) from error
    return content | {"summary": summary}


def _quantised(source: Path, target: Path, details: Spec, int8: bool) -> dict[str, Any]:
    """A graph that is there already, in 8 bits; its options stay."""
    if not int8 or inspect_graph(source).live:
        raise Invalid({"name": f"{details.name} is {'an int8' if int8 else 'an ONNX'} graph already."})
    quantise(source / GRAPH_FILE, target / GRAPH_FILE)
    (target / pieces.FILE).write_bytes((source / pieces.FILE).read_bytes())
    return details.options


def _traced(source: ExportSource, target: Path, int8: bool) -> dict[str, Any]:
    """A network written as a graph, beside its tokenizer."""
    source.save(target / pieces.FILE)
    path = target / GRAPH_FILE
    whole = path.with_name("whole.onnx") if int8 else path
    _write_graph(source, whole)
    if int8:
        quantise(whole, path)
        whole.unlink()
    return source.options


def quantise(whole: Path, path: Path) -> None:
    """Write the graph `whole` to `path` with weights in 8 bits, scaled for each column, activations quantised live."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(whole), str(path), per_channel=True, weight_type=QuantType.QInt8)


@contextmanager
def draft(target: Path) -> Iterator[Path]:
    """A folder that becomes `target` when all went well and vanishes otherwise; raises `Invalid` if `target` exists."""
    if target.exists():
        raise Invalid({"out": f"{target} is there already; name a folder that is not."})
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=target.parent) as place:
        folder = Path(place) / target.name
        folder.mkdir()
        yield folder
        folder.rename(target)


def _source(folder: Path, details: Spec) -> ExportSource:
    makers = {"adapter": _ours, "extractor": _ours, "transformers": _theirs}
    if details.kind not in makers:
        message = (
            f"Models of kind {details.kind!r} have no network to export; these have: {', '.join([*makers, 'onnx'])}."
        )
        raise Invalid({"name": message})
    return makers[details.kind](folder, details)


def _merged(adapter: Path) -> Any:
    """The shared encoder as transformers has it, with the adapter merged into its weights."""
    from peft import PeftModel

    return PeftModel.from_pretrained(encoder.load(), str(adapter)).merge_and_unload().eval().requires_grad_(False)


def _ours(folder: Path, details: Spec) -> ExportSource:
    """A model over the shared encoder: words are found and emoji named as before."""
    import torch

    from dynabench.models.backends.encoded import AdapterModel, ExtractorModel
    from dynabench.models.backends.pool import Pool

    pool = Pool("fp32")
    model = (AdapterModel if details.kind == "adapter" else ExtractorModel).load(folder, pool)
    body, head = _merged(folder / "adapter"), pool.head(model.key)
    body.set_attn_implementation("eager")

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = body, head

        def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
            states = self.body(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
            logits: torch.Tensor = self.head(states, mask)
            return logits

    return ExportSource(Network().eval(), INPUTS, ("logits",), {"reader": "words"}, _copy_tokenizer)


def _copy_tokenizer(path: Path) -> None:
    path.write_bytes((encoder.find() / pieces.FILE).read_bytes())


def _theirs(folder: Path, details: Spec) -> ExportSource:
    """A model of transformers that classifies one or two texts, or marks spans."""
    from torch import Tensor, nn

    from dynabench.models.backends.architectures import base, readers
    from dynabench.models.backends.transformers import TransformersOptions

    options = TransformersOptions.model_validate(details.options)
    autos = {"label": "AutoModelForSequenceClassification", "spans": "AutoModelForQuestionAnswering"}
    if details.returns not in autos or details.images:
        raise Invalid({"name": "Of transformers, models that read texts and return a label or spans are exported."})
    model, tokenizer, _ = base.load_weights(
        folder, options.model_copy(update={"precision": "fp32"}), autos[details.returns], "AutoTokenizer"
    )
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise Invalid({"name": "Its tokenizer is not a fast one, of which there would be a tokenizer.json."})
    model.to("cpu").set_attn_implementation("eager")
    inputs = [name for name in INPUTS if name in tokenizer.model_input_names]
    classifies = details.returns == "label"
    own = [str(model.config.id2label[column]) for column in range(model.config.num_labels)] if classifies else []
    meant = readers.matched(own, details.labels, options.labels) if classifies else []

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Tensor) -> Any:
            prediction = self.model(**dict(zip(inputs, tensors, strict=True)))
            if classifies:
                return readers.gathered(prediction.logits, meant, len(details.labels))
            return prediction.start_logits, prediction.end_logits

    outputs = ("logits",) if classifies else ("start_logits", "end_logits")
    graph_options = {"pad": tokenizer.pad_token_id or 0}
    return ExportSource(
        Network().eval(), inputs, outputs, graph_options, lambda path: tokenizer.backend_tokenizer.save(str(path))
    )


def _write_graph(source: ExportSource, path: Path) -> None:
    import onnx
    import torch

    axes = {0: torch.export.Dim("texts", min=1, max=4096), 1: torch.export.Dim("pieces", min=2, max=LONGEST)}
    sample_inputs = tuple(
        torch.full((2, 9), int(name != "token_type_ids")) for name in source.inputs
    )  # one each: none is another
    program = torch.onnx.export(
        source.network,
        sample_inputs,
        dynamo=True,
        dynamic_shapes=_shapes(source, axes),
        input_names=list(source.inputs),
        output_names=list(source.outputs),
        verbose=False,
    )
    if program is None:
        raise Invalid({"name": "PyTorch made no graph of it."})
    model = program.model_proto
    del model.graph.value_info[:]  # shapes of the traced sample, some of which quantisation would trip over
    onnx.save(model, str(path))


def _shapes(source: ExportSource, axes: dict[int, Any]) -> Any:
    """A module that takes `*tensors` has its inputs' shapes in a tuple within the tuple."""
    import inspect

    input_shapes = tuple(axes for _ in source.inputs)
    kinds = [parameter.kind for parameter in inspect.signature(source.network.forward).parameters.values()]
    return (input_shapes,) if inspect.Parameter.VAR_POSITIONAL in kinds else input_shapes


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what the exporters say about their own internals."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
