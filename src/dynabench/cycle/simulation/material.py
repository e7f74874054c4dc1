"""What the experiment is made of: a pool of rows with known answers, and a suite that none of them resembles."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.adversaries import template_suites
from dynabench.errors import Conflict, Invalid
from dynabench.models.training import recipes, rows
from dynabench.stats import minhash

POOLS = Path(__file__).parent / "pools"
LONGEST = 100
"""Words of a row; longer ones are left out, which a head on short texts has no use for."""
ALIKE = 0.6
"""Rows whose groups of characters are so similar (Jaccard) stay on one side of every split."""
PHENOMENA, EACH = 10, 30
"""How many phenomena a suite must have, and how many items each of them."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Rows in a fixed order: texts by input field, labels as numbers, groups that belong together, where from."""

    texts: tuple[tuple[str, ...], ...]
    labels: Ints
    groups: Ints
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Material:
    """The pool and the suite of a task; `nearest` is the largest similarity of a suite's item to a row of the pool."""

    task: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    pool: Rows
    suite: Rows
    suite_name: str
    nearest: float


def load(task: str, data: Path, pool: str = "", tests: str = "") -> Material:
    """Read a task's pool below the folder `data` and its suite; both by the task's name or a YAML file's path.

    Raises `NotFound` where a file is absent, `Invalid` for a suite that is too small, `Conflict` for one that
    resembles the pool.
    """
    recipe = recipes.load(pool or str(POOLS / f"{task}.yaml"))
    suite_name = tests or f"{task}-phenomena"
    found = _pool(recipe, data)
    items = _suite(suite_name, recipe)
    nearest = similarity(_whole(items), _whole(found))
    if nearest >= ALIKE:
        raise Conflict(f"The suite {suite_name} is not apart from the pool: an item is {nearest:.2f} similar to a row.")
    return Material(task, tuple(recipe.inputs), tuple(recipe.labels), found, items, suite_name, nearest)


def _pool(recipe: recipes.Recipe, data: Path) -> Rows:
    """Rows of all sources, none twice; of contradicting copies none."""
    labelled: dict[tuple[str, ...], tuple[str, str]] = {}
    contradicted: set[tuple[str, ...]] = set()
    for source in recipe.train:
        for row in rows.of_source(source, data, recipe):
            texts = tuple(row.inputs[name] for name in recipe.inputs)
            first = labelled.setdefault(texts, (row.label, source.name))
            if first[0] != row.label:
                contradicted.add(texts)
    kept = [
        texts for texts in labelled
        if texts not in contradicted and all(texts) and sum(len(text.split()) for text in texts) <= LONGEST
    ]  # fmt: skip
    labels = [recipe.labels.index(labelled[texts][0]) for texts in kept]
    by = recipe.inputs.index(recipe.group) if recipe.group else 0
    groups = together([texts[by] for texts in kept])
    return Rows(tuple(kept), np.array(labels, np.int64), groups, tuple(labelled[texts][1] for texts in kept))


def together(texts: Sequence[str]) -> Ints:
    """A number for each text, the same for those that are nearly alike, and for those that one of them joins."""
    joined = minhash.Together()
    for first, second in minhash.near_pairs(texts, ALIKE):
        joined.join((first, second))
    roots = [joined.root(place) for place in range(len(texts))]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return np.array([numbers[root] for root in roots], np.int64)


def _suite(name: str, recipe: recipes.Recipe) -> Rows:
    """The suite's first items of each phenomenon; the phenomenon stands where a row has its source."""
    loaded = template_suites.load_suite(name)
    made: dict[str, list[template_suites.Item]] = defaultdict(list)
    for item in loaded.items():
        made[item.phenomenon].append(item)
    items = [item for each in made.values() for item in each[:EACH]]
    if len(made) < PHENOMENA or min(map(len, made.values())) < EACH:
        raise Invalid({"suite": f"{name} needs at least {PHENOMENA} phenomena with {EACH} items each."})
    strangers = {item.answer[loaded.answer] for item in items} - set(recipe.labels)
    if strangers:
        raise Invalid({"suite": f"{name} has answers that the pool lacks: {', '.join(sorted(strangers))}."})
    texts = tuple(tuple(item.inputs[field] for field in recipe.inputs) for item in items)
    labels = np.array([recipe.labels.index(item.answer[loaded.answer]) for item in items], np.int64)
    return Rows(texts, labels, np.arange(len(items)), tuple(item.phenomenon for item in items))


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """The largest Jaccard similarity between a text of one list and one of the other; all pairs are compared."""
    from scipy.sparse import csr_array

    held = [[minhash.groups(text) for text in texts] for texts in (first, second)]
    known = np.unique(np.concatenate([group for each in held for group in each]))
    sets = []
    for each in held:
        starts = np.concatenate([[0], np.cumsum([len(group) for group in each])]).astype(np.int64)
        places = np.searchsorted(known, np.concatenate(each)).astype(np.int64)
        sets.append(csr_array((np.ones(len(places)), places, starts), shape=(len(each), len(known))))
    shared = (sets[0] @ sets[1].T).tocoo()
    sizes = [np.array([len(group) for group in each], float) for each in held]
    return float((shared.data / (sizes[0][shared.row] + sizes[1][shared.col] - shared.data)).max(initial=0.0))


def _whole(rows: Rows) -> list[str]:
    return [" ".join(texts) for texts in rows.texts]
