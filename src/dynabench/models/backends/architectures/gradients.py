"""Integrated gradients over word embeddings and pixels of any model of transformers, by Captum.

The path leads from the same input with every word replaced by a mark that says nothing, and a grey picture, to the
input itself (Sundararajan, Taly and Yan, ICML 2017). `gradient` takes the two Gauss-Legendre points of that path, in
one pass; the other methods take as many as the completeness error needs. Words and picture move together, so their
shares add up to what the answer gains.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.attribution.fields import by_word
from dynabench.models.backends.pieces import Owner, Pieces
from dynabench.models.protocol import Attribution
from dynabench.models.words import Word

AT_ONCE = 2
"""Points of the path that `gradient` looks at."""
STEPS = (24, 64, 128)
"""Points that the others look at, tried in order until the completeness error is small enough."""
ENOUGH = 0.05
WORK = 3e11
"""Additions and multiplications of all points together, beyond which no more points are tried: some seconds."""
BATCH = 8
GRID = 14
"""Rows and columns of a map at most."""
PIXELS = "pixel_values"
FED = ("input_ids", PIXELS)


@dataclass(frozen=True)
class Asked:
    """The subject of an explanation: the model's inputs (1, ...) and the words its tokens belong to.

    `value` (B,) is what the model says, called `label`. `blank` is the token that says nothing. `covered`
    is the share (height, width) of the picture around its middle that the model sees.
    """

    label: str
    given: Mapping[str, Tensor]
    value: Callable[[Any], Tensor]
    fields: Sequence[str] = ()
    pieces: Pieces | None = None
    blank: int = 0
    picture: str = ""
    covered: tuple[float, float] = (1.0, 1.0)
    others: Mapping[str, Any] = field(default_factory=dict)


def explain(twin: Any, asked: Asked, method: str) -> Attribution:
    """Weights of words and maps of pictures by `gradient`, or by integrated gradients with their completeness error.

    `twin` is a model on which hooks may be set.
    """
    most = 1 if method == "gradient" else int(WORK / (3 * work(twin, asked.given)))
    parts, error = _integrated(*_embedded(twin, asked), most)
    words, maps = {}, {}
    for name, part in zip(_names(asked), parts, strict=True):
        if name == PIXELS:
            maps[asked.picture] = _map(part[0].sum(0), asked.covered)
        elif asked.pieces is not None:
            words = by_word(asked.pieces, asked.fields, part.sum(-1)[0].tolist())
    return Attribution(method, asked.label, words, error, maps=maps)


def raw(twin: Any, asked: Asked, method: str) -> tuple[Tensor, float]:
    """Weights (T,) of tokens as they are, and by how much the input's value exceeds the baseline's."""
    most = 1 if method == "gradient" else int(WORK / (3 * work(twin, asked.given)))
    forward, features, blanks = _embedded(twin, asked)
    parts, _ = _integrated(forward, features, blanks, most)
    with torch.no_grad():
        return parts[0].sum(-1)[0].cpu(), float(forward(*features)[0] - forward(*blanks)[0])


def _names(asked: Asked) -> list[str]:
    return [name for name in FED if name in asked.given and (name == PIXELS or asked.pieces)]


def _integrated(
    forward: Callable[..., Tensor], features: tuple[Tensor, ...], blanks: tuple[Tensor, ...], most: int
) -> tuple[list[Tensor], float | None]:
    """Parts of each feature, and the completeness error, with at most so many points (but four); two with `most` 1."""
    from captum.attr import IntegratedGradients

    runtime.use_threads(BATCH * features[0].shape[1])
    method = IntegratedGradients(forward)
    if most == 1:
        found = method.attribute(features, baselines=blanks, n_steps=AT_ONCE, method="gausslegendre")
        return [part.detach().float() for part in found], None
    with torch.no_grad():
        difference = float(forward(*features)[0] - forward(*blanks)[0])
    parts: list[Tensor] = []
    error = 1.0
    for steps in (max(4, min(STEPS[0], most)), *(more for more in STEPS[1:] if more <= most)):
        found = method.attribute(
            features, baselines=blanks, n_steps=steps, method="gausslegendre", internal_batch_size=BATCH
        )
        parts = [part.detach().float() for part in found]
        error = abs(sum(float(part.sum()) for part in parts) - difference) / max(abs(difference), 1e-6)
        if error < ENOUGH:
            break
    return parts, round(error, 6)


def work(model: Any, given: Mapping[str, Tensor]) -> float:
    """Additions and multiplications of one pass there: two for each weight and token, words looked up not counted."""
    words: int = sum(one.weight.numel() for one in model.modules() if isinstance(one, torch.nn.Embedding))
    sizes = [value.shape[1] if name == "input_ids" else 196 for name, value in given.items() if name in FED]
    weights: int = model.num_parameters()
    return 2.0 * max(weights - words, 1) * max(sum(sizes), 1)


def _embedded(twin: Any, asked: Asked) -> tuple[Callable[..., Tensor], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The asked value as a function of numbers, and the input and its baseline as such numbers."""
    names = _names(asked)
    rest = {name: value for name, value in asked.given.items() if name != PIXELS}
    layer = _layer(twin) if "input_ids" in names else None
    features, blanks = [], []
    with torch.no_grad():
        if layer is not None and asked.pieces is not None:
            ids = asked.given["input_ids"]
            ours = torch.tensor([[owner is not None for owner in asked.pieces.owner]], device=ids.device)
            features.append(layer(ids))
            blanks.append(layer(torch.where(ours, asked.blank, ids)))
        if PIXELS in names:
            features.append(asked.given[PIXELS])
            blanks.append(torch.zeros_like(asked.given[PIXELS]))

    def forward(*numbers: Tensor) -> Tensor:
        count = len(numbers[0])
        fed = {name: value.expand(count, *value.shape[1:]) for name, value in rest.items()}
        if PIXELS in names:
            fed[PIXELS] = numbers[-1]
        if layer is None:
            return asked.value(twin(**fed, **asked.others))
        with _instead(layer, numbers[0]):
            return asked.value(twin(**fed, **asked.others))

    return forward, tuple(features), tuple(blanks)


