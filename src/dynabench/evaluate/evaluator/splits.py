"""Which part of a data set is evaluated when nobody says."""

import re
from collections.abc import Iterable

PREFERENCE = (
    *("test", "testing", "eval", "evaluation"),
    *("validation", "val", "valid", "dev"),
    *("train", "training"),
)


def choose_split(available: Iterable[str]) -> str:
    """The split to evaluate: test before validation before training. Raises ValueError where none is known."""
    names = list(available)
    for wanted in PREFERENCE:
        if wanted in names:
            return wanted
    if len(names) == 1:
        return names[0]
    raise ValueError(f"none of the splits {', '.join(names) or '(none)'} is known; say which: split=...")


def sliced(split: str) -> tuple[str, str]:
    """A split's name and its slice: "test[:10%]" is "test" and ":10%"."""
    found = re.fullmatch(r"([^\[\]]+)(?:\[(.*)\])?", split)
    if found is None:
        raise ValueError(f"split={split!r} is no name with a slice such as 'test[:100]' or 'test[10%:20%]'")
    return found[1], found[2] or ":"


def rows_of(part: str, size: int) -> range:
    """Row numbers of a slice such as "10:20", ":50%" or "-5:" of `size` rows."""
    found = re.fullmatch(r"(-?\d+%?)?:(-?\d+%?)?", part)
    if found is None:
        raise ValueError(f"[{part}] is no slice; write for example [:100], [10:20] or [:10%]")
    ends = [None if end is None else _place(end, size) for end in found.groups()]
    return range(size)[slice(*ends)]


def _place(end: str, size: int) -> int:
    return round(int(end[:-1]) * size / 100) if end.endswith("%") else int(end)
