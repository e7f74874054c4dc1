"""The predictions of an open evaluation as a dataset of the hub: a repository of the author with Parquet and a card."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from dynabench.evaluate.cards.dataset_card import INDEX_KEY, EvaluationIndex
from dynabench.evaluate.cards.yaml_text import dump_yaml
from dynabench.hubs import commits, service, uploads
from dynabench.hubs.card import README
from dynabench.hubs.commits import CommitRequest
from dynabench.hubs.file_store import HubFileStore, LargeFile
from dynabench.hubs.git_store import GitStore, blob_of
from dynabench.hubs.problems import RepositoryExists
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryKind
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import board, predictions, records, sources
from dynabench.open_evaluations.board import OpenBoard
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.kinds import OPEN_TASKS
from dynabench.open_evaluations.predictions import PredictionTable
from dynabench.open_evaluations.remote_source import REMOTE_PREFIX
from dynabench.open_evaluations.service import VisibleEvaluation, find_evaluation
from dynabench.open_evaluations.tables import OpenEvaluation
from dynabench.people.accounts.tables import Person
from dynabench.rounds.service import record_act

ROWS, RECORD = "data/predictions.parquet", "record.json"
FILE_SOURCE = "file:"


def default_name(evaluation: OpenEvaluation) -> str:
    """Return the usual name of the repository of an evaluation's predictions."""
    return f"open-evaluation-{evaluation.id}-predictions"


def is_public_source(session: Session, settings: Settings, person: Person, evaluation: OpenEvaluation) -> bool:
    """Return whether everybody may read the rows of an evaluation's dataset."""
    if evaluation.source.startswith(FILE_SOURCE):
        return False
    if evaluation.source.startswith(REMOTE_PREFIX):
        return True
    try:
        return sources.open_source(session, settings, person, OpenChoices.parse(evaluation.choices)).public
    except errors.Problem:
        return False


def publish_predictions(
    db: Database, settings: Settings, person: Person, id: int, name: str, private: bool, site: str
) -> HubEntry:
    """Make a dataset of the person's on the hub with rows, right answers and predictions (the evaluation's author).

    Rows that not everybody may read stay private, unless they are of the author's own file. A repeated call adds a
    commit to the repository of this evaluation. Raises `Forbidden`, `Conflict`, `Invalid` under `name`.
    """

    def begin(session: Session) -> tuple[PredictionTable, HubEntry, str, dict[str, Any]]:
        table = predictions.prediction_table(session, settings, person, id)
        seen = find_evaluation(session, person, id)
        public = is_public_source(session, settings, person, seen.evaluation)
        if not (private or public or seen.evaluation.source.startswith(FILE_SOURCE)):
            message = _("Not everybody may read these rows, so that the dataset stays private.")
            raise errors.Invalid({"private": message})
        record = records.read_record(session, id)
        text = _card(seen, board.read_board(session, seen), table, site)
        entry = _repository(session, settings, person, id, name.strip() or default_name(seen.evaluation), private)
        subject = {"evaluation": id, "repository": entry.full_name, "private": entry.row.private}
        record_act(session, person, "open_evaluation.published", **subject)
        return table, entry, text, {"document": record.document, "signature": record.signature}

    table, entry, text, record = db.write(begin)
    large = _store_rows(db, settings, person, entry, predictions.as_parquet(settings, table))
    store = GitStore.of(settings, entry.row.folder)
    small = {README: blob_of(text.encode()), RECORD: blob_of(json.dumps(record, indent=1, sort_keys=True).encode())}
    request = CommitRequest("Add predictions", f"Of open evaluation {id} at {site}.")
    request.new_bytes = store.write(small.values())
    request.files = {path: item.id.decode() for path, item in small.items()}
    request.large, request.sizes = {ROWS: large.digest}, {large.digest: large.size}
    commits.commit_changes(db, settings, person, entry, service.MAIN, request)
    return entry


def _repository(session: Session, settings: Settings, person: Person, id: int, name: str, private: bool) -> HubEntry:
    """A new repository, or the one that holds the predictions of this evaluation already, so that a try can repeat."""
    try:
        return service.create_repository(session, settings, person, RepositoryKind.DATASET, name, private=private)
    except RepositoryExists:
        namespace = service.claim_namespace(session, settings, person).name
        entry = service.managed_entry(session, person, RepositoryKind.DATASET, namespace, name)
    files = GitStore.of(settings, entry.row.folder).files(entry.row.head)
    same = entry.row.card.get("open_evaluation") == id or not set(files) - {".gitattributes"}
    if not same:
        message = _("You have a dataset %(name)s already. Choose another name.", name=entry.full_name)
        raise errors.Invalid({"name": message})
    if private and not entry.row.private:
        service.set_private(session, person, entry, True)
    return entry


def _store_rows(db: Database, settings: Settings, person: Person, entry: HubEntry, content: bytes) -> LargeFile:
    store = HubFileStore.of(settings)
    incoming = store.receive()
    incoming.add(content)
    file = LargeFile(hashlib.sha256(content).hexdigest(), len(content))
    store.keep(incoming, file)
    db.write(uploads.record_stored, settings, person.id, entry.row.id, file)
    return file


def _card(seen: VisibleEvaluation, scores: OpenBoard, table: PredictionTable, site: str) -> str:
    """The dataset's card: where the rows and predictions come from, their columns, and the scores."""
    evaluation = seen.evaluation
    metadata: Mapping[str, Any] = {
        "pretty_name": f"Predictions on {evaluation.title}",
        "tags": ["predictions", "dynabench"],
        "configs": [{"config_name": "default", "data_files": [{"split": "predictions", "path": ROWS}]}],
        INDEX_KEY: [_index(evaluation).document()],
        "open_evaluation": evaluation.id,
    }
    address = f"{site}/open-evaluations/{evaluation.id}"
    lines = [
        f"# Predictions on {evaluation.title}",
        "",
        f"Rows, right answers and predictions of an [open evaluation]({address}) of {evaluation.rows:,} rows.",
        f"Its signed record, [{RECORD}]({RECORD}), names the models, their versions, and the digests of all files.",
        "",
        "Columns: " + ", ".join(f"`{name}`" for name in table.header) + ".",
        "",
        *_score_lines(scores),
    ]
    return f"---\n{dump_yaml(metadata)}---\n" + "\n".join(lines) + "\n"


def _index(evaluation: OpenEvaluation) -> EvaluationIndex:
    """The entry by which further models are evaluated on these rows without a guess."""
    task = OPEN_TASKS[evaluation.kind]
    columns = {role.name: role.name for role in task.inputs} | {"reference": task.reference.name}
    return EvaluationIndex(task.name, "default", splits={"eval_split": "predictions"}, columns=columns)


def _score_lines(scores: OpenBoard) -> Sequence[str]:
    head = ["Model", *(column.title for column in scores.columns)]
    rows = [
        [line.model.reference, *("–" if score is None else f"{score.value:.4f}" for score in line.scores)]
        for line in scores.lines
    ]
    cells = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
