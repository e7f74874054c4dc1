"""Perturbed copies of a file's rows, without the platform."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from dynabench.adversaries.jsonl import rows
from dynabench.adversaries.perturbations import find, generator, of

KEPT = frozenset("uid id input_id label answer answers tag tags".split())


def perturbed(path: Path, names: Sequence[str], seed: int, fields: Sequence[str] = ()) -> Iterator[str]:
    """JSON lines: every row of a JSONL file changed by every transformation that changes it.

    `names` may hold an axis for all of its transformations; `fields` are the texts that may change, empty for all but
    `KEPT`. Raises `Invalid` with the number of a line that is no object.
    """
    chosen = find(each for name in names for each in (of(name) or [name]))
    for number, row in rows(path):
        uid = str(row.get("uid", number))
        texts = {
            name: value
            for name, value in row.items()
            if isinstance(value, str) and (name in fields if fields else name not in KEPT)
        }
        for one in chosen:
            changed = one.apply(texts, generator(seed, uid, one.name))
            if changed:
                new = {name: each.text for name, each in changed.items()}
                more = {"uid": f"{uid}#{one.name}", "input_id": uid, "transformation": one.name}
                yield json.dumps({**row, **new, **more}, ensure_ascii=False)
