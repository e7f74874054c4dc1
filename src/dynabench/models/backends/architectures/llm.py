"""Explanations of a language model's answer by the words of its prompt, with Captum.

The explained value is the log-probability of the answer's first tokens, or the difference between the
log-probabilities of two labels. `gradient` and `layer_integrated_gradients` integrate over the word
embeddings from a prompt whose inputs are blank (two points, or as many as there is time for);
`occlusion` blanks one word at a time, and `shapley` draws orders in which words appear.
"""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dynabench.models.attribution.fields import by_word
from dynabench.models.backends.architectures import gradients
from dynabench.models.backends.pieces import Owner, Pieces
from dynabench.models.kinds import GRADIENTS
from dynabench.models.protocol import Attribution, Inputs
from dynabench.models.words import Word, first_words

METHODS = (*GRADIENTS, "occlusion", "shapley")
ANSWER = 8
"""Tokens of an answer that are explained."""
WORDS = 256
"""Words of an input that are looked at."""
SHAPLEY = 10
"""Orders in which words appear at most."""


@dataclass(frozen=True)
class Prompted:
    """A prompt (its token ids and their places in the text), and where in the text each input stands.

    `inputs` are as they were given, `said` as they stand in the prompt, which may have more spaces; `starts` are
    characters of the prompt.
    """

    text: str
    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    inputs: Inputs
    said: dict[str, str]
    starts: dict[str, int]

    def pieces(self) -> Pieces:
        """The prompt's tokens by the words of the inputs."""
        names = list(self.said)
        words = tuple(tuple(first_words(self.inputs[name], WORDS)) for name in names)
        spoken = [
            [_moved(word, _aligned(self.inputs[name], self.said[name]), self.starts[name]) for word in said]
            for name, said in zip(names, words, strict=True)
        ]
        owner: list[Owner] = [None] * len(self.ids)
        for number, name in enumerate(names):
            first, last = self.starts[name], self.starts[name] + len(self.said[name])
            inside = [0 if end > first and start < last else None for start, end in self.offsets]
            mine = gradients.owners(self.offsets, inside, [spoken[number]])
            owner = [(number, found[1]) if found else known for found, known in zip(mine, owner, strict=True)]
        return Pieces(tuple(self.ids), (0,) * len(self.ids), tuple(owner), words)


