"""The signed record of an open evaluation, with which its result can be checked outside."""

import platform
from typing import Any

from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.benchmark.evaluations import records as signing
from dynabench.evaluate.evaluator.running import hardware
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import queries
from dynabench.open_evaluations.tables import OpenEvaluation, OpenRecord

FORMAT = "dynabench-open-evaluation-1"


def store_record(session: Session, settings: Settings, evaluation: OpenEvaluation) -> None:
    """Sign a record of the evaluation's models, shards and scores; it replaces an earlier one."""
    session.flush()
    signing.check_key(session, settings)
    document = _document(session, evaluation) | {"key": signing.public_keys(settings)[0]}
    record = session.get(OpenRecord, evaluation.id) or OpenRecord(evaluation_id=evaluation.id)
    record.document, record.signature = document, signing.sign_document(settings, document)
    record.made_at = now()
    session.add(record)


def read_record(session: Session, evaluation: int) -> OpenRecord:
    """Return the record of an open evaluation; raises `NotFound` before it is done."""
    record = session.get(OpenRecord, evaluation)
    if record is None:
        raise errors.NotFound(_("This evaluation has no record yet. It is signed when the evaluation is done."))
    return record


def _document(session: Session, evaluation: OpenEvaluation) -> dict[str, Any]:
    models = []
    scores = session.scalars(queries.scores_of(evaluation.id)).all()
    for model in session.scalars(queries.models_of([evaluation.id])):
        shards = session.scalars(queries.shards_of(evaluation.id, model.number)).all()
        models.append(
            {
                "reference": model.reference,
                "version": model.version,
                "state": model.state,
                "inputs": model.inputs,
                "labels": model.labels,
                "shards": [{"first": shard.first, "rows": shard.rows, "sha256": shard.digest} for shard in shards],
                "scores": [
                    {name: getattr(score, name) for name in ("metric", "key", "value", "low", "high", "n")}
                    for score in scores
                    if score.model == model.number
                ],
            }
        )
    choices = evaluation.choices
    return {
        "format": FORMAT,
        "evaluation": evaluation.id,
        "task": evaluation.kind,
        "dataset": {"title": evaluation.title, "edition": evaluation.edition, "split": choices["split"],
                    "columns": choices["columns"], "rows": evaluation.rows, "sha256": evaluation.digest,
                    "refused": evaluation.refused},
        "models": models,
        "machine": hardware(),
        "python": platform.python_version(),
        "code": __version__,
        "made_at": now().isoformat(),
    }  # fmt: skip
