"""The evaluation library as JSON: the list of modules, their cards, and results of small inputs."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from dynabench.evaluate.module import Kind
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts.auth import limited, needs, scope
from dynabench.site.cards import library, service
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


router = APIRouter(prefix="/api/v1", tags=["evaluate"], dependencies=[Depends(scope("read"))])
COMPUTE_LIMIT = ("compute", 60, 60.0)
Words = Annotated[str, Query(max_length=200)]


@router.get("/evaluate")
def list_modules(q: Words = "", task: Words = "", kind: Kind | None = None) -> ModuleList:
    """Metrics, measurements and comparisons, with all the words of `q`, for `task`, of `kind`."""
    entries = library.search_entries(q, task, kind or "")
    return ModuleList(items=[ModuleOut(**module_fields(entry)) for entry in entries])


@router.get("/evaluate/{kind}/{name}")
def show_module(kind: str, name: str) -> CardOut:
    """A module's card: formula, columns, options, outputs with range and direction, worked examples, limits."""
    return card_out(library.find_entry(kind, name))


@router.post("/evaluate/{kind}/{name}", dependencies=[Depends(limited(*COMPUTE_LIMIT))])
@needs("read")
async def compute_module(request: Request, kind: str, name: str, body: ComputeIn) -> MetricResultOut:
    """The module's result for up to 10,000 rows and 1 MiB, within 8 seconds; the rows are not stored."""
    entry = await run_in_threadpool(library.find_entry, kind, name)
    if body.interval is not None and not entry.has_interval:
        raise Invalid({"interval": _("This module has no interval: it returns a single number.")})
    extra = {"config": body.config, "interval": body.interval, "per_example": body.per_example}
    try:
        computation = service.check_computation(entry, body.columns, body.options, **extra)
        result = await request.app.state.calculator.compute(**computation.request())
    except Invalid as problem:
        raise Invalid(service.rename_for_api(service.errors_by_field(entry, problem.fields))) from None
    return MetricResultOut(kind=entry.kind, name=entry.name, result=result)
