"""Results of open evaluations on the cards of the registry's models, and as signed entries for any model card.

An entry on the card of somebody else's model is a proposal, which the model's keeper or an administrator decides on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import records as signing
from dynabench.benchmark.registry.tables import ModelListing
from dynabench.evaluate.cards import CardError, split_card
from dynabench.evaluate.cards.card_text import CardText
from dynabench.evaluate.cards.model_index import KEY, CardModel, CardResult, merge_results, write_model_index
from dynabench.evaluate.cards.tokens import encode_token, result_claims
from dynabench.evaluate.cards.yaml_text import dump_yaml
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import queries, records
from dynabench.open_evaluations.board import column_of
from dynabench.open_evaluations.external_models import is_external
from dynabench.open_evaluations.published_metrics import PREFIX
from dynabench.open_evaluations.remote_source import REMOTE_PREFIX
from dynabench.open_evaluations.service import VisibleEvaluation, find_changeable, find_evaluation
from dynabench.open_evaluations.tables import (
    CardLocation,
    CardState,
    ModelCardEntry,
    OpenEvaluation,
    OpenEvaluationModel,
    OpenState,
)
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.rounds.service import record_act

SOURCE = "Dynabench"
SHOWN_RESULTS = 200
"""Entries of the newest evaluations that a card of the registry has at most."""


def signed_results(
    session: Session, settings: Settings, evaluation: OpenEvaluation, model: OpenEvaluationModel, name: str, site: str
) -> list[CardResult]:
    """Return the scores of one model as results of the model `name`, each with a token that names the record.

    `site` is the address of this platform. Raises `NotFound` before the evaluation is done.
    """
    record = records.read_record(session, evaluation.id)
    key = signing.public_keys(settings)[0]
    results = []
    for score in session.scalars(queries.scores_of(evaluation.id)):
        if score.model != model.number:
            continue
        metric, _blank, options = score.metric.partition(" ")
        result = CardResult(
            task_type=evaluation.kind,
            task_name=evaluation.kind.replace("-", " ").capitalize(),  # a card is read in English
            dataset_type=_dataset_name(evaluation),
            dataset_name=evaluation.title,
            dataset_config=evaluation.choices.get("config") or None,
            dataset_split=evaluation.choices.get("split") or None,
            dataset_revision=evaluation.edition
            if evaluation.source.startswith(("hub:", REMOTE_PREFIX))
            else evaluation.digest,
            metric_type=metric.removeprefix(PREFIX).partition("@")[0],
            metric_name=column_of(score).title,
            metric_value=round(score.value, 6),
            metric_args=dict(part.partition("=")[::2] for part in options.split()) or None,
            source_name=SOURCE,
            source_url=f"{site}/open-evaluations/{evaluation.id}",
        )
        claims = result_claims(name, result)
        claims |= {"iss": site, "open_evaluation": evaluation.id, "record": record.signature}
        token = encode_token(claims, key, lambda content: signing.sign_bytes(settings, content))
        results.append(replace(result, verify_token=token))
    return results


def _dataset_name(evaluation: OpenEvaluation) -> str:
    """The dataset as cards name it: of an uploaded file, which is its author's alone, no more than that it is one."""
    kind, _colon, name = evaluation.source.partition(":")
    return "uploaded-file" if kind == "file" else name


