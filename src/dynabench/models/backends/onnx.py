"""Models as ONNX graphs: one or two texts in, a label or a piece of the last text out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Invalid
from dynabench.models import spec, validity
from dynabench.models.backends import pieces
from dynabench.models.backends.base import Alone, Backend, CheckedInputs, Prepared, output
from dynabench.models.backends.onnx_graph import FILE, Array, Graph
from dynabench.models.backends.pieces import Pieces, Reading
from dynabench.models.backends.spans import best, likeliest, spans
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput


class OnnxOptions(BaseModel):
    """Options of an ONNX graph in `model.yaml`.

    The names of inputs and outputs are needed only where they are not the usual ones.
    """

    model_config = ConfigDict(extra="forbid")

    reader: Literal["plain", "words"] = Field(
        "plain", description="`plain`: the tokenizer alone; `words`: as our own models, words and named emoji first."
    )
    lower: bool = Field(False, description="Lower case before the tokenizer, where it does not do so itself.")
    ids: str = Field("", description="The graph's input for word pieces; usually input_ids.")
    mask: str = Field("", description="The one that is 1 on pieces, 0 on padding; usually attention_mask.")
    types: str = Field("", description="The one that tells first and second text apart; usually token_type_ids.")
    scores: str = Field("", description="A classifier's output; usually logits, or the only one.")
    start: str = Field("", description="Where answers begin; usually start_logits.")
    end: str = Field("", description="Where answers end; usually end_logits.")
    probabilities: bool = Field(False, description="A classifier's output has been through a softmax.")
    padding: Literal["longest", "max_length"] = Field("longest", description="How far texts are filled up.")
    pad: int = Field(0, ge=0, description="The piece that texts are filled up with.")
    threads: int | None = Field(None, ge=1, le=16, description="At most; by default one a core, up to four.")


@dataclass(frozen=True)
class GraphInputs(CheckedInputs):
    """Inputs with the rows that the graph reads of them; a passage may take several."""

    rows: Sequence[Pieces] = ()
    reading: Reading | None = None


class OnnxModel(Alone):
    """A graph in ONNX Runtime on this machine's processor."""

    room: int | None = 2048

    def __init__(
        self,
        card: ModelCard,
        options: OnnxOptions,
        graph: Graph,
        reader: pieces.WordTokenizer | pieces.Plain,
        least: int,
    ) -> None:
        super().__init__(card)
        self._options, self._graph, self._reader, self._least = options, graph, reader, least
        self._outputs = _outputs(card, options, graph.outputs)

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder and try it once; raises `Invalid` when it is broken."""
        details, card = spec.read(folder), spec.card(folder)
        options = OnnxOptions.model_validate(details.options)
        _check_card(card)
        tokenizer = pieces.tokenizer(folder)
        names = {name: getattr(options, name) for name in ("ids", "mask", "types")}
        graph = Graph(folder, names, options.threads, options.pad)
        longest = min(details.max_length, graph.length or details.max_length)
        reader = pieces.WordTokenizer(tokenizer, longest) if options.reader == "words" else None
        least = longest if options.padding == "max_length" else 0
        model = cls(card, options, graph, reader or pieces.Plain(tokenizer, longest, options.lower), least)
        model._try_out()
        return model

    def prepare(self, inputs: Inputs) -> GraphInputs:
        """The inputs' word pieces; raises `Invalid` for inputs without text."""
        checked = super().prepare(inputs)
        texts = [str(checked.inputs[name]) for name in self.card.inputs]
        if self.card.returns == "label":
            row = self._reader.texts(*texts)
            return GraphInputs(checked.inputs, len(row), (row,))
        reading = self._reader.passage(*texts)
        rows = [window.pieces for window in reading.windows]
        return GraphInputs(checked.inputs, sum(map(len, rows)), rows, reading)

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """One checked output per call, in order; raises `Broken` when the graph fails or says no numbers."""
        read: list[GraphInputs] = [prepared for _, prepared in calls]
        row_arrays = iter(self._run([row for call_inputs in read for row in call_inputs.rows]))
        outputs = [self._make_output(call_inputs, [next(row_arrays) for _ in call_inputs.rows]) for call_inputs in read]
        return validity.check_outputs(self.card, [call_inputs.inputs for call_inputs in read], outputs)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def close(self) -> None:
        """Free the graph's threads."""
        self._graph.close()

    def _run(self, rows: Sequence[Pieces]) -> list[list[Array]]:
        try:
            arrays_by_row = self._graph.run(rows, self._outputs, self._least)
        except Exception as error:
            raise validity.Broken(f"{self.card.name}: ONNX Runtime failed: {error}") from error
        for row, arrays in zip(rows, arrays_by_row, strict=True):
            _check_arrays(self.card, len(row), arrays)
        return arrays_by_row

    def _make_output(self, read: GraphInputs, arrays_by_window: Sequence[Sequence[Array]]) -> ModelOutput:
        if read.reading is None:
            scores = arrays_by_window[0][0]
            return output(self.card, np.log(np.maximum(scores, 1e-30)) if self._options.probabilities else scores)
        # scores (pieces, 2) of start and end of each window
        ends = [arrays[0] if len(arrays) == 1 else np.stack(arrays, -1) for arrays in arrays_by_window]
        candidates = spans(read.reading, ends)
        if not candidates:
            return ModelOutput({self.card.answer: []}, {})
        chosen = best(candidates)
        answer = {"start": chosen.start, "end": chosen.end, "text": chosen.text}
        return ModelOutput({self.card.answer: [answer]}, likeliest(candidates, chosen))

    def _try_out(self) -> None:
        """Ask once, about a short and a longer text together."""
        try:
            self.predict([dict.fromkeys(self.card.inputs, text) for text in ("A try.", "Another try, of more words.")])
        except validity.Broken as error:
            self.close()
            raise Invalid({FILE: error.detail}) from error


