"""Results of evaluations for model cards, each with a signed token that names its record. Knows no web framework."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries, records, service
from dynabench.benchmark.evaluations.measures import Measure, find_measure
from dynabench.evaluate.cards.model_index import CardModel, CardResult, write_model_index
from dynabench.evaluate.cards.tokens import encode_token, result_claims
from dynabench.evaluate.cards.yaml_text import dump_yaml
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds
from dynabench.tasks.config import TaskConfig

SOURCE = "Dynabench"


@dataclass(frozen=True)
class CardPlace:
    """The place of results: the model's name in the card, the task, and the address that is named as the source."""

    model: str
    task: TaskConfig
    address: str


@dataclass(frozen=True)
class ResultSigner:
    """The key and the records with which the results of one submission are signed.

    `records` has the evaluation's number and the record's signature for each dataset version.
    """

    settings: Settings
    records: Mapping[int, tuple[int, str]]

    def signed(self, place: CardPlace, version: int, result: CardResult) -> CardResult:
        """Return the result with its token; as it is where its evaluation has no record."""
        if version not in self.records:
            return result
        evaluation, signature = self.records[version]
        claims = result_claims(place.model, result)
        claims |= {"evaluation": evaluation, "record": signature}
        if self.settings.site:  # never the address of a request, which its sender chooses
            claims["iss"] = self.settings.site
        key = records.public_keys(self.settings)[0]
        token = encode_token(claims, key, lambda content: records.sign_bytes(self.settings, content))
        return replace(result, verify_token=token)


def result_signer(session: Session, settings: Settings, submission: int) -> ResultSigner:
    """Return the signer of a submission's results."""
    rows = session.execute(queries.submission_records(submission))
    return ResultSigner(settings, {version: (evaluation, signature) for version, evaluation, signature in rows})


def score_result(place: CardPlace, dataset: str, title: str, digest: str, measure: Measure, value: float) -> CardResult:
    """Return a score, in the unit that people read, as a result for a model card."""
    return CardResult(
        task_type=place.task.id,
        task_name=place.task.name,
        dataset_type=f"{place.task.id}/{dataset}",
        dataset_name=title,
        dataset_revision=digest,
        metric_type=measure.name,
        metric_name=f"{measure.title} ({measure.unit})" if measure.unit else measure.title,
        metric_value=round(value, 6),
        source_name=SOURCE,
        source_url=place.address,
    )


def card_snippet(model: str, results: Iterable[CardResult]) -> str:
    """Return the front matter of a model card with these results."""
    index = write_model_index([CardModel(model, list(results))])
    return f"---\n{dump_yaml({'model-index': index})}---\n"


def evaluation_card(session: Session, settings: Settings, viewer: Person | None, id: int, address: str) -> str:
    """Return the scores of one evaluation for its model's card.

    Raises `NotFound` or `Forbidden` where the viewer may not see its record, whose signature the tokens name.
    """
    service.visible_record(session, viewer, id)
    evaluation, scores = service.visible_scores(session, viewer, id)
    dataset = evaluation.dataset
    place = CardPlace(evaluation.name, rounds.task_config(session, dataset.task_id), address)
    digest = Disclosure.at_most(dataset.visibility).digest(evaluation.version)
    signer = result_signer(session, settings, evaluation.submission.id)
    results = []
    for score in scores:
        measure = find_measure(score.metric)
        if not score.slice:
            result = score_result(
                place, dataset.name, dataset.title or dataset.name, digest, measure, score.value * measure.scale
            )
            results.append(signer.signed(place, evaluation.version.id, result))
    return card_snippet(place.model, results)