def card_model_name(card: CardText, name: str) -> str:
    """Return the name under which a card has the results of its model, which is `name` where it has none."""
    models = card.metadata().get(KEY)
    names = [entry.get("name") for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []
    return name if name in names or not names else str(names[0] or name)


def results_text(
    session: Session, settings: Settings, seen: VisibleEvaluation, model: OpenEvaluationModel, site: str
) -> str:
    """Return what is written into a card, for its author to look at before."""
    results = signed_results(session, settings, seen.evaluation, model, model.name, site)
    return dump_yaml({KEY: write_model_index([CardModel(model.name, results)])})


@dataclass(frozen=True)
class RegistryEntry:
    """A model of an evaluation and its entry on the registry's card; `direct` says that the viewer may write there."""

    model: OpenEvaluationModel
    entry: ModelCardEntry | None
    direct: bool


def registry_entries(session: Session, viewer: Person | None, seen: VisibleEvaluation) -> list[RegistryEntry]:
    """Return the models of an evaluation that are in the registry and done, with their entries."""
    entries = {
        row.model: row
        for row in session.scalars(queries.card_entries(seen.evaluation.id))
        if row.place == CardLocation.REGISTRY
    }
    return [
        RegistryEntry(model, entries.get(model.number), keeps_card(session, viewer, model.name))
        for model in seen.models
        if model.state == OpenState.DONE and not is_external(model.reference)
    ]


def keeps_card(session: Session, viewer: Person | None, name: str) -> bool:
    """Return whether a person decides on the card of a model of the registry: its keeper, administrators."""
    listing = session.get(ModelListing, name)
    return bool(may.may(viewer, Action.CHANGE_MODEL, author=listing.keeper_id if listing else None))


def add_to_registry(session: Session, person: Person, id: int, numbers: Sequence[int] = ()) -> None:
    """Put the results of models (all that are done, by default) on their cards, or propose it to their keepers.

    The scores become visible to everybody, since a reader checks a token by its record. Raises `Conflict`.
    """
    seen = find_changeable(session, person, id)
    chosen = [item for item in registry_entries(session, person, seen) if not numbers or item.model.number in numbers]
    if seen.evaluation.state != OpenState.DONE or not chosen:
        raise errors.Conflict(_("No model of the platform in this evaluation is done."))
    seen.evaluation.listed = True
    for item in chosen:
        if item.entry is None:
            _add_entry(session, person, seen.evaluation, item)


def _add_entry(session: Session, person: Person, evaluation: OpenEvaluation, item: RegistryEntry) -> None:
    name = item.model.name
    state = CardState.ON_CARD if item.direct else CardState.PROPOSED
    session.add(
        ModelCardEntry(
            evaluation_id=evaluation.id, model=item.model.number, place=CardLocation.REGISTRY, target=name, state=state
        )
    )
    record_act(session, person, "open_evaluation.card", evaluation=evaluation.id, model=name, state=state)
    listing = session.get(ModelListing, name)
    if not item.direct and listing is not None and listing.keeper_id:
        text = _("Results on %(title)s are proposed for the card of %(model)s.", title=evaluation.title, model=name)
        link = f"/open-evaluations/{evaluation.id}#cards"
        notices.notify_person(session, listing.keeper_id, "evaluation", text, link=link)


def remove_from_registry(session: Session, person: Person, id: int, number: int) -> None:
    """Take the results of a model off its card: the evaluation's author, the model's keeper, administrators."""
    seen = find_evaluation(session, person, id, lock=True)
    entry = _registry_entry(session, id, number)
    if not keeps_card(session, person, entry.target):
        may.refuse_unless(may.may(person, Action.CHANGE_OPEN_EVALUATION, author=seen.evaluation.person_id))
    session.delete(entry)
    record_act(session, person, "open_evaluation.card_removed", evaluation=id, model=entry.target)


def decide_entry(session: Session, person: Person, id: int, number: int, accepted: bool) -> None:
    """Put proposed results on a model's card, or decline them (its keeper, administrators). Raises `Forbidden`."""
    seen = find_evaluation(session, person, id, lock=True)
    entry = _registry_entry(session, id, number)
    listing = session.get(ModelListing, entry.target)
    may.refuse_unless(may.may(person, Action.CHANGE_MODEL, author=listing.keeper_id if listing else None))
    entry.state = CardState.ON_CARD if accepted else CardState.DECLINED
    record_act(session, person, "open_evaluation.card", evaluation=id, model=entry.target, state=entry.state)
    if seen.evaluation.person_id and seen.evaluation.person_id != person.id:
        text = (
            _("Your results on %(title)s are on the card of %(model)s.")
            if accepted
            else _("Your results on %(title)s were declined for the card of %(model)s.")
        )
        values: dict[str, Any] = {"title": seen.evaluation.title, "model": entry.target}
        link = f"/open-evaluations/{id}#cards"
        notices.notify_person(session, seen.evaluation.person_id, "evaluation", text % values, link=link)


def _registry_entry(session: Session, id: int, number: int) -> ModelCardEntry:
    entry = session.get(ModelCardEntry, (id, number, CardLocation.REGISTRY))
    if entry is None:
        raise errors.Conflict(_("No results of this model are on its card or proposed for it."))
    return entry


def registry_card(session: Session, settings: Settings, name: str, readme: str, site: str) -> str:
    """Return the card of a model of the registry with the results that are on it, each with its token."""
    card = split_card(readme.replace("\r\n", "\n"))
    try:
        model_name = card_model_name(card, name)
        for evaluation, model in session.execute(queries.shown_on_card(name, SHOWN_RESULTS)).all():
            results = signed_results(session, settings, evaluation, model, model_name, site)
            card = merge_results(card, results, model_name=model_name)
    except CardError as error:
        raise errors.Conflict(_("The card of this model cannot take results: %(reason)s", reason=str(error))) from None
    return str(card)
