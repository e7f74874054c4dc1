"""Uploaded files end after their time or on request; evaluations of them stay, and take their rows along at the end."""

from datetime import timedelta

import pytest

from dynabench.datasets import stored
from dynabench.kit import errors
from dynabench.kit.disk import erase_paths
from dynabench.open_evaluations import predictions, service
from dynabench.open_evaluations.tables import DatasetFile
from tests.open_evaluations.conftest import Desk, reviews

pytestmark = pytest.mark.release


def finished(desk: Desk) -> tuple[str, int]:
    """An uploaded file with a finished evaluation."""
    dataset = desk.upload("films.csv", reviews(30))
    id = desk.start(dataset, ["sentiment-ngram"])
    assert desk.run(id).evaluation.state == "done"
    return dataset.removeprefix("file:"), id


def age(desk: Desk, id: str) -> None:
    def change(session) -> None:
        session.get_one(DatasetFile, id).created_at -= timedelta(days=service.FILE_DAYS + 1)

    desk.database.write(change)


def delete_evaluation(desk: Desk, id: int) -> None:
    erase_paths(desk.database.write(lambda s: service.delete_evaluation(s, desk.settings, desk.someone(s), id)))


def count_lines(desk: Desk, id: int) -> int:
    table = desk.database.read(lambda s: predictions.prediction_table(s, desk.settings, desk.someone(s), id))
    return len(list(predictions.read_lines(desk.settings, table)))


def test_an_old_file_goes_and_its_evaluation_stays(desk: Desk):
    file, id = finished(desk)
    service.tidy_evaluations(desk.database, desk.settings)
    assert service.new_file_path(desk.settings, file).is_file()
    age(desk, file)
    service.tidy_evaluations(desk.database, desk.settings)
    assert not service.new_file_path(desk.settings, file).exists()
    assert count_lines(desk, id) == 30
    with pytest.raises(errors.Invalid, match="Upload the file again"):
        desk.plan(f"file:{file}")


def test_a_file_stays_while_an_evaluation_reads_it(desk: Desk):
    dataset = desk.upload("films.csv", reviews(30))
    id = desk.start(dataset, ["sentiment-ngram"])
    file = dataset.removeprefix("file:")
    age(desk, file)
    service.tidy_evaluations(desk.database, desk.settings)
    with pytest.raises(errors.Conflict, match="reads this file"):
        desk.database.write(lambda s: service.delete_file(s, desk.settings, desk.someone(s), file))
    assert desk.run(id).evaluation.state == "done"


def test_only_the_owner_deletes_a_file(desk: Desk, owner_of):
    file, id = finished(desk)
    other = Desk(desk.database, desk.settings, owner_of("mallory"))
    with pytest.raises(errors.NotFound):
        other.database.write(lambda s: service.delete_file(s, other.settings, other.someone(s), file))
    erase_paths(desk.database.write(lambda s: service.delete_file(s, desk.settings, desk.someone(s), file)))
    assert not service.new_file_path(desk.settings, file).exists()
    assert count_lines(desk, id) == 30


def test_rows_are_erased_with_the_last_evaluation_of_them(desk: Desk):
    first, second = finished(desk)[1], finished(desk)[1]
    digest = desk.seen(first).evaluation.digest
    assert desk.seen(second).evaluation.digest == digest
    path = stored.rows_path(desk.settings, digest)
    for id, stays in ((first, True), (second, False)):
        erase_paths(
            desk.database.write(lambda s, id=id: service.delete_evaluation(s, desk.settings, desk.someone(s), id))
        )
        assert path.is_file() == stays
        assert not service.evaluation_folder(desk.settings, id).exists()


def test_rows_that_a_dataset_has_too_stay(desk: Desk, place):
    _file, id = finished(desk)
    digest = desk.seen(id).evaluation.digest
    place("sentiment").dataset("same", list(stored.read_rows(desk.settings, digest)))
    delete_evaluation(desk, id)
    assert stored.rows_path(desk.settings, digest).is_file()


def test_a_person_who_leaves_takes_files_rows_and_answers_along(desk: Desk):
    file, hidden = finished(desk)
    listed = finished(desk)[1]
    digest = desk.seen(listed).evaluation.digest
    desk.database.write(lambda s: service.list_publicly(s, desk.someone(s), listed, True))
    desk.database.write(lambda s: service.forget_person(s, desk.settings, desk.person))
    assert not service.new_file_path(desk.settings, file).exists()
    assert not stored.rows_path(desk.settings, digest).exists()
    assert not service.evaluation_folder(desk.settings, listed).exists()
    with pytest.raises(errors.NotFound):
        desk.seen(hidden)
    assert desk.database.read(lambda s: service.find_evaluation(s, None, listed)).author == ""
