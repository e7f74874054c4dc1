"""The data of a task's experiment: a pool of rows with known answers, and a suite that resembles none of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.adversaries import checklist
from dynabench.kit.errors import Conflict, Invalid
from dynabench.models.training import recipes, rows
from dynabench.stats import minhash

POOL_FOLDER = Path(__file__).parent / "pools"
LONGEST_ROW = 100
"""Largest number of words of a row; longer rows are left out, as the models read short texts only."""
NEAR_DUPLICATE_SIMILARITY = 0.6
"""Rows whose groups of characters have at least this Jaccard similarity are in the same part of every split."""
FEWEST_PHENOMENA, ITEMS_PER_PHENOMENON = 10, 30
"""How many phenomena a suite must have at least, and how many items of each are used."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class LabelledRows:
    """Rows in a fixed order: texts by input field, labels as numbers, group and source of each row."""

    texts: tuple[tuple[str, ...], ...]
    labels: IntArray
    groups: IntArray
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class TaskData:
    """The pool and the suite of a task; `nearest` is the largest similarity of a suite's item to a row of the pool."""

    task: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    pool: LabelledRows
    suite: LabelledRows
    suite_name: str
    nearest: float


def load_task_data(task: str, data_folder: Path, pool_file: str = "", suite_name: str = "") -> TaskData:
    """Read a task's pool, whose sources are below `data_folder`, and its suite.

    Pool and suite of the task are read unless another file or name is given. Raises `NotFound` where a file is missing,
    `Invalid` for a suite that is too small, `Conflict` for one that resembles the pool.
    """
    recipe = recipes.load(pool_file or str(POOL_FOLDER / f"{task}.yaml"))
    suite_name = suite_name or f"{task}-phenomena"
    pool = _read_pool(recipe, data_folder)
    items = read_suite(suite_name, recipe)
    nearest = find_largest_similarity(_join_fields(items), _join_fields(pool))
    if nearest >= NEAR_DUPLICATE_SIMILARITY:
        raise Conflict(f"The suite {suite_name} is not apart from the pool: an item is {nearest:.2f} similar to a row.")
    return TaskData(task, tuple(recipe.inputs), tuple(recipe.labels), pool, items, suite_name, nearest)


def _read_pool(recipe: recipes.Recipe, data_folder: Path) -> LabelledRows:
    """Read the rows of all sources without duplicates; copies with different labels are left out."""
    labels_and_sources: dict[tuple[str, ...], tuple[str, str]] = {}
    contradictions: set[tuple[str, ...]] = set()
    for source in recipe.train:
        for row in rows.read_source(source, data_folder, recipe):
            texts = tuple(row.inputs[name] for name in recipe.inputs)
            label, _ = labels_and_sources.setdefault(texts, (row.label, source.name))
            if label != row.label:
                contradictions.add(texts)
    usable = [
        texts for texts in labels_and_sources
        if texts not in contradictions and all(texts) and sum(len(text.split()) for text in texts) <= LONGEST_ROW
    ]  # fmt: skip
    labels = [recipe.labels.index(labels_and_sources[texts][0]) for texts in usable]
    group_field = recipe.inputs.index(recipe.group) if recipe.group else 0
    groups = group_near_duplicates([texts[group_field] for texts in usable])
    sources = tuple(labels_and_sources[texts][1] for texts in usable)
    return LabelledRows(tuple(usable), np.array(labels, np.int64), groups, sources)


def group_near_duplicates(texts: Sequence[str]) -> IntArray:
    """Number the texts so that near-duplicates, and texts that a chain of near-duplicates connects, have one number."""
    union = minhash.UnionFind()
    for first, second in minhash.near_pairs(texts, NEAR_DUPLICATE_SIMILARITY):
        union.join((first, second))
    roots = [union.root(index) for index in range(len(texts))]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return np.array([numbers[root] for root in roots], np.int64)


def read_suite(name: str, recipe: recipes.Recipe) -> LabelledRows:
    """Read the first items of each phenomenon; the phenomenon takes the place of a row's source."""
    template_suite = checklist.load_suite(name)
    by_phenomenon: dict[str, list[checklist.SuiteItem]] = defaultdict(list)
    for item in template_suite.items():
        by_phenomenon[item.phenomenon].append(item)
    items = [item for all_items in by_phenomenon.values() for item in all_items[:ITEMS_PER_PHENOMENON]]
    if len(by_phenomenon) < FEWEST_PHENOMENA or min(map(len, by_phenomenon.values())) < ITEMS_PER_PHENOMENON:
        raise Invalid(
            {"suite": f"{name} needs at least {FEWEST_PHENOMENA} phenomena with {ITEMS_PER_PHENOMENON} items each."}
        )
    unknown = {item.answer[template_suite.answer] for item in items} - set(recipe.labels)
    if unknown:
        raise Invalid({"suite": f"{name} has answers that the pool lacks: {', '.join(sorted(unknown))}."})
    texts = tuple(tuple(item.inputs[field] for field in recipe.inputs) for item in items)
    labels = np.array([recipe.labels.index(item.answer[template_suite.answer]) for item in items], np.int64)
    return LabelledRows(texts, labels, np.arange(len(items)), tuple(item.phenomenon for item in items))


def find_largest_similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the largest Jaccard similarity between a text of one list and one of the other; compares all pairs."""
    from scipy.sparse import csr_array

    character_groups = [[minhash.shingle_hashes(text) for text in texts] for texts in (first, second)]
    vocabulary = np.unique(np.concatenate([groups for side in character_groups for groups in side]))
    matrices = []
    for side in character_groups:
        starts = np.concatenate([[0], np.cumsum([len(groups) for groups in side])]).astype(np.int64)
        columns = np.searchsorted(vocabulary, np.concatenate(side)).astype(np.int64)
        matrices.append(csr_array((np.ones(len(columns)), columns, starts), shape=(len(side), len(vocabulary))))
    shared = (matrices[0] @ matrices[1].T).tocoo()
    sizes = [np.array([len(groups) for groups in side], float) for side in character_groups]
    return float((shared.data / (sizes[0][shared.row] + sizes[1][shared.col] - shared.data)).max(initial=0.0))


def _join_fields(labelled_rows: LabelledRows) -> list[str]:
    return [" ".join(texts) for texts in labelled_rows.texts]
