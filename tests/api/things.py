"""Datasets and an evaluation that the stage of the authorization matrix is set with."""

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import library, stored
from dynabench.datasets.library_schemas import Settled
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.db import now
from dynabench.measuring.found import Figure, Found
from dynabench.measuring.tables import Measured
from dynabench.rounds import service as rounds
from dynabench.scoring.tables import Evaluation, Record
from dynabench.settings import Settings
from tests import boards

RECORD = {"format": "dynabench-record-1", "key": "", "dataset": {"visibility": "public"}}


def small(session: Session, settings: Settings) -> None:
    """A public dataset of one row, with perturbed copies of it."""
    row = Stored("r1", {"premise": "It rains.", "hypothesis": "It is dry."}, ({"label": "contradiction"},))
    written = stored.write(settings, [row])
    dataset = Dataset(task_id="nli", name="small", visibility="public")
    session.add(dataset)
    session.flush()
    version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=written.digest, rows=1)
    session.add(version)
    session.flush()
    dataset.version_id = version.id
    inputs = {"premise": "IT RAINS.", "hypothesis": "It is dry."}
    copy = replace(row, uid="r1#upper_case", inputs=inputs, of="r1", transformation="upper_case")
    made = stored.write(settings, [copy], twins=True)
    for axis in ("fairness", "robustness"):
        counts = made.transformations
        session.add(Twin(version_id=version.id, axis=axis, state="ready", digest=made.digest, rows=1,
                         transformations=counts))  # fmt: skip


def measured(session: Session) -> None:
    """What was measured of the first round: one figure, by nine writers."""
    round_id = rounds.round_of(session, "nli", 1).id
    if session.get(Measured, round_id) is None:
        found = Found("Nine writers", (Figure("writers", "Writers", 9.0),), (), 9)
        session.add(Measured(round_id=round_id, found={"writers": found.document()}, at=now()))


def films(session: Session, settings: Settings) -> None:
    """A public dataset of one row."""
    row = Stored("1", {"premise": "It rains.", "hypothesis": "It is wet."}, ({"label": "entailment"},), ("weather",))
    made = library.add(session, None, "nli", "films", Settled(visibility="public"))
    library.ready(session, library.draft(session, None, made).id, stored.write(settings, [row]))


def evaluated(session: Session, person: int) -> int:
    made = boards.furnish(session, "nli", skills=[0.9], datasets=["third"], rows=40, person=person)
    found = session.scalars(select(Evaluation).where(Evaluation.submission_id == made[0])).one()
    found.state, found.code = "failed", "crashed"
    session.add(Record(evaluation_id=found.id, document=RECORD, signature=""))
    return found.id
