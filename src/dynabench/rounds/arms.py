"""Arms: the conditions of a round, one of which is drawn with each context that is handed out.

An arm is `{"name", "share", "targets", "start"}`: its name is recorded with what comes of it, `share` is its weight in
the draw, `targets` says whether the round's models are asked (`round`) or none is (`none`, a control), and `start`, if
given, sets the kind of start that the task would draw otherwise.
"""

import math
import random
import re
from collections.abc import Sequence
from typing import Any

from dynabench.errors import Invalid
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig

Arm = dict[str, Any]
Target = tuple[str, str]  # model and version

KEYS = {"name", "share", "targets", "start"}
MOST = 20
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def clean(raw: object, config: TaskConfig | None = None) -> list[Arm]:
    """Arms as they are stored; `share` is 1 and `targets` is `round` where left out. Raises Invalid under `arms`.

    With a `config` a start must be one that the task knows; `blank` is one always.
    """
    if not isinstance(raw, list | tuple):
        raise Invalid({"arms": "Give a list of arms."})
    if len(raw) > MOST:
        raise Invalid({"arms": f"A round has at most {MOST} arms."})
    problems: dict[str, str] = {}
    found = [_arm(f"arms.{index}", each, config, problems) for index, each in enumerate(raw)]
    names = [arm["name"] for arm in found]
    for index, name in enumerate(names):
        if name in names[:index]:
            problems.setdefault(f"arms.{index}.name", "Another arm has this name.")
    if problems:
        raise Invalid(problems)
    return found


def _arm(path: str, raw: object, config: TaskConfig | None, problems: dict[str, str]) -> Arm:
    given = raw if isinstance(raw, dict) else {}
    name, share, targets = given.get("name"), given.get("share", 1), given.get("targets", "round")
    start = given.get("start")
    if not isinstance(raw, dict) or given.keys() - KEYS:
        problems[path] = f"An arm is an object with some of {', '.join(sorted(KEYS))}."
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems[f"{path}.name"] = "Give up to 40 lower-case letters, digits, hyphens and underscores."
    if not isinstance(share, int | float) or isinstance(share, bool) or not math.isfinite(share) or share <= 0:
        problems[f"{path}.share"] = "Give a number above 0."
    if targets not in ("round", "none"):
        problems[f"{path}.targets"] = "Choose round, the round's models, or none."
    if start is not None and start not in _starts(config):
        problems[f"{path}.start"] = f"Choose one of {', '.join(_starts(config))}, or leave it out."
    return {"name": name, "share": share, "targets": targets} | ({} if start is None else {"start": start})


def _starts(config: TaskConfig | None) -> list[str]:
    if config is None:
        return ["blank", "prompt", "seed"]
    return ["blank", *(kind for kind in config.start.kinds if kind != "blank")]


def draw(arms: Sequence[Arm], rng: random.Random) -> Arm | None:
    """An arm drawn by the shares; None for a plain round."""
    return rng.choices(arms, [arm["share"] for arm in arms])[0] if arms else None


def asks(arms: Sequence[Arm], name: str) -> bool:
    """Whether models are asked in the arm called `name`; in a plain round they are."""
    return name not in without_targets(arms)


def targets_of(of: Round, name: str) -> tuple[Target, ...]:
    """The models that are asked in the arm called `name` of a round; in a plain round all of its targets."""
    return tuple((each.model, each.version) for each in of.targets) if asks(of.arms, name) else ()


def without_targets(arms: Sequence[Arm]) -> frozenset[str]:
    """Names of the arms in which no model is asked: rates of models leave their examples out."""
    return frozenset(arm["name"] for arm in arms if arm["targets"] == "none")
