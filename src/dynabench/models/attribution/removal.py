"""Strips of models that give nothing but answers: take words away, ask again, see what becomes of the answer.

- `occlusion`: what the answer loses when one word at a time is cut out (Zeiler and Fergus, ECCV 2014); one call a word.
- `shapley`: the mean of what a word adds when it joins words drawn before it (Castro, Gomez and Tejada, Computers and
  Operations Research 36, 2009), by Captum; its shares add up to the difference between the whole text and none.
- `lime`: a sparse linear model of the answer over random halves of the words, those nearest to the whole text counting
  most (Ribeiro, Singh and Guestrin, KDD 2016), by Captum.
"""

import threading
from collections.abc import Callable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.models.attribution.presence import OutOfTime, Presence
from dynabench.models.protocol import Attribution, Inputs, Model, explained

SECONDS = 6.0
"""Time after which the best so far is the answer."""
PERMUTATIONS = 25
SAMPLES_A_WORD, SAMPLES = 6, 100
"""LIME asks about so many texts a word, and so many besides."""
RIDGE = 1e-2
_captum = threading.Lock()  # Captum draws from torch's one generator; a seed must hold for a whole explanation

Floats = NDArray[np.float64]


def explain(model: Model, inputs: Inputs, label: str, method: str, seconds: float = SECONDS) -> Attribution:
    """Weights of all words towards `label`, scaled so that the largest magnitude is 1.

    Words of the answer itself, where it is a part of the text, stay and weigh nothing. After `seconds` the best so far
    is returned, with `cut_short` set. Raises `Invalid` for another label or method than the card's, and whatever the
    model raises.
    """
    if label not in explained(model.card):
        raise Invalid({"label": f"One of {', '.join(explained(model.card))}."})
    if method not in METHODS or method not in model.card.methods:
        raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
    asked = Presence(model, inputs, label, seconds)
    if not asked.places:
        return asked.attribution(method, np.zeros(0))
    try:
        return METHODS[method](asked)
    except OutOfTime:
        return asked.attribution(method, _fitted(asked), cut_short=True)


def _occlusion(asked: Presence) -> Attribution:
    count = len(asked.places)
    values = asked.values(np.vstack([np.ones(count), 1 - np.eye(count)]))
    return asked.attribution("occlusion", values[0] - values[1:])


def _shapley(asked: Presence) -> Attribution:
    import torch
    from captum.attr import ShapleyValueSampling

    count = len(asked.places)
    whole, none = asked.values(np.vstack([np.ones(count), np.zeros(count)]))
    sampler, total, drawn = ShapleyValueSampling(_forward(asked)), np.zeros(count), 0
    try:
        with _captum, torch.random.fork_rng():
            torch.manual_seed(_seed(asked))
            for _ in range(PERMUTATIONS):
                part = sampler.attribute(torch.ones(1, count), n_samples=1, perturbations_per_eval=32)
                total, drawn = total + part.double().numpy()[0], drawn + 1
    except OutOfTime:
        if not drawn:
            raise
    shares = total / drawn
    error = abs(float(shares.sum()) - (whole - none)) / max(abs(whole - none), 1e-6)
    return asked.attribution("shapley", shares, round(error, 6), cut_short=drawn < PERMUTATIONS)


def _lime(asked: Presence) -> Attribution:
    import torch
    from captum.attr import Lime
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    count = len(asked.places)
    near = get_exp_kernel_similarity_function("cosine", kernel_width=0.25)
    with _captum, torch.random.fork_rng():
        torch.manual_seed(_seed(asked))
        found = Lime(_forward(asked), similarity_func=near).attribute(
            torch.ones(1, count), n_samples=SAMPLES + SAMPLES_A_WORD * count, perturbations_per_eval=32
        )
    return asked.attribution("lime", found.double().numpy()[0])


METHODS: dict[str, Callable[[Presence], Attribution]] = {"occlusion": _occlusion, "shapley": _shapley, "lime": _lime}


def _forward(asked: Presence) -> Callable[..., object]:
    """The value of each row of presences (B, words) as Captum wants it."""
    import torch

    return lambda rows: torch.from_numpy(asked.values(rows.detach().numpy()))


def _seed(asked: Presence) -> int:
    """The same question is drawn for in the same way."""
    return crc32("\0".join(word.text for _, word in asked.places).encode())


def _fitted(asked: Presence) -> Floats:
    """Return the weights of a ridge regression on the answers that came in time; zeros for fewer than two."""
    rows, values = asked.known()
    if len(values) < 2:
        return np.zeros(len(asked.places))
    centred = rows - rows.mean(0)
    gram = centred.T @ centred + RIDGE * len(values) * np.eye(rows.shape[1])
    return np.asarray(np.linalg.solve(gram, centred.T @ (values - values.mean())))