def explain(
    twin: Any, tokenizer: Any, prompted: Prompted, targets: Sequence[str], label: str, method: str
) -> Attribution:
    """Weights of the inputs' words towards the first of the texts behind the prompt, and against the second, if any.

    `twin` is a model on which hooks may be set.
    """
    pieces = prompted.pieces()
    ours = [at for at, owner in enumerate(pieces.owner) if owner is not None]
    ids = [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"][:ANSWER] for text in targets]
    if not ours or not all(ids):
        return Attribution(method, label, by_word(pieces, list(prompted.said), [0.0] * len(pieces)))
    total, gained = torch.zeros(len(pieces)), 0.0
    for sign, one in zip((1, -1), ids, strict=False):
        if method in GRADIENTS:
            found, more = _by_gradients(twin, tokenizer, pieces, one, method)
            gained += sign * more
        else:
            found = _by_removal(twin, tokenizer, pieces, ours, one, method)
        total += sign * found
    error = abs(float(total.sum()) - gained) / max(abs(gained), 1e-6) if method == GRADIENTS[1] else None
    rounded = None if error is None else round(error, 6)
    return Attribution(method, label, by_word(pieces, list(prompted.said), total.tolist()), rounded)


def _by_gradients(
    twin: Any, tokenizer: Any, pieces: Pieces, target: Sequence[int], method: str
) -> tuple[Tensor, float]:
    """Weights (tokens,) towards the target, and what the inputs add to its log-probability.

    All of the target's tokens are predicted in one pass, where Captum's `LLMGradientAttribution` takes one for each.
    """
    ids = torch.tensor([[*pieces.ids, *target]], device=twin.device)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    wanted, last = torch.tensor(target, device=twin.device), len(target) + 1
    keep = {"logits_to_keep": last} if "logits_to_keep" in inspect.signature(twin.forward).parameters else {}

    def value(said: Any) -> Tensor:
        chances = said.logits[:, -last:-1].float().log_softmax(-1)
        mine: Tensor = chances.gather(-1, wanted.expand(len(chances), -1)[..., None])[..., 0]
        return mine.sum(-1)

    rest = (None,) * len(target)
    whole = Pieces(tuple(ids[0].tolist()), pieces.types + (0,) * len(target), (*pieces.owner, *rest), pieces.words)
    asked = gradients.Asked("", given, value, (), whole, _blank(tokenizer), others={"use_cache": False, **keep})
    weights, gained = gradients.raw(twin, asked, method)
    return weights[: len(pieces)], gained


def _by_removal(
    twin: Any, tokenizer: Any, pieces: Pieces, ours: Sequence[int], target: Sequence[int], method: str
) -> Tensor:
    """Weights (tokens,) by one pass a word, or by one for each word in as many orders as there is time for."""
    from captum.attr import FeatureAblation, LLMAttribution, ShapleyValueSampling

    given = _tokens(pieces, ours, _blank(tokenizer), tokenizer, twin.device)
    owners = [pieces.owner[at] for at in ours]
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    groups = torch.tensor([[numbers[owner] for owner in owners]], device=twin.device)
    several = method == "shapley"
    passes = gradients.WORK / gradients.work(twin, {"input_ids": given.inp_tensor})
    more = {"n_samples": max(1, min(SHAPLEY, int(passes / len(numbers))))} if several else {}
    explainer = LLMAttribution((ShapleyValueSampling if several else FeatureAblation)(twin), tokenizer)
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        found = explainer.attribute(given, torch.tensor(target), forward_in_tokens=False, feature_mask=groups, **more)
    weights = torch.zeros(len(pieces))
    sizes = torch.bincount(groups[0])[groups[0]].float().cpu()  # each token has its whole word's weight
    weights[list(ours)] = found.seq_attr.detach().float().cpu() / sizes
    return weights


def _tokens(pieces: Pieces, ours: Sequence[int], blank: int, tokenizer: Any, device: Any) -> Any:
    """The prompt as Captum takes it: only tokens of the inputs are features, the template stays."""
    from captum.attr import TextTokenInput

    class Tokens(TextTokenInput):  # type: ignore[misc]
        """Of ids, since a prompt with a template's marks is not to be tokenised once more."""

        def __init__(self) -> None:
            self.inp_tensor = torch.tensor([pieces.ids], device=device)
            self.itp_mask = torch.zeros_like(self.inp_tensor, dtype=torch.bool)
            self.itp_mask[0, list(ours)] = True
            self.itp_tensor = self.inp_tensor[self.itp_mask].unsqueeze(0)
            self.values = tokenizer.convert_ids_to_tokens(self.itp_tensor[0].tolist())
            self.n_itp_features = len(self.values)
            self.tokenizer, self.baselines, self.skip_tokens = tokenizer, blank, None

    return Tokens()


def _blank(tokenizer: Any) -> int:
    """A space, where that is a token; a mark of the end would tell the model that something ended."""
    found = tokenizer(" ", add_special_tokens=False, verbose=False)["input_ids"]
    return int(found[0]) if len(found) == 1 else gradients.blank_of(tokenizer)


def _aligned(given: str, said: str) -> list[int]:
    """For each character of `given`, and its end, the place in `said`, which has spaces besides."""
    places, at = [], 0
    for character in given:
        while at < len(said) and said[at] != character:
            at += 1
        places.append(at)
        at += 1
    return [*places, len(said)]


def _moved(word: Word, places: Sequence[int], start: int) -> Word:
    return Word(word.text, start + places[word.start], start + places[word.end - 1] + 1)


MARK = ("\ue0f0", "\ue0f1")
"""Characters for private use, around inputs while their places in a prompt are looked for."""


def marked(said: dict[str, str]) -> dict[str, str]:
    """The texts with marks around them."""
    return {name: f"{MARK[0]}{text}{MARK[1]}" for name, text in said.items()}


def places(rendered: str, order: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The prompt without the marks, and where each input stood between its marks, the first time."""
    text = ""
    starts: dict[str, int] = {}
    names = list(order)
    for part in rendered.split(MARK[0]):
        inside, _, behind = part.partition(MARK[1])
        if MARK[1] in part and (name := names.pop(0) if names else ""):
            starts.setdefault(name, len(text))
        text += inside + behind
    return text, starts
