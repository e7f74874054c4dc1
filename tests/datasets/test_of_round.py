"""A round as a dataset: what its people verified, and how models that came before and after do on it."""

import pytest

from dynabench.benchmark.evaluations import service
from dynabench.datasets import stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.models import catalog
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from tests.datasets.world import written
from tests.scoring.conftest import Place, by_hand, place
from tests.validation.world import CLAIM, World

pytestmark = pytest.mark.release

__all__ = ["by_hand", "place"]
OLD, NEW = "nli-ngram", "nli-minilm"


class NamedPlace(Place):
    """The world's own task."""

    def __init__(self, world, settings):
        self.database, self.settings, self.task = world.db, settings, world.task


@pytest.fixture
def world(database):
    """Twelve examples that fooled the target and were found right, two that were found wrong, one nobody checked."""
    created = World(database)
    ada, eve, mallory = created.person(), created.person(), created.person()
    for number in range(15):
        id = written(created, ada, f"It does not rain at all, {number}.", tag="rain" if number % 2 else "")
        for judge in (eve, mallory) if number < 14 else ():
            created.vote(judge, id, "correct" if number < 12 else "incorrect")

    def target(session):
        entry = catalog.entry(OLD)
        assert entry.card
        source = session.get_one(Round, created.round_id).targets[0]
        source.model, source.version = OLD, entry.card.version

    database.write(target)
    return created


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)  # the stricter one
def test_old_and_new_models_are_scored_on_what_a_round_verified(world, settings, database, person, by_hand):
    here, olga = NamedPlace(world, settings), person("olga")
    database.write(rounds.set_role, None, world.task, "olga", "owner")
    where = f"/api/v1/tasks/{world.task}"
    here.submit(OLD)
    assert olga.post(f"{where}/datasets/rounds/1").status_code == 409, "an open round is no dataset"
    world.state("closed")
    response = olga.post(f"{where}/datasets/rounds/1")
    assert response.status_code == 201, response.text
    version = database.read(lambda session: session.get_one(DatasetVersion, session.get_one(Dataset, 1).version_id))
    rows = list(stored.read_rows(settings, version.digest))
    assert len(rows) == 12
    assert all(row.answers == (CLAIM,) for row in rows)
    assert {tag for row in rows for tag in row.tags} == {"rain", "start=blank", "fooled"}
    assert all(row.inputs["premise"] in ("It rains.", "It pours.") for row in rows)
    assert olga.post(f"{where}/datasets/rounds/1").status_code == 409, "nothing is new"
    assert olga.patch(f"{where}/datasets/round-1", json={"visibility": "public"}).status_code == 200

    here.submit(NEW)
    assert database.write(service.queue_evaluations, {"dataset": 1}) == 2, (
        "the model of the round, and one that came later"
    )
    for evaluation in (1, 2):
        by_hand(evaluation)
        assert here.evaluation(evaluation).state == "done"
    matrix = olga.get(f"{where}/matrix").json()
    assert [(dataset["name"], dataset["round"]) for dataset in matrix["datasets"]] == [("round-1", 1)]
    cells = {line["entrant"]["model"]: line["cells"][0] for line in matrix["items"]}
    assert cells[OLD]["vmer"]["value"] == pytest.approx(12 / 15), "it was in the loop"
    assert cells[NEW]["vmer"] is None
    result = {name: cell["score"]["value"] for name, cell in cells.items()}
    shared = olga.get(f"{where}/transfer", params={"dataset": "round-1"}).json()
    wrong = dict(zip((model["model"] for model in shared["models"]), shared["error_rates"], strict=True))
    assert wrong == {name: pytest.approx(1 - value) for name, value in result.items()}
    assert len(shared["shares"]) == 2

    world.state("released")
    assert olga.post(f"{where}/datasets/rounds/1").status_code == 409, "a released one has the same rows"
