"""Explanations by gradients of any model of transformers."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends.encoder_gradients import by_word
from dynabench.models.backends.pieces import Owner, Pieces
from dynabench.models.kinds import GRADIENTS
from dynabench.models.protocol import Attribution, Inputs
from dynabench.models.words import Word, first_words

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
class ExplanationSubject:
    """The subject of an explanation: the model's inputs (1, ...) and the words its tokens belong to.

    `value` (B,) is what the model says, called `label`. `blank` is the token that says nothing. `covered`
    is the share (height, width) of the picture around its middle that the model sees.
    """

    label: str
    tensors: Mapping[str, Tensor]
    value: Callable[[Any], Tensor]
    fields: Sequence[str] = ()
    pieces: Pieces | None = None
    blank: int = 0
    picture: str = ""
    covered: tuple[float, float] = (1.0, 1.0)
    others: Mapping[str, Any] = field(default_factory=dict)


def explain(twin: Any, subject: ExplanationSubject, method: str) -> Attribution:
    """Weights of words and maps of pictures by `gradient`, or by integrated gradients with their completeness error.

    `twin` is a model on which hooks may be set.
    """
    most = 1 if method == "gradient" else int(WORK / (3 * work(twin, subject.tensors)))
    parts, error = _integrated(*_embedded(twin, subject), most)
    words, maps = {}, {}
    for name, part in zip(_names(subject), parts, strict=True):
        if name == PIXELS:
            maps[subject.picture] = _map(part[0].sum(0), subject.covered)
        elif subject.pieces is not None:
            words = by_word(subject.pieces, subject.fields, part.sum(-1)[0].tolist())
    return Attribution(method, subject.label, words, error, maps=maps)


def raw(twin: Any, subject: ExplanationSubject, method: str) -> tuple[Tensor, float]:
    """Weights (T,) of tokens as they are, and by how much the input's value exceeds the baseline's."""
    most = 1 if method == "gradient" else int(WORK / (3 * work(twin, subject.tensors)))
    forward, features, blanks = _embedded(twin, subject)
    parts, _ = _integrated(forward, features, blanks, most)
    with torch.no_grad():
        return parts[0].sum(-1)[0].cpu(), float(forward(*features)[0] - forward(*blanks)[0])


def _names(subject: ExplanationSubject) -> list[str]:
    return [name for name in FED if name in subject.tensors and (name == PIXELS or subject.pieces)]


def _integrated(
    forward: Callable[..., Tensor], features: tuple[Tensor, ...], blanks: tuple[Tensor, ...], most: int
) -> tuple[list[Tensor], float | None]:
    """Parts of each feature, and the completeness error, with at most so many points (but four); two with `most` 1."""
    from captum.attr import IntegratedGradients

    runtime.use_threads(BATCH * features[0].shape[1])
    method = IntegratedGradients(forward)
    if most == 1:
        attributions = method.attribute(features, baselines=blanks, n_steps=AT_ONCE, method="gausslegendre")
        return [part.detach().float() for part in attributions], None
    with torch.no_grad():
        difference = float(forward(*features)[0] - forward(*blanks)[0])
    parts: list[Tensor] = []
    error = 1.0
    for steps in (max(4, min(STEPS[0], most)), *(more for more in STEPS[1:] if more <= most)):
        attributions = method.attribute(
            features, baselines=blanks, n_steps=steps, method="gausslegendre", internal_batch_size=BATCH
        )
        parts = [part.detach().float() for part in attributions]
        error = abs(sum(float(part.sum()) for part in parts) - difference) / max(abs(difference), 1e-6)
        if error < ENOUGH:
            break
    return parts, round(error, 6)


def work(model: Any, tensors: Mapping[str, Tensor]) -> float:
    """Additions and multiplications of one pass there: two for each weight and token, words looked up not counted."""
    words: int = sum(module.weight.numel() for module in model.modules() if isinstance(module, torch.nn.Embedding))
    sizes = [value.shape[1] if name == "input_ids" else 196 for name, value in tensors.items() if name in FED]
    weights: int = model.num_parameters()
    return 2.0 * max(weights - words, 1) * max(sum(sizes), 1)


def _embedded(
    twin: Any, subject: ExplanationSubject
) -> tuple[Callable[..., Tensor], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The asked value as a function of numbers, and the input and its baseline as such numbers."""
    names = _names(subject)
    rest = {name: value for name, value in subject.tensors.items() if name != PIXELS}
    layer = _layer(twin) if "input_ids" in names else None
    features, blanks = [], []
    with torch.no_grad():
        if layer is not None and subject.pieces is not None:
            ids = subject.tensors["input_ids"]
            ours = torch.tensor([[owner is not None for owner in subject.pieces.owner]], device=ids.device)
            features.append(layer(ids))
            blanks.append(layer(torch.where(ours, subject.blank, ids)))
        if PIXELS in names:
            features.append(subject.tensors[PIXELS])
            blanks.append(torch.zeros_like(subject.tensors[PIXELS]))

    def forward(*numbers: Tensor) -> Tensor:
        count = len(numbers[0])
        fed = {name: value.expand(count, *value.shape[1:]) for name, value in rest.items()}
        if PIXELS in names:
            fed[PIXELS] = numbers[-1]
        if layer is None:
            return subject.value(twin(**fed, **subject.others))
        with _instead(layer, numbers[0]):
            return subject.value(twin(**fed, **subject.others))

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
    owner_by_token: list[Owner] = []
    at = [0] * len(words)
    for (start, end), place in zip(offsets, sequences, strict=True):
        if place is None or place >= len(words) or start == end:
            owner_by_token.append(None)
            continue
        mine = words[place]
        while at[place] < len(mine) and mine[at[place]].end <= start:
            at[place] += 1
        inside = at[place] < len(mine) and mine[at[place]].start < end
        owner_by_token.append((place, at[place]) if inside else None)
    return tuple(owner_by_token)


