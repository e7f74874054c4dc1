"""Choice of the split of a data set to evaluate on."""

import re
from collections.abc import Iterable

PREFERENCE = (
    *("test", "testing", "eval", "evaluation"),
    *("validation", "val", "valid", "dev"),
    *("train", "training"),
)


def choose_split(available: Iterable[str]) -> str:
    """Return the split to evaluate: test before validation before training. Raises ValueError where none is known."""
    names = list(available)
    for preferred in PREFERENCE:
        if preferred in names:
            return preferred
    if len(names) == 1:
        return names[0]
    raise ValueError(f"none of the splits {', '.join(names) or '(none)'} is known; say which: split=...")


def parse_split(split: str) -> tuple[str, str]:
    """Return a split's name and its slice: "test[:10%]" is "test" and ":10%". Raises ValueError for another form."""
    match = re.fullmatch(r"([^\[\]]+)(?:\[(.*)\])?", split)
    if match is None:
        raise ValueError(f"split={split!r} is no name with a slice such as 'test[:100]' or 'test[10%:20%]'")
    return match[1], match[2] or ":"


def slice_rows(part: str, size: int) -> range:
    """Return the row numbers of a slice such as "10:20", ":50%" or "-5:" of `size` rows."""
    match = re.fullmatch(r"(-?\d+%?)?:(-?\d+%?)?", part)
    if match is None:
        raise ValueError(f"[{part}] is no slice; write for example [:100], [10:20] or [:10%]")
    ends = [None if end is None else _index(end, size) for end in match.groups()]
    return range(size)[slice(*ends)]


def _index(end: str, size: int) -> int:
    return round(int(end[:-1]) * size / 100) if end.endswith("%") else int(end)
