"""Models that can answer the rows of an open evaluation: how their inputs and labels fit those of the rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dynabench.intake.mapping import bare_letters
from dynabench.kit.language import _
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations.kinds import PAIR, ColumnRole, OpenTask, RoleKind
from dynabench.open_evaluations.multiple_choice import LETTERS
from dynabench.open_evaluations.rows import find_number

SAME_LABELS = (
    {"positive", "pos"},
    {"negative", "neg"},
    {"neutral", "neu"},
    {"entailment", "entailed", "entails"},
    {"contradiction", "contradicts", "refutes"},
    {"person", "per"},
    {"place", "loc", "location", "gpe"},
    {"organisation", "organization", "org"},
    {"yes", "true"},
    {"no", "false"},
    {"hateful", "hate"},
    {"nothateful", "nothate", "nonhate"},
)
"""Labels, by their letters, that mean the same in many data sets."""


@dataclass(frozen=True)
class LabelMatch:
    """The meanings of a model's labels among those of the rows; `unmatched` labels mean none of them."""

    meanings: Mapping[str, str]
    unmatched: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """True where at least one label has a meaning, or the model has no labels."""
        return bool(self.meanings) or not self.unmatched


@dataclass(frozen=True)
class FittingModel:
    """A model that can answer: `inputs` says which role each of its inputs reads."""

    reference: str
    card: ModelCard
    inputs: Mapping[str, str]
    labels: LabelMatch

    @property
    def matched_labels(self) -> int:
        """The number of its labels that mean one of the rows'."""
        return len(self.labels.meanings)


def find_candidates(
    cards: Sequence[ModelCard],
    task: OpenTask,
    row_labels: Sequence[str],
    chosen: Mapping[str, Mapping[str, str]],
    present: Collection[str],
) -> list[FittingModel]:
    """Return the models that can answer, those whose labels fit best first; `present` are the roles of the rows."""
    candidates = []
    for card in cards:
        inputs = match_inputs(card, task, present)
        if inputs is None or not gives_answers(card, task):
            continue
        labels = LabelMatch({}, ())
        if task.labelled and card.labels:
            labels = match_labels(card.labels, row_labels, chosen.get(card.name, {}))
        candidates.append(FittingModel(card.name, card, inputs, labels))
    return sorted(candidates, key=lambda candidate: (not candidate.labels.fits, candidate.reference))


def gives_answers(card: ModelCard, task: OpenTask) -> bool:
    """True where a model's answers can be scored: of numbers and choices, labels have to be numbers or letters."""
    if card.returns not in task.returns:
        return False
    if card.returns == "label" and task.reference.kind is RoleKind.NUMBER:
        return all(find_number(label) is not None for label in card.labels)
    if card.returns == "label" and task.reference.kind is RoleKind.CHOICE:
        return all(len(label) == 1 for label in card.labels)
    return True


def describe_misfit(card: ModelCard, task: OpenTask) -> str:
    """Return why a model cannot answer such rows, and what to do."""
    return _(
        "%(model)s does not fit %(task)s: it reads %(reads)s and answers with %(returns)s; the rows have %(needs)s. "
        "Choose another model, or another kind of problem.",
        model=card.name,
        task=task.title,
        reads=", ".join(card.inputs),
        returns=card.returns,
        needs=", ".join(role.title for role in task.inputs if role.required),
    )


def match_inputs(card: ModelCard, task: OpenTask, present: Collection[str] = ()) -> dict[str, str] | None:
    """Return the role that each input of a model reads, by its name or else by its place; None where it cannot.

    All roles of the rows have to be read, but for the languages of a translation, which few models need.
    """
    roles = [role for role in task.inputs if role.required or role.name in present]
    pictures = [role for role in roles if role.kind is RoleKind.IMAGE]
    texts = [role for role in roles if role.kind is not RoleKind.IMAGE]
    names = [name for name in card.inputs if name not in card.images]
    if PAIR not in names:
        texts = [role for role in texts if role.name != PAIR]
    if len(card.images) != len(pictures) or len(names) != len(texts):
        return None
    matched = dict(zip(card.images, (role.name for role in pictures), strict=True))
    return matched | _match_texts(names, texts)


def _match_texts(names: Sequence[str], roles: Sequence[ColumnRole]) -> dict[str, str]:
    matched: dict[str, str] = {}
    for name in names:
        free = [role for role in roles if role.name not in matched.values()]
        if role := next((role for role in free if name == role.name), None):
            matched[name] = role.name
    for name in names:
        free = [role for role in roles if role.name not in matched.values()]
        if name not in matched and (role := next((role for role in free if name in role.known_names), None)):
            matched[name] = role.name
    free = [role for role in roles if role.name not in matched.values()]
    rest = [name for name in names if name not in matched]
    return {name: matched.get(name) or free[rest.index(name)].name for name in names}


def match_labels(model: Sequence[str], rows: Sequence[str], chosen: Mapping[str, str]) -> LabelMatch:
    """Return the meanings of a model's labels: the chosen ones, else equal letters, else words of the same meaning."""
    places = _letters_by_number(model, rows)
    by_letters = {bare_letters(label): label for label in reversed(rows)}
    meanings = {}
    for label in model:
        if chosen.get(label) in rows:
            meanings[label] = chosen[label]
        elif label in rows and label not in chosen:
            meanings[label] = label
        elif label not in chosen and (meaning := _meaning(bare_letters(label), by_letters) or places.get(label, "")):
            meanings[label] = meaning
    return LabelMatch(meanings, tuple(label for label in model if label not in meanings))


def _letters_by_number(model: Sequence[str], rows: Sequence[str]) -> dict[str, str]:
    """The letters of choices that numbers mean, in their order, where the rows' labels are letters."""
    if not all(label.isdecimal() for label in model) or not all(label in LETTERS for label in rows):
        return {}
    first = min((int(label) for label in model), default=0)
    return {label: letter for label in model if (letter := LETTERS[int(label) - first :][:1]) in rows}


def _meaning(letters: str, by_letters: Mapping[str, str]) -> str:
    if letters in by_letters:
        return by_letters[letters]
    same = next((group for group in SAME_LABELS if letters in group), set())
    return next((by_letters[other] for other in sorted(same) if other in by_letters), "")
