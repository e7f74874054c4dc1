"""Attributions: the weights of the words that a target looked at.

They are asked of the model host, kept for stored examples, and compared with the words that people
marked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.collection import draft_origin, drafts, eligibility, queries
from dynabench.collection.schemas import AttributionIn, ExampleIn
from dynabench.collection.tables import Example, Prediction, StoredAttribution
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.models.protocol import SPAN_PARTS, Attribution, ModelCard, closer, explained
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Spans


@dataclass(frozen=True)
class AttributionQuestion:
    """A question for an attribution: the model, its inputs, the method and the label to explain.

    An empty `label` means the model's own answer, an empty `method` the model's first. An answer marked in a
    text is explained in two halves: the labels are `start` and `end`.

    `example_id` is 0 for a draft, whose attribution is not kept. `closer` names a more exact method that the
    model has.
    """

    model: str
    version: str
    inputs: dict[str, Any]
    config: TaskConfig
    method: str
    label: str = ""
    example_id: int = 0
    closer: str = ""


def about_example(
    session: Session, person: Person, example_id: int, model: str, method: str, label: str = ""
) -> AttributionQuestion:
    """The question about a stored example, of its author or an owner; see `about`."""
    example = eligibility.visible_example(session, person, example_id)
    return about(session, example, example.predictions, model, method, label)


def about(
    session: Session, example: Example, all_predictions: Sequence[Prediction], model: str, method: str, label: str = ""
) -> AttributionQuestion:
    """Return the question about a stored example: why a model gave its answer then, or why `label`.

    Extracted answers are explained in parts: `label` is `start`, which it is by default, or `end`.
    """
    predictions = [prediction for prediction in all_predictions if model in ("", prediction.model)]
    if not predictions:
        raise errors.NotFound(
            _("%(value)s was not asked about example %(id)s.", value=model or "No model", id=example.id)
        )
    config = rounds.config_of(session, example.version_id)
    context = session.get_one(Context, example.context_id)
    return AttributionQuestion(
        model=predictions[0].model,
        version=predictions[0].version,
        inputs=config.model_inputs(context.values, example.input),
        config=config,
        method=method,
        label=wanted_label(config, label) or label_of(config, predictions[0].answer),
        example_id=example.id,
    )


def about_draft(session: Session, person: Person | None, body: AttributionIn) -> AttributionQuestion:
    """The question about a draft, by one of the open round's targets."""
    people.require_seat(session, person, body.task)
    current = rounds.open_round_of(session, body.task)
    targets = [target for target in current.targets if body.model in ("", target.model)]
    if not targets:
        raise errors.NotFound(
            _("%(model)s is not a target of round %(number)s.", model=body.model, number=current.number)
        )
    config = rounds.config_of(session, current.version_id)
    context = draft_origin.context_of(session, body.task, body.context_id)
    draft = ExampleIn(context_id=body.context_id, input=body.input, answer={})
    draft = drafts.filled(session, person, body.task, config, draft, context.values)
    cleaned = config.clean_input(draft.input, context.values)
    inputs = config.model_inputs(context.values, cleaned)
    label = wanted_label(config, body.label)
    return AttributionQuestion(targets[0].model, targets[0].version, inputs, config, body.method, label)


def label_of(config: TaskConfig, answer: Mapping[str, Any]) -> str:
    """The label that an answer comes down to: the chosen option of the first answer field, `start` of one that is
    marked; empty, which means the model's own answer, where that is written freely."""
    field = config.answer[0]
    if isinstance(field, Spans):
        return SPAN_PARTS[0]
    return str(answer.get(field.name) or "") if isinstance(field, Choice) else ""


def wanted_label(config: TaskConfig, label: str) -> str:
    """`label`, if answers of the task can be explained by it, or empty; raises `Invalid` with those that can."""
    field = config.answer[0]
    choices = SPAN_PARTS if isinstance(field, Spans) else field.values if isinstance(field, Choice) else ()
    if label and choices and label not in choices:
        raise errors.Invalid({"label": _("Choose one of %(known)s.", known=", ".join(choices))})
    return label


def _method(card: ModelCard, method: str) -> str:
    if method in card.methods:
        return method
    if method or not card.methods:
        some = ", ".join(card.methods) or "none"
        raise errors.Invalid(
            {
                "method": _(
                    "%(name)s does not support this kind of explanation. It supports: %(some)s.",
                    name=card.name,
                    some=some,
                )
            }
        )
    return card.methods[0]