def _map(weights: Tensor, covered: tuple[float, float]) -> list[list[float]]:
    """Weights (H, W) of pixels as a map over the whole picture; what the model did not see weighs nothing."""
    rows, columns = (min(GRID, size) for size in weights.shape)
    summed = torch.nn.functional.adaptive_avg_pool2d(weights[None, None], (rows, columns))[0, 0]
    seen = (max(1, round(rows * covered[0])), max(1, round(columns * covered[1])))
    if min(covered) < 1:
        inner = torch.nn.functional.adaptive_avg_pool2d(summed[None, None], seen)[0, 0]
        summed = torch.zeros(rows, columns)
        first_row, first_column = (rows - seen[0]) // 2, (columns - seen[1]) // 2
        summed[first_row : first_row + seen[0], first_column : first_column + seen[1]] = inner
    scale = float(summed.abs().max()) or 1.0
    return [[float(cell) / scale for cell in row] for row in summed]


def blank_of(tokenizer: Any) -> int:
    """The token that says nothing: the mask, or what stands for padding, the unknown or the end."""
    for token in (tokenizer.mask_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    return 0


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

    `inputs` are as they were given, `prompt_texts` as they stand in the prompt, which may have more spaces; `starts`
    are characters of the prompt.
    """

    text: str
    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    inputs: Inputs
    prompt_texts: dict[str, str]
    starts: dict[str, int]

    def pieces(self) -> Pieces:
        """The prompt's tokens by the words of the inputs."""
        names = list(self.prompt_texts)
        words = tuple(tuple(first_words(self.inputs[name], WORDS)) for name in names)
        spoken = [
            [
                _moved(word, _aligned(self.inputs[name], self.prompt_texts[name]), self.starts[name])
                for word in field_words
            ]
            for name, field_words in zip(names, words, strict=True)
        ]
        owner: list[Owner] = [None] * len(self.ids)
        for number, name in enumerate(names):
            first, last = self.starts[name], self.starts[name] + len(self.prompt_texts[name])
            inside = [0 if end > first and start < last else None for start, end in self.offsets]
            mine = owners(self.offsets, inside, [spoken[number]])
            owner = [
                (number, word_owner[1]) if word_owner else earlier_owner
                for word_owner, earlier_owner in zip(mine, owner, strict=True)
            ]
        return Pieces(tuple(self.ids), (0,) * len(self.ids), tuple(owner), words)


def explain_text(
    twin: Any, tokenizer: Any, prompted: Prompted, targets: Sequence[str], label: str, method: str
) -> Attribution:
    """Weights of the inputs' words towards the first of the texts behind the prompt, and against the second, if any.

    `twin` is a model on which hooks may be set.
    """
    pieces = prompted.pieces()
    ours = [at for at, owner in enumerate(pieces.owner) if owner is not None]
    ids = [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"][:ANSWER] for text in targets]
    if not ours or not all(ids):
        return Attribution(method, label, by_word(pieces, list(prompted.prompt_texts), [0.0] * len(pieces)))
    total, gained = torch.zeros(len(pieces)), 0.0
    for sign, target_ids in zip((1, -1), ids, strict=False):
        if method in GRADIENTS:
            weights, more = _by_gradients(twin, tokenizer, pieces, target_ids, method)
            gained += sign * more
        else:
            weights = _by_removal(twin, tokenizer, pieces, ours, target_ids, method)
        total += sign * weights
    error = abs(float(total.sum()) - gained) / max(abs(gained), 1e-6) if method == GRADIENTS[1] else None
    rounded = None if error is None else round(error, 6)
    return Attribution(method, label, by_word(pieces, list(prompted.prompt_texts), total.tolist()), rounded)


def _by_gradients(
    twin: Any, tokenizer: Any, pieces: Pieces, target: Sequence[int], method: str
) -> tuple[Tensor, float]:
    """Weights (tokens,) towards the target, and what the inputs add to its log-probability.

    All of the target's tokens are predicted in one pass, where Captum's `LLMGradientAttribution` takes one for each.
    """
    ids = torch.tensor([[*pieces.ids, *target]], device=twin.device)
    tensors = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    target_ids, last = torch.tensor(target, device=twin.device), len(target) + 1
    keep = {"logits_to_keep": last} if "logits_to_keep" in inspect.signature(twin.forward).parameters else {}

    def value(model_output: Any) -> Tensor:
        chances = model_output.logits[:, -last:-1].float().log_softmax(-1)
        mine: Tensor = chances.gather(-1, target_ids.expand(len(chances), -1)[..., None])[..., 0]
        return mine.sum(-1)

    rest = (None,) * len(target)
    whole = Pieces(tuple(ids[0].tolist()), pieces.types + (0,) * len(target), (*pieces.owner, *rest), pieces.words)
    subject = ExplanationSubject("", tensors, value, (), whole, _blank(tokenizer), others={"use_cache": False, **keep})
    weights, gained = raw(twin, subject, method)
    return weights[: len(pieces)], gained


def _by_removal(
    twin: Any, tokenizer: Any, pieces: Pieces, ours: Sequence[int], target: Sequence[int], method: str
) -> Tensor:
    """Weights (tokens,) by one pass a word, or by one for each word in as many orders as there is time for."""
    from captum.attr import FeatureAblation, LLMAttribution, ShapleyValueSampling

    prompt_tokens = _tokens(pieces, ours, _blank(tokenizer), tokenizer, twin.device)
    owners = [pieces.owner[at] for at in ours]
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    groups = torch.tensor([[numbers[owner] for owner in owners]], device=twin.device)
    several = method == "shapley"
    passes = WORK / work(twin, {"input_ids": prompt_tokens.inp_tensor})
    more = {"n_samples": max(1, min(SHAPLEY, int(passes / len(numbers))))} if several else {}
    explainer = LLMAttribution((ShapleyValueSampling if several else FeatureAblation)(twin), tokenizer)
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        attribution = explainer.attribute(
            prompt_tokens, torch.tensor(target), forward_in_tokens=False, feature_mask=groups, **more
        )
    weights = torch.zeros(len(pieces))
    sizes = torch.bincount(groups[0])[groups[0]].float().cpu()  # each token has its whole word's weight
    weights[list(ours)] = attribution.seq_attr.detach().float().cpu() / sizes
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
    space_ids = tokenizer(" ", add_special_tokens=False, verbose=False)["input_ids"]
    return int(space_ids[0]) if len(space_ids) == 1 else blank_of(tokenizer)


def _aligned(text: str, spaced_text: str) -> list[int]:
    """For each character of `text`, and its end, the place in `spaced_text`, which has spaces besides."""
    places, at = [], 0
    for character in text:
        while at < len(spaced_text) and spaced_text[at] != character:
            at += 1
        places.append(at)
        at += 1
    return [*places, len(spaced_text)]


def _moved(word: Word, places: Sequence[int], start: int) -> Word:
    return Word(word.text, start + places[word.start], start + places[word.end - 1] + 1)


MARK = ("\ue0f0", "\ue0f1")
"""Characters for private use, around inputs while their places in a prompt are looked for."""


def marked(texts: dict[str, str]) -> dict[str, str]:
    """The texts with marks around them."""
    return {name: f"{MARK[0]}{text}{MARK[1]}" for name, text in texts.items()}


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
