"""Resolution of model names to served model versions, for a round's targets, arms and judge."""

from collections.abc import Sequence
from typing import Any

from dynabench.kit import errors
from dynabench.kit.language import _, joined
from dynabench.models import check_words, fit
from dynabench.models.protocol import Card
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules import JudgedByModel

NOBODY = "none"  # stands for no model, where models are named


def targets(config: TaskConfig, names: Sequence[str], cards: Sequence[Card]) -> list[Card]:
    """The model versions that `names` stand for (`name` or `name@version`), checked to fit the task.

    `none` alone stands for no model: the round collects without asking any. Raises `Invalid` under `targets` where a
    model is unknown, named twice, or speaks of other fields.
    """
    if [*names] == [NOBODY]:
        if config.chat is not None:
            raise errors.Invalid({"targets": _("This task is a conversation: name at least one model to talk with.")})
        if config.drawing is not None:
            raise errors.Invalid({"targets": _("In this task models draw: name at least one.")})
        return []
    if not names:
        raise errors.Invalid(
            {
                "targets": _(
                    "Name at least one model, such as those that `dynabench model list` shows; none asks nobody."
                )
            }
        )
    if len(set(names)) < len(names):
        raise errors.Invalid({"targets": _("Name each model once.")})
    known = {key: card for card in cards for key in (card.name, f"{card.name}@{card.version}")}
    if missing := [name for name in names if name not in known]:
        some = ", ".join(sorted({card.name for card in cards})) or "none"
        raise errors.Invalid(
            {"targets": _("Unknown: %(missing)s. The model host has: %(some)s.", missing=", ".join(missing), some=some)}
        )
    chosen = [known[name] for name in names]
    for card in chosen:
        if told := fit.as_target(config, card):
            raise errors.Invalid({"targets": joined(" ", map(check_words.in_words, told.values()))})
    return chosen


def arms(config: TaskConfig, raw: Sequence[Any], cards: Sequence[Card]) -> list[Any]:
    """Arms with the model versions that names in their `targets` stand for; raises `Invalid` under `arms.N.targets`."""
    found: list[Any] = []
    for index, arm in enumerate(raw):
        names = arm.get("targets") if isinstance(arm, dict) else None
        if isinstance(names, list):
            try:
                chosen = targets(config, [name if isinstance(name, str) else "" for name in names[:16]], cards)
            except errors.Invalid as problem:
                raise errors.Invalid({f"arms.{index}.targets": problem.fields["targets"]}) from None
            arm = arm | {"targets": [{"model": card.name, "version": card.version} for card in chosen] or "none"}
        found.append(arm)
    return found


def judge(config: TaskConfig, cards: Sequence[Card]) -> Card | None:
    """The model version that judges answers under the task's rule; None where the rule has no judge.

    Raises `Invalid` under `judge` where it is not served, or needs what the rule does not give it.
    """
    rule = config.fooled
    if not isinstance(rule, JudgedByModel):
        return None
    found = next((card for card in cards if rule.judge in (card.name, f"{card.name}@{card.version}")), None)
    if found is None:
        raise errors.Invalid({"judge": _("The judge %(judge)s is not served by the model host.", judge=rule.judge)})
    if lacking := [name for name in found.inputs if name not in rule.ask]:
        told = _(
            "The judge %(name)s needs %(lacking)s; say under fooled.ask what it is given.",
            name=found.name,
            lacking=", ".join(lacking),
        )
        raise errors.Invalid({"judge": told})
    return found
