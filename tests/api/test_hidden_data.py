"""Of a hidden dataset nothing leaves but the scores of the whole: every GET route is read, in search of words that
stand in its rows, perturbed copies, refused rows, answers and logs alone.
"""

from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers, records
from dynabench.benchmark.evaluations.tables import Evaluation, Score, Shard
from dynabench.datasets import library, stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelOutput
from dynabench.rounds.tables import RefusedRow
from tests import boards
from tests.api.route import Route
from tests.api.routes import ROUTES
from tests.api.stage import Scene, Stage, new_stage
from tests.collection import conftest as world
from tests.furnished import Furnish

host, rules = world.host, world.rules
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # what is shown is the same on both

VAULT, ROWS, FEW = "vault", 40, 3
SECRETS = {
    "textzebra": "the text of a row",
    "uidzebra": "the uid of a row",
    "tagzebra": "a tag of few rows",
    "twinzebra": "the text of a perturbed copy",
    "refusedzebra": "a refused row",
    "saidzebra": "what a model said of a row",
    "logzebra": "the log of an evaluation",
    "reasonzebra": "the error of an evaluation",
}
TAG = ("tagzebra", SECRETS["tagzebra"])
FILE_JOB = "00000000-0000-4000-8000-00000000beef"
NEW = ("leaderboard", "ledger", "snapshots", "forks", "compare", "matrix", "pareto", "humans", "transfer", "datasets",
       "scores", "evaluations", "submissions")  # fmt: skip
FILES = ("/rows", "/file", "/ledger", "/export")  # in several formats
OWN = "/refused"  # owners read which rows of their file were left out
ITS_PAGE = "/datasets/{name}"  # where owners are told how many rows have each tag
LOOKS_AFTER = ("owner", "admin")


def furnished_with_a_vault(settings: Settings) -> Scene:
    """The stage with a hidden dataset: two models of the author's on it, one done and one that failed."""
    with new_stage(settings) as stage:
        author = stage.callers["author"].id
        stage.scene.secrets = stage.database.write(fill, settings, author)
        return stage.scene


def fill(session: Session, settings: Settings, author: int) -> dict[str, int]:
    """The numbers of what was made."""
    models = boards.furnish(session, "nli", [0.9, 0.6], [VAULT], rows=ROWS, person=author)
    dataset = session.scalars(select(Dataset).where(Dataset.name == VAULT)).one()
    version = session.get_one(DatasetVersion, dataset.version_id)
    rows = [_row(number) for number in range(ROWS)]
    written = stored.write_rows(settings, rows)
    dataset.visibility, version.digest, version.slices, version.job_id = (
        "hidden",
        written.digest,
        written.tags,
        FILE_JOB,
    )
    session.add(Job(id=FILE_JOB, kind=library.READ_KIND, payload={"task": "nli", "version": version.id}, done={}))
    session.flush()
    session.add(
        RefusedRow(job_id=FILE_JOB, row=7, message="refusedzebra is no label", values={"label": "refusedzebra"})
    )
    copies = [replace(row, uid=f"{row.uid}#upper_case", original_uid=row.uid, transformation="upper_case",
                      inputs={"premise": "twinzebra", "hypothesis": "twinzebra"}) for row in rows]  # fmt: skip
    twins = stored.write_rows(settings, copies, twins=True)
    for axis in ("fairness", "robustness"):
        session.add(Twin(version_id=version.id, axis=axis, state="ready", digest=twins.digest, rows=ROWS,
                         transformations=twins.transformations))  # fmt: skip
    done, failed = (_evaluation(session, model, version.id) for model in models)
    _answer(session, settings, done, rows)
    failed.state, failed.code = "failed", "crashed"
    for item in (done, failed):
        item.log, item.reason = "Traceback: logzebra", "reasonzebra went wrong"
    return {"done": done.id, "failed": failed.id, "first": models[0], "second": models[1]}


def _row(number: int) -> StoredRow:
    inputs = {"premise": f"A textzebra sleeps, {number}.", "hypothesis": "It is awake."}
    tags = ("large", "tagzebra") if number < FEW else ("large",)
    return StoredRow(f"uidzebra-{number}", inputs, ({"label": "contradiction"},), tags)


def _evaluation(session: Session, submission: int, version: int) -> Evaluation:
    source = (Evaluation.submission_id == submission, Evaluation.version_id == version)
    return session.scalars(select(Evaluation).where(*source)).one()


