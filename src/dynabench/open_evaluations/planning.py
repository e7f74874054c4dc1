"""The plan of an open evaluation: everything that the choices leave open is guessed, and what is wrong is named."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from dynabench.datasets.stored import StoredRow
from dynabench.intake.mapping import FilePreview, preview_rows, value_at, value_key
from dynabench.intake.rows import BadRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import estimates, external_models, guessing, repository_models
from dynabench.open_evaluations.candidates import FittingModel, describe_misfit, find_candidates
from dynabench.open_evaluations.choices import MOST_MODELS, OpenChoices
from dynabench.open_evaluations.estimates import RunEstimate
from dynabench.open_evaluations.kinds import OPEN_TASKS, OpenTask
from dynabench.open_evaluations.metrics import read_metric
from dynabench.open_evaluations.multiple_choice import find_group
from dynabench.open_evaluations.published_metrics import (
    PinMetric,
    PinnedMetric,
    check_task,
    is_published,
    pin_on_platform,
)
from dynabench.open_evaluations.repository_models import PinModel
from dynabench.open_evaluations.row_source import ClassNames, RowSource
from dynabench.open_evaluations.rows import OpenRowReader
from dynabench.open_evaluations.sources import open_source
from dynabench.people.accounts.tables import Person

PREVIEW_ROWS = 1000
"""Rows that guesses and labels are made from."""
SAMPLE_ROWS = 5
RAW_ROWS, PREVIEW_COLUMNS, SHOWN_CHARACTERS = 3, 12, 120
"""Rows, columns and characters of a value that are shown before columns are chosen."""
PICTURE_PREVIEW_ROWS = 40
MOST_ROWS = 100_000
"""Rows of one open evaluation."""
MOST_LABELS = 400


@dataclass(frozen=True)
class HubPins:
    """The functions that pin metrics and models of a hub to commits."""

    metric: PinMetric
    model: PinModel


@dataclass
class OpenPlan:
    """A plan for one person. `choices` are complete as far as guesses go; `problems` say by field what is missing.

    `sample` are the first rows as models would get them, `refused` rows that do not fit, with the reason. `labels` are
    those in the rows that were looked at.
    """

    choices: OpenChoices
    source: RowSource
    preview: FilePreview
    task: OpenTask
    classes: ClassNames
    rows: int | None
    sample: list[StoredRow] = field(default_factory=list)
    refused: list[BadRow] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    candidates: list[FittingModel] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    estimate: RunEstimate | None = None
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def chosen(self) -> list[FittingModel]:
        """The chosen models of the platform."""
        return [candidate for candidate in self.candidates if candidate.reference in self.choices.models]

    @property
    def external(self) -> list[str]:
        """The chosen hub ids and addresses."""
        return [name for name in self.choices.models if external_models.is_external(name)]

    @property
    def offered_columns(self) -> list[str]:
        """The columns of the rows, and the several that hold a choice each as one."""
        groups = {find_group(self.preview.columns), self.choices.columns.get("choices", "")}
        return [*self.preview.columns, *sorted(group for group in groups if "," in group)]

    @property
    def unfitted_rows(self) -> list[dict[str, str]]:
        """The first rows as they are in the data, by column, for the choice of columns; empty where columns fit."""
        if self.sample:
            return []
        columns = self.preview.columns[:PREVIEW_COLUMNS]
        rows = self.preview.values[:RAW_ROWS]
        return [{column: value_key(value_at(row, column))[:SHOWN_CHARACTERS] for column in columns} for row in rows]

    @property
    def numbered(self) -> bool:
        """True where labels or tags are numbers, whose names a person can give, or has given."""
        if not self.task.named_by_number:
            return False
        column = self.choices.columns.get(self.task.reference.name, "")
        values = [value_at(row, column) for row in self.preview.values[:20]] if column else []
        flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
        return bool(self.choices.classes) or (bool(flat) and all(str(item).isdecimal() for item in flat))

    @property
    def counted_rows(self) -> int:
        """Rows that would be answered, as far as they were counted."""
        limit = self.choices.rows or MOST_ROWS
        return min(self.rows if self.rows is not None else len(self.preview.rows), limit)


def make_plan(
    session: Session, settings: Settings, viewer: Person, choices: OpenChoices, cards: Sequence[ModelCard]
) -> OpenPlan:
    """Plan an open evaluation of `choices` with models of these cards, which the viewer may use.

    Raises a problem where the dataset cannot be opened; everything else that is wrong stands in `problems`.
    """

    def pin(text: str) -> PinnedMetric:
        return pin_on_platform(session, settings, viewer, text)

    def pin_model(reference: str) -> str:
        return repository_models.pin_on_platform(session, settings, viewer, reference)

    source = open_source(session, settings, viewer, choices)
    plan = plan_rows(settings, source, choices, cards, HubPins(pin, pin_model))
    if plan.choices.models and "models" not in plan.problems:
        cards_by_name = {card.name: card for card in cards}
        plan.estimate = estimates.estimate_run(session, plan.counted_rows, plan.choices.models, cards_by_name)
        if reason := estimates.refusal(settings, plan.estimate):
            plan.problems.setdefault("rows", reason)
    return plan


def plan_rows(
    settings: Settings, source: RowSource, choices: OpenChoices, cards: Sequence[ModelCard], pins: HubPins
) -> OpenPlan:
    """Plan as `make_plan` does, for an open source and without an estimate; `pins` pin what is of the hub."""
    try:
        preview = preview_rows(source.read_rows(settings), PREVIEW_ROWS).require_rows()
        classes = source.class_names(settings)
    except errors.Invalid as problem:
        raise errors.Invalid({"dataset": "; ".join(problem.fields.values())}) from None
    name = choices.task if choices.task in OPEN_TASKS else guessing.guess_task(source, preview, classes)
    task = OPEN_TASKS[name]
    columns = guessing.guess_columns(task, source, preview, classes, choices.columns)
    completed = choices.model_copy(
        update={
            "dataset": source.reference or choices.dataset,
            "config": source.config,
            "split": source.split,
            "revision": source.revision,
            "task": name,
            "columns": columns,
            "title": choices.title or source.title[:200],
            "metrics": choices.metrics or list(task.metrics),
            "pair": choices.pair or guessing.guess_pair(task, columns),
            "base": guessing.guess_first_number(task, preview, columns, choices.base),
        }
    )
    plan = OpenPlan(completed, source, preview, task, classes, source.rows)
    plan.problems |= source.problems
    if choices.task and choices.task not in OPEN_TASKS:
        plan.problems["task"] = _("There is no kind of problem called %(name)s.", name=repr(choices.task))
    for role in task.roles:
        column = choices.columns.get(role.name, "")
        if column and not guessing.is_choosable(role, preview, column):
            plan.problems[f"column.{role.name}"] = _(
                "The dataset has no column %(name)s. Choose one of: %(columns)s.",
                name=repr(column[:60]), columns=", ".join(preview.columns[:30]),
            )  # fmt: skip
    _read_sample(plan)
    _match_models(plan, cards)
    _check_metrics(plan, pins.metric)
    _pin_models(plan, pins.model)
    _check_choices(settings, plan, {card.name: card for card in cards})
    return plan


def _read_sample(plan: OpenPlan) -> None:
    """Try the columns on the first rows: the sample, the labels, and what does not fit."""
    columns = plan.choices.columns
    for role in plan.task.roles:
        if role.required and role.name not in columns:
            message = _("Choose the column for %(role)s: one of %(columns)s.",
                        role=role.title, columns=", ".join(plan.preview.columns[:30]))  # fmt: skip
            plan.problems.setdefault(f"column.{role.name}", message)
    if any(field_name.startswith("column.") for field_name in plan.problems):
        return
    prepared = OpenRowReader(plan.task, plan.choices, plan.classes)
    pictures = any(role.kind == "image" for role in plan.task.inputs)
    rows = plan.preview.rows[: PICTURE_PREVIEW_ROWS if pictures else PREVIEW_ROWS]
    for row in prepared.read(rows):
        if len(plan.sample) < SAMPLE_ROWS:
            plan.sample.append(row)
    reference = columns[plan.task.reference.name]
    named = [str(name) for name in prepared.classes.get(reference, ())]
    plan.labels = list(dict.fromkeys([*named, *sorted(prepared.labels)]))
    plan.refused = prepared.report.bad_rows[:SAMPLE_ROWS]
    if not plan.sample:
        reason = plan.refused[0].message if plan.refused else ""
        field_name = f"column.{plan.task.reference.name}"
        plan.problems[field_name] = _("None of the first rows fits these columns: %(reason)s", reason=reason)
    elif plan.task.reference.kind == "label" and len(plan.labels) > MOST_LABELS:
        plan.problems[f"column.{plan.task.reference.name}"] = _(
            "This column has more than %(most)s different values, so it holds no labels. Choose another column or kind "
            "of problem.",
            most=MOST_LABELS,
        )


def _match_models(plan: OpenPlan, cards: Sequence[ModelCard]) -> None:
    plan.candidates = find_candidates(cards, plan.task, plan.labels, plan.choices.labels, plan.choices.roles)
    fitting = {candidate.reference for candidate in plan.candidates}
    plan.others = [card.name for card in cards if card.name not in fitting]


def _check_metrics(plan: OpenPlan, pin: PinMetric) -> None:
    """Check the metrics, and pin those of the hub to a commit."""
    names = []
    for metric in plan.choices.metrics:
        name = metric
        try:
            if is_published(metric):
                pinned = pin(metric)
                name = pinned.text
                check_task(pinned, plan.task)
                plan.problems |= {"metrics": pinned.notice} if pinned.notice else {}
            else:
                read_metric(metric)
        except errors.Invalid as problem:
            plan.problems |= problem.fields
        names.append(name)
    plan.choices = plan.choices.model_copy(update={"metrics": list(dict.fromkeys(names))})


def _pin_models(plan: OpenPlan, pin: PinModel) -> None:
    """Pin models in repositories of the hub to a commit."""
    pinned_names: dict[str, str] = {}
    for name in plan.choices.models:
        pinned_names[name] = name
        if repository_models.is_repository(name):
            try:
                pinned_names[name] = pin(name)
            except errors.Invalid as problem:
                plan.problems |= problem.fields
    labels = {pinned_names.get(name, name): meanings for name, meanings in plan.choices.labels.items()}
    models = list(dict.fromkeys(pinned_names.values()))
    plan.choices = plan.choices.model_copy(update={"models": models, "labels": labels})


def _check_choices(settings: Settings, plan: OpenPlan, cards: dict[str, ModelCard]) -> None:
    choices = plan.choices
    if not choices.models:
        plan.problems["models"] = _("Choose at least one model, and at most %(most)s.", most=MOST_MODELS)
    known_names = {candidate.reference for candidate in plan.candidates}
    for name in choices.models:
        if name in known_names:
            continue
        if name in cards:
            plan.problems["models"] = describe_misfit(cards[name], plan.task)
        elif reason := external_models.refusal(settings, name):
            plan.problems["models"] = reason
    for candidate in plan.chosen:
        if not candidate.labels.fits:
            plan.problems["labels"] = _(
                "No label of %(model)s (%(labels)s) is a label of the rows (%(rows)s). Say below what its labels mean.",
                model=candidate.reference,
                labels=", ".join(candidate.card.labels[:6]),
                rows=", ".join(plan.labels[:6]),
            )
    if choices.rows > MOST_ROWS or (not choices.rows and plan.rows is not None and plan.rows > MOST_ROWS):
        plan.problems["rows"] = _(
            "The dataset has %(n)s rows; one evaluation takes at most %(most)s. Take the first rows only.",
            n=f"{plan.rows or choices.rows:,}",
            most=f"{MOST_ROWS:,}",
        )
