"""A person's choices for an open evaluation, as a document and as the query of an address."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote, urlencode

from pydantic import Field, ValidationError

from dynabench.kit.errors import Invalid, validation_errors
from dynabench.kit.schemas import StrictModel

MOST_MODELS = 20
MOST_METRICS = 20
SINGLE_NAMES = ("dataset", "config", "split", "revision", "task", "pair", "title", "rows", "base")
"""Choices that are one value in the address."""
MOST_CLASSES = 400
LEFT_OUT = "-"
"""The column of a role that a person leaves out."""
ClassName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^,\x00-\x1f]+$")]
OneLine = Annotated[str, Field(max_length=300)]


class OpenChoices(StrictModel):
    """The choices; what is left out is guessed.

    `dataset` is `file:ID` (an upload), `dataset:TASK/NAME` (of this platform), `hub:OWNER/NAME[@REVISION]`
    (of its hub) or `remote:OWNER/NAME[@REVISION]` (of the hub of `DYNABENCH_HUB_URL`).
    `columns` maps roles to columns, `labels` maps a model's labels to those of the rows, by model. `rows` takes the
    first rows only. `classes` names the classes of a column of numbers, from 0 on; `base` is the number of the
    first choice of multiple choice. `cards` puts the results on the models' cards at the end.
    """

    dataset: OneLine = ""
    config: Annotated[str, Field(max_length=100)] = ""
    split: Annotated[str, Field(max_length=100)] = ""
    revision: Annotated[str, Field(max_length=100)] = ""
    task: Annotated[str, Field(max_length=40)] = ""
    pair: Annotated[str, Field(max_length=20)] = ""
    title: Annotated[str, Field(max_length=200)] = ""
    rows: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    base: Literal["", "0", "1"] = ""
    classes: list[ClassName] = Field([], max_length=MOST_CLASSES)
    listed: bool = False
    cards: bool = False
    columns: dict[str, OneLine] = Field({}, max_length=10)
    metrics: list[Annotated[str, Field(min_length=1, max_length=400)]] = Field([], max_length=MOST_METRICS)
    models: list[Annotated[str, Field(min_length=1, max_length=300)]] = Field([], max_length=MOST_MODELS)
    labels: dict[str, dict[str, OneLine]] = Field({}, max_length=MOST_MODELS)

    @classmethod
    def from_query(cls, pairs: Iterable[tuple[str, str]]) -> "OpenChoices":
        """Read the choices in the query of an address or in a form; raises `Invalid` for what is too long or no
        number. Unknown names are ignored."""
        values: dict[str, Any] = {"columns": {}, "labels": {}, "metrics": [], "models": []}
        for name, raw in pairs:
            text = raw.strip()
            if name in SINGLE_NAMES and text:
                values[name] = text
            elif name == "classes":
                values["classes"] = [part.strip() for part in text.split(",") if part.strip()]
            elif name in ("hub", "remote") and text:
                values["dataset"] = f"{name}:{text.removeprefix(f'{name}:')}"
            elif name in ("listed", "cards"):
                values[name] = text in ("1", "true", "on")
            elif name in ("metric", "model") and text:
                values[f"{name}s"] += [part for part in text.split() if part not in values[f"{name}s"]]
            elif name.startswith("column.") and text:
                values["columns"][name.removeprefix("column.")] = text
            elif name.startswith("label.") and text:
                model, _dot, label = name.removeprefix("label.").partition(":")
                values["labels"].setdefault(unquote(model), {})[label] = text
        return cls.parse(values)

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> "OpenChoices":
        """Check a document of choices; raises `Invalid` by field."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise Invalid(validation_errors(error, "")) from None

    @property
    def mapped(self) -> dict[str, str]:
        """The columns by role, without the roles that a person left out."""
        return {role: column for role, column in self.columns.items() if column != LEFT_OUT}

    @property
    def roles(self) -> set[str]:
        """The roles that the rows have."""
        return {*self.mapped, *(["pair"] if self.pair else [])}

    def query(self) -> str:
        """Return the choices as the query of an address."""
        pairs = [(name, str(value)) for name in SINGLE_NAMES if (value := getattr(self, name))]
        pairs += [(name, "1") for name in ("listed", "cards") if getattr(self, name)]
        pairs += [("classes", ",".join(self.classes))] if self.classes else []
        pairs += [(f"column.{role}", column) for role, column in self.columns.items()]
        pairs += [("metric", metric) for metric in self.metrics]
        pairs += [("model", model) for model in self.models]
        pairs += [
            (label_field(model, label), meaning)
            for model, meanings in self.labels.items()
            for label, meaning in meanings.items()
        ]
        return urlencode(pairs)


def label_field(model: str, label: str) -> str:
    """Return the name of the form's field that says what a model's label means."""
    return f"label.{quote(model, safe='')}:{label}"
