"""Datasets and an evaluation that the stage of the authorization matrix is set with."""

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.tables import Evaluation, Record
from dynabench.benchmark.releases import manifest, service
from dynabench.benchmark.releases.tables import Release
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import library, stored
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.insight.data_measurements.results import Figure, MeasureResult
from dynabench.insight.data_measurements.tables import StoredMeasurement
from dynabench.kit.db import now
from dynabench.kit.settings import OidcProvider, Settings
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.tables import OpenEvaluation, OpenEvaluationModel, OpenRecord
from dynabench.people.accounts.oidc import pages
from dynabench.people.accounts.oidc.provider import PublishedDocument
from dynabench.people.roles import Role
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, Task
from dynabench.tasks.reading import with_id
from dynabench.tasks.shipped import shipped_tasks
from tests import boards

RECORD = {"format": "dynabench-record-1", "key": "", "dataset": {"visibility": "public"}}


def small(session: Session, settings: Settings) -> None:
    """A public dataset of one row, with perturbed copies of it."""
    row = StoredRow("r1", {"premise": "It rains.", "hypothesis": "It is dry."}, ({"label": "contradiction"},))
    written = stored.write_rows(settings, [row])
    dataset = Dataset(task_id="nli", name="small", visibility="public")
    session.add(dataset)
    session.flush()
    version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=written.digest, rows=1)
    session.add(version)
    session.flush()
    dataset.version_id = version.id
    inputs = {"premise": "IT RAINS.", "hypothesis": "It is dry."}
    copy = replace(row, uid="r1#upper_case", inputs=inputs, original_uid="r1", transformation="upper_case")
    created = stored.write_rows(settings, [copy], twins=True)
    for axis in ("fairness", "robustness"):
        counts = created.transformations
        session.add(Twin(version_id=version.id, axis=axis, state="ready", digest=created.digest, rows=1,
                         transformations=counts))  # fmt: skip


def measured(session: Session) -> None:
    """Write measurements of the first round: one figure, by nine writers."""
    round_id = rounds.round_of(session, "nli", 1).id
    if session.get(StoredMeasurement, round_id) is None:
        measure_result = MeasureResult("Nine writers", (Figure("writers", "Writers", 9.0),), (), 9)
        session.add(StoredMeasurement(round_id=round_id, results={"writers": measure_result.document()}, at=now()))


def films(session: Session, settings: Settings) -> None:
    """A public dataset of one row."""
    row = StoredRow("1", {"premise": "It rains.", "hypothesis": "It is wet."}, ({"label": "entailment"},), ("weather",))
    dataset = library.add_dataset(session, None, "nli", "films", DatasetSettings(visibility="public"))
    library.publish_version(
        session, library.draft_version(session, None, dataset).id, stored.write_rows(settings, [row])
    )


def released(session: Session, settings: Settings, owner: int) -> None:
    """A task of `owner`'s with one round, which is released with two files."""
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    rounds.save_task(session, None, with_id(source, "done"))
    session.add(Role(task_id="done", person_id=owner, role="owner"))
    version = session.get_one(Task, "done").version_id
    origin = Round(task_id="done", number=1, version_id=version, state="released", closed_at=now())
    session.add(origin)
    session.flush()
    release = Release(round_id=origin.id, task_id="done", state="ready", rules={}, released_at=now())
    session.add(release)
    session.flush()
    place = service.release_folder(settings, release.id)
    (place / "data").mkdir(parents=True)
    for name in ("README.md", "data/test.jsonl"):
        (place / name).write_text("{}\n")
    files = [manifest.describe_file(place, name) for name in ("README.md", "data/test.jsonl")]
    release_manifest = manifest.ReleaseManifest(format="dynabench-release", version=1, canary="", task="done", round=1,
                             closed_at="2026-01-01", rules={}, examples={}, files=files)  # fmt: skip
    (place / manifest.MANIFEST_NAME).write_bytes(release_manifest.text())
    release.manifest, release.digest = release_manifest.model_dump(mode="json"), release_manifest.digest
    session.add(CycleTurn(id=1, task_id="done", round_id=origin.id, state="done", plan={}, present=[]))


def evaluated(session: Session, person: int) -> int:
    created = boards.furnish(session, "nli", skills=[0.9], datasets=["third"], rows=40, person=person)
    result = session.scalars(select(Evaluation).where(Evaluation.submission_id == created[0])).one()
    result.state, result.code = "failed", "crashed"
    session.add(Record(evaluation_id=result.id, document=RECORD, signature=""))
    return result.id


def open_evaluated(session: Session, settings: Settings, person: int) -> int:
    """An open evaluation of `person` that failed before a model answered, with a record; its id."""
    row = StoredRow("1", {"text": "A warm film."}, ({"answer": "positive"},))
    written = stored.write_rows(settings, [row])
    choices = OpenChoices(dataset="file:none", task="text-classification")
    evaluation = OpenEvaluation(person_id=person, kind="text-classification", source="file:none", title="Films",
                                state="failed", digest=written.digest, rows=1, choices=vars(choices))  # fmt: skip
    session.add(evaluation)
    session.flush()
    session.add(
        OpenEvaluationModel(evaluation_id=evaluation.id, number=0, reference="nli-a", name="nli-a", state="failed")
    )
    session.add(OpenRecord(evaluation_id=evaluation.id, document={}, signature=""))
    return evaluation.id


def provider() -> OidcProvider:
    """A provider of log-ins whose description this process knows already, so that nobody is asked for it."""
    issuer = "https://id.example.org"
    config = OidcProvider(name="uni", label="Uni", issuer=issuer, client_id="bench")
    metadata = dict.fromkeys(("authorization_endpoint", "token_endpoint", "jwks_uri"), f"{issuer}/x")
    login_provider = pages.provider_named(Settings.model_construct(oidc=[config]), "uni")
    login_provider._documents[f"{issuer}/.well-known/openid-configuration"] = PublishedDocument(
        metadata | {"issuer": issuer}, float("inf")
    )
    return config
