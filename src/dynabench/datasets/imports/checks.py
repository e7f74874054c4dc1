"""Checks of finished examples before they are stored, by the task's config, as for those written here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.datasets.imports import places
from dynabench.datasets.imports.state import State
from dynabench.datasets.rows import Row, ValidationPart
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig


@dataclass(frozen=True)
class Ready:
    """A row that will be stored: checked, with the place where it belongs."""

    row: Row
    round_id: int
    version_id: int
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any]
    said: dict[str, Any] | None
    votes: list[dict[str, Any]]
    at: datetime


def check(session: Session, task_id: str, row: Row, state: State) -> Ready:
    """The row as it will be stored. Raises `Invalid`; what is left out of it is noted in `state`."""
    version, exact = places.version(session, task_id, row.task_version)
    config = rounds.config_of(session, version.id)
    held = {group: _filled(session, task_id, config, group, values) for group, values in
            (("context", row.context.values), ("input", row.input), ("answer", row.answer))}  # fmt: skip
    context = config.clean_context(held["context"])
    given = config.clean_input(held["input"], context)
    answer = config.clean_answer(held["answer"], context=context, input=given)
    _known_fields(config, row)
    at = row.at or now()
    said = None
    if row.explanation is not None:
        said = _lenient(
            lambda values: config.clean_ask(values, input=given, fooled=row.fooled, context=context, answer=answer),
            "ask.", row.explanation.values, state, "Values of explanations that the task does not ask for",
        )  # fmt: skip
    votes = [_vote(config, context, given, answer, row, one, state) for one in _one_each(row, state)]
    if not exact and row.task_version:
        state.note(
            f"Examples of version {row.task_version}, which is not here; they stand under version {version.number}"
        )
    found = places.round_of(session, task_id, row, version, state.rounds)
    return Ready(row, found, version.id, context, given, answer, said, votes, at)


def _filled(session: Session, task_id: str, config: TaskConfig, group: str, values: dict[str, Any]) -> Any:
    return media.fill_media_values(session, task_id, config.fields(group), group, values)


def _known_fields(config: TaskConfig, row: Row) -> None:
    """Refuse what pages could not show: values of no field, and predictions that answer something else."""
    for member, values, group in (("initial", row.initial, "input"), ("goal", row.goal or {}, "answer")):
        if extra := values.keys() - {one.name for one in config.fields(group)}:
            raise errors.Invalid({f"{member}.{sorted(extra)[0][:60]}": _("The task has no such field.")})
    asked = [(one.model, one.method, one.label) for one in row.attributions]
    if len(set(asked)) < len(asked):
        raise errors.Invalid({"attributions": _("The same model, method and label come twice.")})
    inputs = config.model_inputs(row.context.values, row.input)
    for place, said in enumerate(row.predictions):
        try:
            config.fooled_by(said.answer, row.answer, inputs, said.probabilities)
        except (errors.Unavailable, TypeError, ValueError, AttributeError, KeyError):
            raise errors.Invalid({f"predictions.{place}.answer": _("This is no answer to the task.")}) from None


def _vote(
    config: TaskConfig,
    context: dict[str, Any],
    given: dict[str, Any],
    answer: dict[str, Any],
    row: Row,
    vote: Any,
    state: State,
) -> dict[str, Any]:
    blind = None
    if vote.blind_answer is not None:
        blind = config.clean_answer(vote.blind_answer, context=context, input=given)
    values = _lenient(
        lambda raw: config.clean_validation(
            raw, vote=vote.vote, input=given, context=context, answer=answer, fooled=row.fooled
        ),
        "validation.", vote.values, state, "Values of votes that the task does not ask for",
    )  # fmt: skip
    return {"vote": vote, "blind_answer": blind, "values": values}


def _lenient(clean: Any, group: str, values: dict[str, Any], state: State, what: str) -> dict[str, Any]:
    """The values that the task takes; the others are noted. What is wanted and missing is missing."""
    kept = dict(values)
    for _try in range(3):
        try:
            return dict(clean(kept))
        except errors.Invalid as problem:
            wrong = {name.removeprefix(group) for name in problem.fields} & kept.keys()
            if not wrong:
                break
            kept = {name: value for name, value in kept.items() if name not in wrong}
            state.note(what, len(wrong))
    return {}


def _one_each(row: Row, state: State) -> list[ValidationPart]:
    """The votes of others, one of each person; owners may vote again."""
    kept: list[ValidationPart] = []
    voted: set[str] = set()
    for vote in row.validations:
        again = vote.validator in voted and not vote.by_owner
        state.note("Votes of authors on their own examples", int(vote.validator == row.author))
        state.note("Second votes of the same person", int(again and vote.validator != row.author))
        if not again and vote.validator != row.author:
            kept.append(vote)
        if not vote.by_owner:
            voted.add(vote.validator)
    return kept
