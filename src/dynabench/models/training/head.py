"""Training of logistic heads over the frozen encoder, whose states are computed once a text and kept on disk."""

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.kit.settings import get_settings
from dynabench.models import encoder, runtime
from dynabench.models.backends import lora
from dynabench.models.backends.body import Body, PiecePlaces
from dynabench.models.backends.encoded import mean_states
from dynabench.models.backends.pieces import PAD, Pieces
from dynabench.models.backends.pool import APART
from dynabench.models.training import linear, mixing
from dynabench.models.training.learning import Checkpoints, Learned, LearningSettings, Progress
from dynabench.models.training.linear import Floats, targets
from dynabench.models.training.mixing import Mix
from dynabench.models.training.rows import TrainingRow

ROWS = 32
"""Texts of a batch; one with fewer is filled up."""
STEP = 8
"""Texts are padded to a multiple of so many pieces."""
TOGETHER = 8
"""Batches that are kept at once."""
PLAIN = (None,) * 4
"""What no adapter adds to a layer."""

States = NDArray[np.float32]


def place() -> Path:
    """The file of the cache; it may be deleted at any time."""
    return get_settings().folder / "cache" / "states.sqlite"


def states(
    texts: Sequence[Pieces], cache: Path | None = None, progress: Callable[[float], None] = lambda share: None
) -> States:
    """The mean state of each text (n, width), of length 1."""
    keys = [_key(text) for text in texts]
    with closing(_open(cache or place())) as cache_file:
        text_by_key = dict(zip(keys, texts, strict=True))
        state_by_key = _read_states(cache_file, list(text_by_key))
        todo: dict[int, list[bytes]] = defaultdict(list)
        for key, text in text_by_key.items():
            if key not in state_by_key:
                todo[-(-len(text) // STEP) * STEP].append(key)
        batches = [
            (longest, group[start : start + ROWS])
            for longest, group in sorted(todo.items())
            for start in range(0, len(group), ROWS)
        ]
        new: dict[bytes, States] = {}
        for number, (longest, part) in enumerate(batches, 1):
            part_states = _computed([text_by_key[key] for key in part], longest)
            new.update(zip(part, part_states, strict=True))
            if number % TOGETHER == 0 or number == len(batches):
                with cache_file:
                    cache_file.executemany(
                        "insert or ignore into states values (?, ?)", [(k, v.tobytes()) for k, v in new.items()]
                    )
                state_by_key.update(new)
                new = {}
            progress(number / len(batches))
    return (
        np.stack([state_by_key[key] for key in keys])
        if keys
        else np.zeros((0, lora.shared_weights().width), np.float32)
    )


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table if not exists states (key blob primary key, state blob not null) without rowid")
    return connection


def _read_states(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, States]:
    connection.execute("create temporary table wanted (key blob primary key) without rowid")
    connection.executemany("insert into wanted values (?)", [(key,) for key in keys])
    rows = connection.execute("select key, state from states join wanted using (key)")
    return {key: np.frombuffer(state, np.float32) for key, state in rows}


def _key(text: Pieces) -> bytes:
    head = (
        f"{encoder.digest()} {torch.__version__} {torch.get_num_threads()} {torch.backends.cpu.get_cpu_capability()} "
    )
    return hashlib.sha256(head.encode() + np.array(text.ids, np.int32).tobytes()).digest()


@lru_cache(maxsize=1)
def _body() -> Body:
    return Body(lora.shared_weights(), "fp32")


@torch.inference_mode()
def _computed(texts: Sequence[Pieces], longest: int) -> States:
    """Mean states of up to `ROWS` texts of up to `longest` pieces."""
    ids = torch.full((ROWS, longest), PAD)
    mask_of_pieces = torch.zeros((ROWS, longest), dtype=torch.bool)
    mask_of_pieces[:, 0] = True  # rows that only fill the batch
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text.ids)
        mask_of_pieces[row, : len(text)] = True
    first = _body().embed(
        ids.flatten(), torch.arange(longest).repeat(ROWS), torch.zeros(ROWS * longest, dtype=torch.long)
    )
    mask = torch.where(mask_of_pieces, 0.0, APART)[:, None, None, :]
    body_states = _body()(first, PiecePlaces(ROWS, longest, mask), [PLAIN] * lora.shared_weights().layers)
    return np.asarray(mean_states(body_states.view(ROWS, longest, -1), mask_of_pieces)[: len(texts)].numpy())


def learn(mix: Mix, settings: LearningSettings, folder: Path, checkpoints: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    if len(mix.inputs) > 2:
        raise Invalid({"method": "head chooses one of several labels for one or two texts; take another method."})
    import torch

    torch.set_num_threads(runtime.cores())
    drawn = mixing.amounts(mix.parts)
    rows, often = [row for row, _ in drawn], np.array([amount for _, amount in drawn])
    dev = cast("Sequence[TrainingRow]", mix.dev)
    both = features([*rows, *dev], mix, lambda share: progress("encoding", share, ""))
    table, centre, spread = _scaled(both[: len(rows)], often)
    labels, barred = targets(rows, mix.labels)
    turned = np.ascontiguousarray(table.T)

    def fit(strength: float, report: linear.FitProgress) -> tuple[Floats, Floats]:
        return linear.fit_softmax(table, turned, labels, barred, strength / (10 * len(rows)), report, often)

    judged = linear.DevelopmentFeatures((both[len(rows) :] - centre) / spread, targets(dev, mix.labels)[0])
    best = linear.choose_strength(fit, judged, settings, checkpoints, progress)
    weights = best.weights / spread[:, None]
    _save(folder, weights, best.bias - centre @ weights)
    about = "the mean state of the frozen encoder" if len(mix.inputs) == 1 else "the mean states of two texts, related"
    description = f"Softmax regression over {about}, C = {best.strength / 10:g} a row"
    return Learned("head", description, best.course, best.seconds, len(rows), best.course.over)


def features(rows: Sequence[TrainingRow], mix: Mix, progress: Callable[[float], None]) -> Floats:
    """Features of rows (n, F), as the backend computes them."""
    import torch

    from dynabench.models.backends.encoded import relate_texts
    from dynabench.models.backends.pieces import encode

    texts = [text for name in mix.inputs for text in encode([row.inputs for row in rows], [name], mix.max_length)]
    text_states = torch.from_numpy(states(texts, progress=progress)).view(len(mix.inputs), len(rows), -1)
    return np.asarray(relate_texts(list(text_states)).numpy(), float)


def _scaled(table: Floats, often: Floats) -> tuple[Floats, Floats, Floats]:
    """Features with mean 0 and deviation 1 in each column, with the means and deviations (F,)."""
    centre = np.average(table, axis=0, weights=often)
    spread = np.sqrt(np.average((table - centre) ** 2, axis=0, weights=often)) + 1e-6
    return (table - centre) / spread, centre, spread


def _save(folder: Path, weights: Floats, bias: Floats) -> None:
    from safetensors.numpy import save_file

    tensors: dict[str, Any] = {
        "out.weight": np.ascontiguousarray(weights.T, np.float32),
        "out.bias": bias.astype(np.float32),
    }
    save_file(tensors, folder / "head.safetensors")