def _check_card(card: ModelCard) -> None:
    if card.images or len(card.inputs) > 2 or card.returns not in ("label", "spans"):
        message = "An ONNX model reads one or two texts and returns a label, or spans of the second."
        raise Invalid({"inputs": message})
    if card.returns == "spans" and len(card.inputs) != 2:
        raise Invalid({"inputs": "A model that marks spans has two inputs, question and passage."})


def _outputs(card: ModelCard, options: OnnxOptions, output_names: Sequence[str]) -> list[str]:
    """The outputs that are asked for: one, or those of start and end."""

    def choose_output(option: str, usual: str) -> str:
        chosen_name = str(getattr(options, option))
        if chosen_name and chosen_name not in output_names:
            raise Invalid(
                {f"options.{option}": f"The graph has no output {chosen_name!r}; it has {', '.join(output_names)}."}
            )
        return chosen_name or (usual if usual in output_names else "")

    ends = [choose_output("start", "start_logits"), choose_output("end", "end_logits")]
    if card.returns == "spans" and all(ends):
        return ends
    scores = choose_output("scores", "logits") or (output_names[0] if len(output_names) == 1 else "")
    if scores:
        return [scores]
    which = "scores" if card.returns == "label" else "start and end, or scores,"
    raise Invalid({FILE: f"The graph's outputs are {', '.join(output_names)}; the options {which} say which to read."})


def _check_arrays(card: ModelCard, pieces: int, arrays: Sequence[Any]) -> None:
    """Raises `Broken` with what the graph gave and what is needed."""
    shapes = [tuple(np.shape(array)) for array in arrays]
    if card.returns == "label":
        fits = shapes == [(len(card.labels),)]
        needed_shapes = f"(texts, {len(card.labels)}), one score for each of {', '.join(card.labels)}"
    else:
        tail = (2,) if len(arrays) == 1 else ()
        fits = all(shape[1:] == tail and shape[:1] >= (pieces,) for shape in shapes)
        needed_shapes = "(texts, pieces) for start and end each, or (texts, pieces, 2)"
    if not fits:
        actual_shapes = " and ".join(f"(texts, {', '.join(map(str, shape))})" for shape in shapes)
        raise validity.Broken(
            f"{card.name}: the graph gave scores of the shape {actual_shapes}; needed: {needed_shapes}."
        )
    if not all(np.issubdtype(array.dtype, np.floating) and np.isfinite(array).all() for array in arrays):
        raise validity.Broken(f"{card.name}: the graph gave scores that are no numbers (NaN or infinite).")
