"""Effects of saving a config: on the open round, on values already written, on evaluations and boards."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.kit.language import _
from dynabench.rounds import queries
from dynabench.rounds.tables import RoundState, TaskVersion
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field

GROUPS = {
    "context": "contexts", "input": "what annotators write", "answer": "the answer", "ask": "what annotators are asked",
    "validation": "what validators are asked",
}  # fmt: skip


@dataclass(frozen=True)
class Effect:
    """One thing that a change does; `warns` where something goes away or figures are no longer alike."""

    text: str
    warns: bool = False


def effects(session: Session, task_id: str, before: TaskConfig, after: TaskConfig) -> list[Effect]:
    """Return the effects on the task of saving `after` over `before`, its newest config."""
    if before == after:
        return []
    return [*_rounds(session, task_id), *_fields(before, after), *_rules(before, after), *_models(before, after)]


def _rounds(session: Session, task_id: str) -> Iterator[Effect]:
    for each in session.scalars(queries.rounds(task_id)):
        version = session.get_one(TaskVersion, each.version_id).number
        if each.state == RoundState.OPEN:
            yield Effect(
                _(
                    "Round %(number)s is open and goes on with version %(version)s; close it to use this one.",
                    number=each.number,
                    version=version,
                )
            )
        elif each.state == RoundState.DRAFT:
            yield Effect(
                _(
                    "Round %(number)s is a draft on version %(version)s and keeps it; draft another to use this.",
                    number=each.number,
                    version=version,
                )
            )


def _fields(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    for group, where in GROUPS.items():
        old = {field.name: field for field in before.fields(group)}
        new = {field.name: field for field in after.fields(group)}
        if gone := [name for name in old if name not in new]:
            yield Effect(
                _(
                    "No longer part of %(where)s: %(gone)s. Earlier examples keep their values, which "
                    "exports and their pages still show.",
                    where=where,
                    gone=", ".join(gone),
                ),
                warns=True,
            )
        if come := [name for name in new if name not in old]:
            yield Effect(
                _("New in %(where)s: %(come)s. Earlier examples have no such value.", where=where, come=", ".join(come))
            )
        for name in old.keys() & new.keys():
            yield from _field(name, old[name], new[name])


def _field(name: str, old: Field, new: Field) -> Iterator[Effect]:
    if type(old) is not type(new):
        yield Effect(
            _("%(name)s becomes a field of another type; earlier values stay as they were written.", name=name),
            warns=True,
        )
    elif isinstance(old, Choice) and isinstance(new, Choice):
        if gone := [each for each in old.values if each not in new.values]:
            yield Effect(
                _(
                    "%(name)s can no longer be %(gone)s; earlier examples with it stay.",
                    name=name,
                    gone=", ".join(gone),
                ),
                warns=True,
            )
        if come := [each for each in new.values if each not in old.values]:
            yield Effect(
                _(
                    "%(name)s can also be %(come)s; models that do not know it cannot be targets.",
                    name=name,
                    come=", ".join(come),
                ),
                warns=True,
            )


def _rules(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    if before.fooled != after.fooled:
        yield Effect(
            _(
                "When a model counts as fooled changes: rates of later rounds do not compare with "
                "those before. Earlier examples are not judged again."
            ),
            warns=True,
        )
    old, new = before.validation, after.validation
    if (old.votes, old.adjudicate_up_to, old.mode) != (new.votes, new.adjudicate_up_to, new.mode):
        yield Effect(_("How people check changes for later rounds; verdicts of earlier ones stay."))
    if before.start != after.start or before.contexts != after.contexts:
        yield Effect(_("What annotators are given changes for later rounds."))
    if before.annotators != after.annotators:
        who = "only who was invited may take part" if after.annotators == "invited" else "anybody may take part"
        yield Effect(_("From the next round on %(who)s.", who=who))
    if before.data.licence != after.data.licence:
        yield Effect(_("The licence changes for later examples; earlier ones stay under theirs."), warns=True)


def _models(before: TaskConfig, after: TaskConfig) -> Iterator[Effect]:
    old, new = before.metrics, after.metrics
    if old != new:
        lead = (
            _("Boards are led by %(primary)s. ", primary=new.primary)
            if old.primary != new.primary
            else _("Boards show other columns. ")
        )
        yield Effect(
            lead
            + _(
                "Answers that are stored are scored by the new metrics; no model is asked again, "
                "and boards keep the old scores until the new ones are there."
            ),
            warns=True,
        )
    else:
        yield Effect(_("No evaluation is run again."))
