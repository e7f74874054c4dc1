"""Modules and results as JSON."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynabench.evaluate.module import Kind
from dynabench.site.cards.library import LibraryEntry

Name = Annotated[str, Field(max_length=100)]


class ModuleOut(BaseModel):
    """A module in the list."""

    kind: Kind
    name: str
    description: str
    tasks: list[str]
    computes: bool = Field(description="Whether it can be computed here; else `why_not` says why.")
    why_not: str


class OutputOut(BaseModel):
    """One key of a result, its range and which way is better."""

    name: str
    text: str
    low: float | None
    high: float | None
    better: Literal["higher", "lower"] | None


class OptionOut(BaseModel):
    """An option. Those without `takes` can be given in Python alone."""

    name: str
    text: str
    takes: str
    choices: list[Any]
    default: Any


class WorkedExampleOut(BaseModel):
    """A worked example: `result` or the words of the `error`."""

    title: str
    columns: dict[str, list[Any]]
    options: dict[str, Any]
    config: str | None
    result: dict[str, Any]
    error: str | None


class CardOut(ModuleOut):
    """All that is known of a module."""

    formula: str
    columns: dict[str, str]
    optional_columns: list[str]
    options: list[OptionOut]
    configs: list[str]
    outputs: list[OutputOut]
    examples: list[WorkedExampleOut]
    limits: str
    citation: str
    references: list[str]


class ModuleList(BaseModel):
    """Modules; all fit on one page."""

    items: list[ModuleOut]
    next: None = None


class ComputeIn(BaseModel):
    """The columns to compute, of equal length by name, and options."""

    model_config = ConfigDict(extra="forbid", strict=True)

    columns: dict[Name, Annotated[list[Any], Field(max_length=10_000)]]
    options: dict[Name, Any] = Field(default_factory=dict, max_length=40)
    config: Name | None = None
    interval: Annotated[float, Field(gt=0.5, lt=1)] | None = Field(
        default=None, description="Level of bootstrap intervals, such as 0.95."
    )
    per_example: bool = False


class MetricResultOut(BaseModel):
    """The result by key; with `interval` and `per_example` in it where they were asked for."""

    kind: Kind
    name: str
    result: dict[str, Any]


def module_fields(entry: LibraryEntry) -> dict[str, Any]:
    """Return the fields of `ModuleOut` for an entry."""
    return {
        "kind": entry.kind,
        "name": entry.name,
        "description": entry.card.description,
        "tasks": list(entry.card.tasks),
        "computes": not entry.closed,
        "why_not": entry.closed,
    }


def card_out(entry: LibraryEntry) -> CardOut:
    """Return a module's whole card."""
    module_card, module = entry.card, entry.module
    options = [
        OptionOut(name=name, text=text, takes="", choices=[], default=None)
        if name not in entry.options
        else OptionOut(
            name=name,
            text=text,
            takes=entry.options[name].describe_values(),
            choices=list(entry.options[name].choices),
            default=entry.options[name].default,
        )
        for name, text in module_card.options.items()
    ]
    examples = [
        WorkedExampleOut(
            title=item.title,
            columns={name: list(part) for name, part in item.inputs.items()},
            options=dict(item.options),
            config=item.config,
            result=dict(item.result),
            error=item.error,
        )
        for item in entry.examples
    ]
    return CardOut(
        **module_fields(entry),
        formula=module_card.formula,
        columns=dict(module_card.inputs),
        optional_columns=list(module.optional),
        options=options,
        configs=list(module.configs),
        outputs=[OutputOut(**vars(item)) for item in module_card.outputs],
        examples=examples,
        limits=module_card.limits,
        citation=module_card.citation,
        references=list(module_card.references),
    )