async def settle(host: Host, question: AttributionQuestion) -> AttributionQuestion:
    """The question with its method named, without a wish the model's first; what it lacks is refused."""
    for card in await host.index():
        if (card.name, card.version) == (question.model, question.version):
            if question.label and question.label not in explained(card):
                raise errors.Invalid({"label": _("Choose one of %(known)s.", known=", ".join(explained(card)))})
            method = _method(card, question.method)
            return replace(question, method=method, closer=closer(card, method))
    raise errors.Unavailable(
        _("%(model)s %(version)s is not on the model host right now.", model=question.model, version=question.version)
    )


async def explain(host: Host, question: AttributionQuestion) -> Attribution:
    """Ask the model host; without a label the model explains its own answer."""
    return await host.attribute(
        question.model, question.version, question.inputs, question.label or None, question.method
    )


def find_attribution(session: Session, question: AttributionQuestion) -> StoredAttribution | None:
    """The attribution computed earlier for the same question."""
    return session.scalar(queries.attribution(question.example_id, question.model, question.method, question.label))


def keep(session: Session, question: AttributionQuestion, attribution: Attribution) -> None:
    """Store an attribution once, unless time ran out; a second writer's equal row is dropped.

    Maps of pictures are not stored: the model host keeps those asked for last.
    """
    if attribution.cut_short or attribution.maps:
        return
    row = StoredAttribution(
        example_id=question.example_id,
        model=question.model,
        method=attribution.method,
        label=attribution.label,
        fields={name: [asdict(word) for word in words] for name, words in attribution.fields.items()},
        completeness_error=attribution.completeness_error,
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        return


def document(model: str, attribution: Attribution | StoredAttribution, closer: str = "") -> dict[str, Any]:
    """`{method, closer, label, model, completeness_error, cut_short, fields, maps}`, and each field's words by name.

    A field whose name is one of these stands under `fields` alone.
    """
    fields = {
        name: [word if isinstance(word, dict) else asdict(word) for word in words]
        for name, words in attribution.fields.items()
    }
    head: dict[str, Any] = {"method": attribution.method, "closer": closer, "label": attribution.label, "model": model}
    head["completeness_error"] = attribution.completeness_error
    head["cut_short"] = getattr(attribution, "cut_short", False)
    return {**fields, **head, "fields": fields, "maps": getattr(attribution, "maps", {})}


@dataclass(frozen=True)
class Overlap:
    """Of the `marked` words, how many are among the model's `marked` heaviest ones, and how many chance would give."""

    marked: int
    shared: int
    chance: float


def marked_words_overlap(spans: Sequence[Mapping[str, Any]], words: Sequence[Mapping[str, Any]]) -> Overlap:
    """Compare the words that a person marked in a field with those that a model looked at most.

    `spans` have `start` and `end`, `words` also `weight`, in characters of the same text. With k marked of n
    words, the k words of largest magnitude are looked up; drawn at random, k * k / n would be shared.
    """
    marked = {
        index
        for index, word in enumerate(words)
        if any(word["start"] < span["end"] and span["start"] < word["end"] for span in spans)
    }
    heaviest = sorted(range(len(words)), key=lambda index: -abs(words[index]["weight"]))[: len(marked)]
    chance = len(marked) ** 2 / len(words) if words else 0.0
    return Overlap(len(marked), len(marked.intersection(heaviest)), chance)


def round_overlap(session: Session, round_: Round, limit: int = 500) -> Overlap:
    """Overlaps summed over a round's newest `limit` pairs of explanation and first target's attribution."""
    config = rounds.config_of(session, round_.version_id)
    text_fields = {field.name: getattr(field, "of", None) for field in config.ask}
    marked, shared, chance = 0, 0, 0.0
    first = round_.targets[0].model if round_.targets else ""
    for explanation, words in session.execute(queries.marked(round_.id, first, limit)):
        for name, of_field in text_fields.items():
            if of_field and explanation.values.get(name) and of_field in words.fields:
                overlap = marked_words_overlap(explanation.values[name], words.fields[of_field])
                marked, shared, chance = marked + overlap.marked, shared + overlap.shared, chance + overlap.chance
    return Overlap(marked, shared, chance)