def _answer(session: Session, settings: Settings, evaluation: Evaluation, rows: list[StoredRow]) -> None:
    """Answers, a score of a small slice from the time when the dataset was not hidden yet, and the signed record."""
    waiting = answers.write_answers(
        settings, [row.uid for row in rows], [ModelOutput({"label": "saidzebra"})] * len(rows)
    )
    waiting.keep(answers.answers_path(settings, evaluation.id, "rows", 0))
    session.add(Shard(evaluation_id=evaluation.id, part="rows", number=0, first=0, rows=len(rows),
                      digest=waiting.digest, seconds=1.0))  # fmt: skip
    for tag, count in (("tagzebra", FEW), ("large", ROWS)):
        session.add(Score(evaluation_id=evaluation.id, metric="accuracy", slice=tag, value=0.5, n=count))
    records.renew_key(session, settings)  # the scene's own records were signed in another home
    records.store_record(session, settings, evaluation.id)


@pytest.fixture
def furnish() -> Furnish:
    return furnished_with_a_vault


def addresses(stage: Stage, path: str, role: str) -> list[str]:
    """The route with the hidden dataset and what was evaluated on it in place of its parameters."""
    created = stage.scene.secrets
    usual = path
    for name, value in {"{dataset}": VAULT, "imports/{job}": f"imports/{FILE_JOB}"}.items():
        usual = usual.replace(name, value)
    if "/datasets/{name}" in path:
        usual = usual.replace("{name}", VAULT)
    if path.startswith(("/models/", "/api/v1/models/")) and "/scores" in path:
        return [usual.replace("{name}", f"model-{number}") for number in (0, 1)]
    if "/evaluations/{id}" in path:
        return [usual.replace("{id}", str(created[name])) for name in ("done", "failed")]
    if "/rows/{id}" in path or "/submissions/{id}" in path:
        usual = usual.replace("{task}", "nli")
        return [usual.replace("{id}", str(created[name])) for name in ("first", "second")]
    return [stage.address(usual, role)]


def queries_of(stage: Stage, path: str, route: Route) -> list[dict[str, str]]:
    """The parameters that a route is read with: its own, those that name the dataset and two models, and files."""
    if path.endswith("/search"):  # which says again what was asked for, as it was written
        return [{"q": word.upper()} for word in SECRETS]
    if not any(word in path for word in NEW):
        return [route.params or {}]
    created = stage.scene.secrets
    two = {"a": str(created["first"]), "b": str(created["second"]), "dataset": VAULT}
    if path.endswith(FILES):
        return [two | {"format": form} for form in ("csv", "json", "jsonl")]
    return [route.params or two]


def leaks(stage: Stage, role: str) -> tuple[list[str], int]:
    """Return the routes that show any of `SECRETS` to this role, and how many answers were read."""
    result, count = [], 0
    stage.reading = True
    token = None if role == "anon" else stage.callers[role].token
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for (method, path), route in ROUTES.items():
        if method != "GET" or (role in LOOKS_AFTER and OWN in path) or (role == "member" and route.access == "anyone"):
            continue  # a member without a role reads there what visitors read
        for address, params in product(addresses(stage, path, role), queries_of(stage, path, route)):
            if path.startswith("/api/"):
                answer = stage.client.get(address, params=params, headers=headers)
            else:
                answer = stage.browsers[role].get(address, params=params)
            assert answer.status_code < 500, (address, params, answer.text)
            reply = answer.text + str(answer.headers)
            secrets = SECRETS.items() - ({TAG} if role in LOOKS_AFTER and path.endswith(ITS_PAGE) else set())
            result += [f"{role} reads {subject} at {address} {params}" for word, subject in secrets if word in reply]
            count += answer.status_code == 200
    return result, count


@pytest.mark.slow
@pytest.mark.parametrize("role", ["anon", "member", "author", "owner"])
def test_nobody_reads_anything_of_a_hidden_dataset_but_its_scores(stage: Stage, role: str):
    result, count = leaks(stage, role)
    assert not result
    assert count > (20 if role == "member" else 60), "most routes answer"


def test_scores_of_the_whole_and_of_large_slices_are_told(stage: Stage):
    done = stage.scene.secrets["done"]
    scores = stage.client.get(f"/api/v1/evaluations/{done}/scores").json()["items"]
    assert {score["slice"] for score in scores} == {"", "large"}
    assert any(item["metric"] == "accuracy" and not item["slice"] for item in scores)
    row = stage.client.get(f"/api/v1/tasks/nli/leaderboard/rows/{stage.scene.secrets['first']}")
    assert VAULT in row.text


def test_of_a_failure_on_a_hidden_dataset_the_submitter_learns_the_code_and_what_to_do(stage: Stage):
    document = stage.callers["author"].get(f"/api/v1/evaluations/{stage.scene.secrets['failed']}").json()
    assert document["code"] == "crashed"
    assert document["advice"]
    assert not document["log"]
    assert not document["reason"]
