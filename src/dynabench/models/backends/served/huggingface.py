"""Models behind Hugging Face inference endpoints, by the JSON of the pipelines that answer there."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from dynabench.kit.errors import Invalid
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.base import EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Complaint
from dynabench.models.protocol import Inputs, Output

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


class Options(EndpointOptions):
    """Options of the pipeline that answers, and of what it is sent."""

    pipeline: Pipeline = "text-classification"
    hypothesis: str = Field("", description="Zero-shot: the sentence with {} for a label.")
    prompt: str = Field("", description="Generation: the template, with {field} for inputs and {labels}.")
    max_tokens: int = Field(64, ge=1, le=4096, description="Generation: tokens of an answer at most.")


class HuggingFaceModel(Served):
    """A model of an inference endpoint."""

    options: Options

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        fitting = RETURNS.get(self.options.pipeline, ("label",))
        if self.card.returns not in fitting:
            told = f"{self.options.pipeline} answers with {' or '.join(fitting)}, this model with {self.card.returns}."
            raise Invalid({"options.pipeline": told})
        if self.options.pipeline == "question-answering" and len(self.card.inputs) != 2:
            raise Invalid({"inputs": "question-answering reads two: the question, then the passage."})
        answers.check_prompt(self.card, self.options.prompt)

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
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
        asked: dict[str, Any] = {"candidate_labels": [theirs.get(label, label) for label in self.card.labels]}
        return asked | ({"hypothesis_template": self.options.hypothesis} if self.options.hypothesis else {})
