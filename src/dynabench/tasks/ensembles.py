"""The rule by which several models together count as fooled."""

from collections.abc import Iterable
from typing import Literal

EnsembleRule = Literal["any", "majority", "all"]


def ensemble_fooled(rule: EnsembleRule, flags: Iterable[bool | None]) -> bool | None:
    """Return whether an ensemble is fooled when `any`, a `majority` (more than half) or `all` of its members are.

    None where that is not known: a member is None, and it could still change the outcome. Raises ValueError for an
    empty ensemble or an unknown rule.
    """
    members = list(flags)
    if not members:
        raise ValueError("an ensemble has at least one member")
    needed = {"any": 1, "majority": len(members) // 2 + 1, "all": len(members)}
    if rule not in needed:
        raise ValueError(f"an ensemble is fooled when any, majority or all are, not {rule!r}")
    fooled, unknown = members.count(True), members.count(None)
    if fooled >= needed[rule]:
        return True
    return None if fooled + unknown >= needed[rule] else False
