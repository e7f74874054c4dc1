"""Predictions as a dataset of the hub: whole, private where the rows are, repeated without harm."""

import io
import json

import pyarrow.parquet as pq
import pytest

from dynabench.benchmark.evaluations import records as signing
from dynabench.hubs import service
from dynabench.hubs.file_store import HubFileStore, read_pointer
from dynabench.hubs.git_store import GitStore
from dynabench.kit import errors
from dynabench.open_evaluations import published_predictions
from tests.open_evaluations.conftest import Desk, reviews
from tests.open_evaluations.repositories import add_dataset, dataset_entry

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]
SITE = "https://bench.example.org"


def publish(desk: Desk, id: int, name: str = "", private: bool = True) -> service.HubEntry:
    person = desk.database.read(desk.someone)
    return published_predictions.publish_predictions(desk.database, desk.settings, person, id, name, private, SITE)


def evaluated(desk: Desk, source: str) -> int:
    id = desk.start(source, ["sentiment-ngram"])
    assert desk.run(id).evaluation.state == "done"
    return id


def test_predictions_of_a_file_become_a_dataset_that_can_be_evaluated_again(desk: Desk):
    id = evaluated(desk, desk.upload("films.csv", reviews(60)))
    entry = publish(desk, id)
    assert entry.row.private
    again = publish(desk, id)
    assert again.full_name == entry.full_name
    present = dataset_entry(desk, f"hub:{entry.full_name}")
    store = GitStore.of(desk.settings, present.row.folder)
    files = store.files(present.row.head)
    assert set(files) == {".gitattributes", "README.md", "data/predictions.parquet", "record.json"}
    card = store.blob(files["README.md"]).decode()
    assert f"{SITE}/open-evaluations/{id}" in card
    pointer = read_pointer(store.blob(files["data/predictions.parquet"]))
    assert pointer is not None
    table = pq.read_table(io.BytesIO(HubFileStore.of(desk.settings).path(pointer.digest).read_bytes()))
    assert table.num_rows == 60
    assert table.column_names == ["row", "text", "reference", "sentiment-ngram", "sentiment-ngram right"]
    record = json.loads(store.blob(files["record.json"]))
    assert signing.is_signature_valid(record["document"], record["signature"], record["document"]["key"])
    plan = desk.plan(f"hub:{entry.full_name}", models=["sentiment-ngram"])
    assert (plan.rows, plan.choices.split, plan.problems) == (60, "predictions", {})
    assert not publish(desk, id, "open", private=False).row.private


def test_rows_that_not_everybody_may_read_stay_private_or_unpublished(desk: Desk, owner_of):
    source = add_dataset(desk, "films", {"test.csv": reviews(30)}, private=True)
    id = evaluated(desk, source)
    with pytest.raises(errors.Invalid):
        publish(desk, id, private=False)
    assert publish(desk, id).row.private
    other = Desk(desk.database, desk.settings, owner_of("mallory"))
    with pytest.raises(errors.NotFound):
        publish(other, id)
    with pytest.raises(errors.Invalid):
        publish(desk, id, "films")
    entry = dataset_entry(desk, source)
    desk.database.write(lambda s: service.set_private(s, desk.someone(s), entry, False))
    theirs = evaluated(other, source)
    assert not publish(other, theirs, private=False).row.private
    desk.database.write(lambda s: service.set_private(s, desk.someone(s), entry, True))
    with pytest.raises(errors.Forbidden):
        publish(other, theirs, "once-more")