@contextmanager
def _instead(layer: Any, output: Tensor) -> Iterator[None]:
    """Within, the layer gives `output`, whatever it is asked."""
    hook = layer.register_forward_hook(lambda *_: output)
    try:
        yield
    finally:
        hook.remove()


def _layer(twin: Any) -> Any:
    try:
        return twin.get_input_embeddings()
    except NotImplementedError:
        raise Invalid({"method": "This model has no word embeddings; ask for occlusion."}) from None


def owners(
    offsets: Sequence[tuple[int, int]], sequences: Sequence[int | None], words: Sequence[Sequence[Word]]
) -> tuple[Owner, ...]:
    """Field and word of each token by its characters; None for the tokens that the tokenizer adds.

    A token that covers several words counts for the first of them.
    """
    found: list[Owner] = []
    at = [0] * len(words)
    for (start, end), place in zip(offsets, sequences, strict=True):
        if place is None or place >= len(words) or start == end:
            found.append(None)
            continue
        mine = words[place]
        while at[place] < len(mine) and mine[at[place]].end <= start:
            at[place] += 1
        inside = at[place] < len(mine) and mine[at[place]].start < end
        found.append((place, at[place]) if inside else None)
    return tuple(found)


def _map(weights: Tensor, covered: tuple[float, float]) -> list[list[float]]:
    """Weights (H, W) of pixels as a map over the whole picture; what the model did not see weighs nothing."""
    rows, columns = (min(GRID, size) for size in weights.shape)
    summed = torch.nn.functional.adaptive_avg_pool2d(weights[None, None], (rows, columns))[0, 0]
    seen = (max(1, round(rows * covered[0])), max(1, round(columns * covered[1])))
    if min(covered) < 1:
        inner = torch.nn.functional.adaptive_avg_pool2d(summed[None, None], seen)[0, 0]
        summed = torch.zeros(rows, columns)
        top, left = (rows - seen[0]) // 2, (columns - seen[1]) // 2
        summed[top : top + seen[0], left : left + seen[1]] = inner
    scale = float(summed.abs().max()) or 1.0
    return [[float(cell) / scale for cell in row] for row in summed]


def blank_of(tokenizer: Any) -> int:
    """The token that says nothing: the mask, or what stands for padding, the unknown or the end."""
    for token in (tokenizer.mask_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return 0
