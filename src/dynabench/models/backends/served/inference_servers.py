"""Models behind inference servers: Hugging Face endpoints, and the Open Inference Protocol v2 (KServe, Triton, ...)."""

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.base import EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Complaint, segment
from dynabench.models.host import wire
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.models.validity import Broken

Pipeline = Literal[
    "text-classification",
    "zero-shot-classification",
    "question-answering",
    "token-classification",
    "text-generation",
]
RETURNS = {
    "question-answering": ("spans",),
    "token-classification": ("tags",),
    "text-generation": ("label", "text"),
}
"""What models of a pipeline may return; the others choose a label."""


class HuggingFaceOptions(EndpointOptions):
    """HuggingFaceOptions of the pipeline that answers, and of what it is sent."""

    pipeline: Pipeline = "text-classification"
    hypothesis: str = Field("", description="Zero-shot: the sentence with {} for a label.")
    prompt: str = Field("", description="Generation: the template, with {field} for inputs and {labels}.")
    max_tokens: int = Field(64, ge=1, le=4096, description="Generation: tokens of an answer at most.")


class HuggingFaceModel(Served):
    """A model of an inference endpoint."""

    options: HuggingFaceOptions

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        fitting = RETURNS.get(self.options.pipeline, ("label",))
        if self.card.returns not in fitting:
            message = (
                f"{self.options.pipeline} answers with {' or '.join(fitting)}, this model with {self.card.returns}."
            )
            raise Invalid({"options.pipeline": message})
        if self.options.pipeline == "question-answering" and len(self.card.inputs) != 2:
            raise Invalid({"inputs": "question-answering reads two: the question, then the passage."})
        answers.check_prompt(self.card, self.options.prompt)

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output for the one input."""
        (inputs,) = batch
        with self.paid(self.options.price_per_call) as bill:
            raw = self.endpoint.json("POST", "", self._request(inputs))
            bill.cost = bill.reserved
        if self.options.pipeline == "text-generation":
            return [answers.read_written(self.card, answers.text_of(self.card, raw))]
        return [answers.read_output(self.card, self.options.labels, inputs, raw)]

    def probe(self) -> str:
        """Return an empty version if the container reports that it is healthy.

        An address without such a page answers, and counts as healthy. Other errors of the call are raised.
        """
        try:
            self.endpoint.call("GET", "/health")
        except Complaint as complaint:
            if complaint.remote_status not in (404, 405):
                raise
        return ""

    def _request(self, inputs: Inputs) -> dict[str, Any]:
        values = [inputs[name] for name in self.card.inputs]
        pipeline = self.options.pipeline
        if pipeline == "question-answering":
            return {"inputs": {"question": values[0], "context": values[1]}}
        if pipeline == "text-generation":
            template = self.options.prompt or answers.plain_prompt(self.card)
            parameters = {"max_new_tokens": self.options.max_tokens, "return_full_text": False, "do_sample": False}
            return {"inputs": answers.fill_prompt(template, self.card, inputs), "parameters": parameters}
        if pipeline == "zero-shot-classification":
            return {"inputs": "\n".join(values), "parameters": self._zero_shot()}
        if pipeline == "token-classification":
            return {"inputs": values[-1], "parameters": {"aggregation_strategy": "simple"}}
        text: Any = values[0] if len(values) == 1 else {"text": values[0], "text_pair": "\n".join(values[1:])}
        return {"inputs": text, "parameters": {"top_k": len(self.card.labels)}}

    def _zero_shot(self) -> Mapping[str, Any]:
        theirs = {ours: name for name, ours in self.options.labels.items()}
        parameters: dict[str, Any] = {"candidate_labels": [theirs.get(label, label) for label in self.card.labels]}
        return parameters | ({"hypothesis_template": self.options.hypothesis} if self.options.hypothesis else {})


Holds = Literal["answers", "indices", "probabilities", "logits", "json"]


class InferenceOptions(EndpointOptions):
    """InferenceOptions of a model on an Open Inference Protocol server: its name and tensors there.

    The defaults are those of a Dynabench host.
    """

    model: str = Field(min_length=1, description="Its name there.")
    version: str = Field("", description="The version asked for; empty leaves it to the server.")
    tensors: dict[str, str] = Field({}, description="Their tensor by our field, where it is called otherwise.")
    columns: bool = Field(False, description="Send tensors of shape [n, 1] rather than [n].")
    output: str = Field("", description="The tensor that is read; empty means the one called as the answer.")
    holds: Holds = Field("answers", description="What that tensor holds.")
    probabilities: str = Field(wire.PROBABILITIES, description="The tensor of probabilities, if there is one.")


class InferenceModel(Served):
    """A model of an Open Inference Protocol v2 server, over HTTP with JSON."""

    rows: ClassVar[int] = 32
    options: InferenceOptions

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        if strangers := sorted(set(self.options.tensors) - set(self.card.inputs)):
            raise Invalid({"options.tensors": f"{', '.join(strangers)}: no inputs of the model."})
        if self.card.returns != "label" and self.options.holds not in ("answers", "json"):
            raise Invalid({"options.holds": "Without labels, a tensor holds answers or json."})

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input by one request."""
        body = wire.request(batch, self.card.inputs)
        for tensor in body["inputs"]:
            tensor["name"] = self.options.tensors.get(tensor["name"], tensor["name"])
            if self.options.columns:
                tensor["shape"] = [len(batch), 1]
        with self.paid(self.options.price_per_call) as bill:
            document = self.endpoint.json("POST", f"{self._path}/infer", body)
            bill.cost = bill.reserved
        tensors = self._tensors(document)
        version = self._served(document)
        return [self.record_version(output, version) for output in self._outputs(tensors, batch)]

    def probe(self) -> str:
        """The version that would answer: the one asked for, or the only one there is."""
        self.endpoint.call("GET", f"{self._path}/ready")
        if self.options.version:
            return self.options.version
        metadata = self.endpoint.json("GET", self._path)
        versions = metadata.get("versions") if isinstance(metadata, Mapping) else None
        return str(versions[0]) if isinstance(versions, list) and len(versions) == 1 else ""

    @property
    def _path(self) -> str:
        version = f"/versions/{segment(self.options.version)}" if self.options.version else ""
        return f"/v2/models/{segment(self.options.model)}{version}"

    def _served(self, document: Mapping[str, Any]) -> str:
        version = str(document.get("model_version") or "")
        if self.options.version and version and version != self.options.version:
            raise Unavailable(f"{self.card.name} answered as version {version}, not {self.options.version}.")
        return version

    def _tensors(self, document: Any) -> dict[str, Mapping[str, Any]]:
        tensors = document.get("outputs") if isinstance(document, Mapping) else None
        if not isinstance(tensors, list) or not all(isinstance(t, Mapping) and "name" in t for t in tensors):
            raise Broken(f"{self.card.name} answered without a list of `outputs`.")
        return {str(tensor["name"]): tensor for tensor in tensors}

    def _outputs(self, tensors: Mapping[str, Mapping[str, Any]], batch: Sequence[Inputs]) -> list[ModelOutput]:
        name = self.options.output or self.card.answer
        if name not in tensors:
            tensor_names = ", ".join(tensors) or "none"
            raise Broken(
                f"{self.card.name} answered without a tensor {name!r}; there are: {tensor_names}. See `output`."
            )
        rows = self._read(tensors[name], len(batch))
        outputs = [self._output(inputs, row) for inputs, row in zip(batch, rows, strict=True)]
        extras = self._beside(tensors, wire.EXTRAS, len(batch))
        if self.options.holds == "answers":
            probabilities = self._beside(tensors, self.options.probabilities, len(batch))
            labels = self._labels(tensors)
            outputs = [self._with(output, row, labels) for output, row in zip(outputs, probabilities, strict=True)]
        row_extras = [row if isinstance(row, dict) else {} for row in extras]
        return [ModelOutput(o.answer, o.probabilities, row) for o, row in zip(outputs, row_extras, strict=True)]

    def _output(self, inputs: Inputs, row: Any) -> ModelOutput:
        holds = self.options.holds
        if holds in ("probabilities", "logits"):
            if not isinstance(row, list):
                raise Broken(f"{self.card.name} answered {row!r} where a row of numbers is needed.")
            scores: answers.Scores = "logits" if holds == "logits" else "probabilities"
            return answers.likeliest_label(self.card, self.options.labels, row, scores)
        if holds == "indices":
            whole = isinstance(row, float) and row.is_integer()
            return answers.read_output(self.card, self.options.labels, inputs, int(row) if whole else row)
        return answers.read_output(self.card, self.options.labels, inputs, row)

    def _with(self, output: ModelOutput, probabilities: Any, labels: list[str] | None) -> ModelOutput:
        if probabilities is None:
            return output
        if self.card.returns != "label":
            return ModelOutput(output.answer, probabilities)
        if isinstance(probabilities, list) and labels is not None and len(labels) == len(probabilities):
            probabilities = dict(zip(labels, probabilities, strict=True))
        if not isinstance(probabilities, Mapping | list):
            raise Broken(f"{self.card.name} answered {probabilities!r} as probabilities.")
        return ModelOutput(
            output.answer, answers.probability_table(self.card, self.options.labels, probabilities, "probabilities")
        )

    def _labels(self, tensors: Mapping[str, Mapping[str, Any]]) -> list[str] | None:
        parameters = tensors.get(self.options.probabilities, {}).get("parameters")
        labels = parameters.get("labels") if isinstance(parameters, Mapping) else None
        return labels if isinstance(labels, list) and all(isinstance(name, str) for name in labels) else None

    def _beside(self, tensors: Mapping[str, Mapping[str, Any]], name: str, rows: int) -> list[Any]:
        return self._read(tensors[name], rows) if name in tensors else [None] * rows

    def _read(self, tensor: Mapping[str, Any], rows: int) -> list[Any]:
        """A tensor by rows: values where it has one a row, lists of them otherwise; JSON is read."""
        try:
            return by_row(tensor, rows, self.options.holds == "json")
        except (ValueError, TypeError, RecursionError) as error:
            raise Broken(f"{self.card.name}, tensor {tensor['name']!r}: {error}.") from error


def by_row(tensor: Mapping[str, Any], rows: int, packed: bool) -> list[Any]:
    """The values of a tensor by its first axis, which has `rows` entries; lists of them where there are several each.

    Data may be nested or flat; the shape says what it means. Raises ValueError where the two do not fit.
    """
    shape, data = tensor.get("shape"), tensor.get("data")
    if not isinstance(data, list) or not isinstance(shape, list) or not all(type(size) is int for size in shape):
        raise ValueError("a tensor has a shape and a list of data")
    while data and all(isinstance(value, list) for value in data):
        data = [value for row in data for value in row]
    if not shape or shape[0] != rows or prod(shape) != len(data) or not data:
        raise ValueError(f"{len(data)} values of shape {shape} for {rows} inputs")
    values = [json.loads(text) for text in data] if packed or wire.is_json(tensor) else data
    width = len(values) // rows
    return values if width == 1 else [values[at : at + width] for at in range(0, len(values), width)]
