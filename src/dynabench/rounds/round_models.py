"""The models of a round: found by their names, and required before it opens."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _, joined
from dynabench.models import check_report, validity
from dynabench.models.host_connection import Key
from dynabench.models.protocol import ModelCard
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import plan as conditions
from dynabench.rounds import queries, service
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules import JudgedByModel

NO_MODEL = "none"  # stands for no model, where models are named


def resolve_targets(config: TaskConfig, names: Sequence[str], cards: Sequence[ModelCard]) -> list[ModelCard]:
    """The model versions that `names` stand for (`name` or `name@version`), checked to fit the task.

    `none` alone stands for no model: the round collects without asking any. Raises `Invalid` under `targets` where a
    model is unknown, named twice, or speaks of other fields.
    """
    if [*names] == [NO_MODEL]:
        if config.chat is not None:
            raise errors.Invalid({"targets": _("This task is a conversation: name at least one model to chat with.")})
        if config.drawing is not None:
            raise errors.Invalid({"targets": _("In this task models draw: name at least one.")})
        return []
    if not names:
        raise errors.Invalid(
            {
                "targets": _(
                    "Name at least one model (`dynabench model list` shows them), or none to record "
                    "examples without models."
                )
            }
        )
    if len(set(names)) < len(names):
        raise errors.Invalid({"targets": _("Name each model once.")})
    cards_by_name = {key: card for card in cards for key in (card.name, f"{card.name}@{card.version}")}
    if missing := [name for name in names if name not in cards_by_name]:
        some = ", ".join(sorted({card.name for card in cards})) or "none"
        raise errors.Invalid(
            {"targets": _("Unknown: %(missing)s. The model host has: %(some)s.", missing=", ".join(missing), some=some)}
        )
    chosen = [cards_by_name[name] for name in names]
    for card in chosen:
        if problems := validity.target_problems(config, card):
            raise errors.Invalid({"targets": joined(" ", map(check_report.in_words, problems.values()))})
    return chosen


def resolve_arms(config: TaskConfig, raw: Sequence[Any], cards: Sequence[ModelCard]) -> list[Any]:
    """Arms with the model versions that names in their `targets` stand for; raises `Invalid` under `arms.N.targets`."""
    resolved: list[Any] = []
    for index, arm in enumerate(raw):
        names = arm.get("targets") if isinstance(arm, dict) else None
        if isinstance(names, list):
            try:
                chosen = resolve_targets(config, [name if isinstance(name, str) else "" for name in names[:16]], cards)
            except errors.Invalid as problem:
                raise errors.Invalid({f"arms.{index}.targets": problem.fields["targets"]}) from None
            arm = arm | {"targets": [{"model": card.name, "version": card.version} for card in chosen] or "none"}
        resolved.append(arm)
    return resolved


def resolve_judge(config: TaskConfig, cards: Sequence[ModelCard]) -> ModelCard | None:
    """The model version that judges answers under the task's rule; None where the rule has no judge.

    Raises `Invalid` under `judge` where it is not served, or needs what the rule does not give it.
    """
    rule = config.fooled
    if not isinstance(rule, JudgedByModel):
        return None
    card = next((card for card in cards if rule.judge in (card.name, f"{card.name}@{card.version}")), None)
    if card is None:
        raise errors.Invalid({"judge": _("The judge %(judge)s is not served by the model host.", judge=rule.judge)})
    if lacking := [name for name in card.inputs if name not in rule.ask]:
        message = _(
            "The judge %(name)s needs %(lacking)s; define it under fooled.ask.",
            name=card.name,
            lacking=", ".join(lacking),
        )
        raise errors.Invalid({"judge": message})
    return card


def models_named(targets: Iterable[ModelCard], arms: Sequence[conditions.Arm], judge: ModelCard | None) -> list[Key]:
    """Return the models of a round that is to be drafted, by name and version."""
    keys = [(card.name, card.version) for card in (*targets, *([judge] if judge else ()))]
    return list(dict.fromkeys([*keys, *_of_arms(arms)]))


def models_of(round_: Round) -> list[Key]:
    """Return the models that a round asks, by name and version."""
    keys = [(target.model, target.version) for target in round_.targets]
    if round_.judge:
        keys.append((round_.judge["model"], round_.judge["version"]))
    return list(dict.fromkeys([*keys, *_of_arms(round_.arms)]))


def models_to_open(session: Session, person: Person | None, task_id: str, number: int) -> list[Key]:
    """Return the models of a draft that an owner wants to open; none for another round, whose opening is refused."""
    service.require(session, person, Action.OPEN_ROUND, task_id)
    round_ = service.round_of(session, task_id, number)
    return models_of(round_) if round_.state == RoundState.DRAFT else []


def models_of_open_rounds(session: Session) -> list[Key]:
    """Return the models that all open rounds ask together: reads the open rounds, one a task."""
    return list(dict.fromkeys(key for round_ in session.scalars(queries.open_rounds()) for key in models_of(round_)))


def _of_arms(arms: Sequence[conditions.Arm]) -> list[Key]:
    """The models of arms that name some; arms that are refused later name none."""
    chosen = [arm.get("targets") for arm in arms if isinstance(arm, dict)]
    named = [
        target for targets in chosen if isinstance(targets, list) for target in targets if isinstance(target, dict)
    ]
    return [(target["model"], target["version"]) for target in named if {"model", "version"} <= target.keys()]
