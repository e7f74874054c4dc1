"""Copies that owners send, and who reads copies: the page, the API and the file."""

import json

import pytest
from sqlalchemy import select

from dynabench.adversaries.perturbations import find_transformations
from dynabench.datasets import stored
from dynabench.datasets.tables import Dataset
from dynabench.rounds.tables import RefusedRow
from tests.datasets import twinned
from tests.datasets.twinned import ADDRESS, ROWS

place = twinned.place


def send(place, rows, axis="robustness", name="mine.jsonl"):
    content = "\n".join(json.dumps(row) for row in rows).encode()
    answer = place.olga.post(f"/api/v1{ADDRESS}/{axis}/file", params={"file": name}, content=content)
    assert answer.status_code == 202, answer.text
    place.run()
    return place.last(axis)


def test_copies_of_ones_own_take_the_place_of_those_made_here(place):
    place.ask()
    place.run()
    twin = send(place, [{"uid": "x1", "input_id": "r1", "hypothesis": "A MAN IS GENEROUS."},
                        {"uid": "x2", "of": "r2", "premise": "Nobodyy was seen.", "transformation": "typo",
                         "label": "entailment"}])  # fmt: skip
    assert (twin.state, twin.origin, twin.rows, twin.transformations) == (
        "ready",
        "uploaded",
        2,
        {"uploaded": 1, "typo": 1},
    )
    first, second = stored.read_rows(place.settings, twin.digest)
    assert first.inputs == {"premise": "John gave Mary two apples.", "hypothesis": "A MAN IS GENEROUS."}
    assert (first.original_uid, first.answers, first.tags) == ("r1", ROWS[0].answers, ("gifts",))
    assert second.transformation == "typo"
    assert place.twin("robustness").id == twin.id
    assert not [path for path in (place.settings.folder / "uploads").rglob("*") if path.is_file()]


def test_every_wrong_row_is_named_and_the_copies_before_stay(place):
    place.ask()
    place.run()
    before = place.twin("robustness").id
    twin = send(place, [
        {"uid": "ok", "input_id": "r1", "hypothesis": "Fine."},
        {"uid": "ok", "input_id": "r1", "hypothesis": "Twice."},
        {"uid": "b", "input_id": "r9", "hypothesis": "?"},
        {"uid": "c", "input_id": "r1"},
        {"input_id": "r1", "hypothesis": "?"},
        {"uid": "d", "input_id": "r1", "hypothesis": 7},
        {"uid": "e", "input_id": "r1", "hypothesis": "x" * 5000},
        {"uid": "f", "input_id": "r1", "hypothesis": "?", "label": "entailment"},
        {"uid": "g", "input_id": "r1", "hypothesis": "?", "wrong": 1},
        ["no object"],
    ])  # fmt: skip
    assert twin.state == "failed"
    assert twin.reason.startswith("9 rows were refused")
    for text in ("row 2: uid", "row 3: input_id", "row 4: No text", "row 5: uid", "row 6: hypothesis",
                 "row 7: hypothesis",
                 "row 8: label", "row 9: wrong", "row 10: "):  # fmt: skip
        assert text in twin.reason
    rows = place.database.read(
        lambda s: list(s.scalars(select(RefusedRow.row).where(RefusedRow.job_id == twin.job_id)))
    )
    assert sorted(rows) == list(range(2, 11))
    assert place.twin("robustness").id == before
    assert send(place, []).state == "failed"


def test_the_page_shows_copies_beside_their_originals(place, client):
    assert "No copies yet" in client.get(ADDRESS).text
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "robustness", "copies": 30})
    place.run()
    page = client.get(ADDRESS)
    assert page.status_code == 200
    assert "John gave Mary two apples." in page.text
    assert page.text.count('id="copy-') == 6, "a page is not long"
    assert 'rel="next"' in page.text
    assert "Generate copies" not in page.text
    counts = place.twin("robustness").transformations
    for name, count in counts.items():
        result = client.get(f"/api/v1{ADDRESS}/robustness", params={"transformation": name}).json()["items"]
        assert len(result) == count
        assert {item["transformation"] for item in result} == {name}
    assert "[U+200B]" in client.get(ADDRESS, params={"transformation": "zero_width"}).text
    assert "No copies on this page" in client.get(ADDRESS, params={"transformation": "nothing"}).text


def test_pages_of_copies_follow_each_other(place, client):
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "robustness", "copies": 30})
    place.run()
    uids, after = [], ""
    while after is not None:
        page = client.get(f"/api/v1{ADDRESS}/robustness", params={"limit": 7, "after": after}).json()
        uids += [item["uid"] for item in page["items"]]
        after = page["next"]
    assert uids == [row.uid for row in stored.read_rows(place.settings, place.twin("robustness").digest)]
    lines = client.get(f"{ADDRESS}/robustness.csv").text.split("\r\n")
    assert (
        lines[0] == '"uid","input_id","transformation","premise","hypothesis","answers"'.replace('"', "")
        or "uid" in lines[0]
    )
    assert len([line for line in lines if line]) == len(uids) + 1


@pytest.mark.slow
@pytest.mark.parametrize("visibility", ["hidden", "scoring"])
def test_where_rows_are_not_public_owners_see_how_many_copies_there_are_and_nobody_reads_them(
    place, client, person, browser, visibility
):
    place.ask()
    place.run()

    def hide(session):
        session.scalars(select(Dataset)).one().visibility = visibility

    place.database.write(hide)
    mia, files = person("mia"), (f"{ADDRESS}/robustness.csv", f"/api/v1{ADDRESS}/robustness")
    for get in (client.get, mia.get):
        for address in (ADDRESS, f"/api/v1{ADDRESS}", *files):
            assert get(address).status_code == 404
    assert mia.post(f"/api/v1{ADDRESS}", json={"axis": "fairness"}).status_code == 403
    assert mia.post(f"/api/v1{ADDRESS}/fairness/file", params={"file": "a.jsonl"}, content=b"{}").status_code == 403
    window = browser()
    window.log_in("olga")
    assert [window.get(files[0]).status_code, place.olga.get(files[1]).status_code] == [403, 403]
    counts = place.twin("robustness").transformations
    items = place.olga.get(f"/api/v1{ADDRESS}").json()["items"]
    assert counts in [item["transformations"] for item in items]
    page = window.get(ADDRESS).text
    assert "so that it remains a fair test" in page
    assert all(find_transformations([name])[0].title in page for name in counts)
    assert not any(word in page for word in ("apples", "beautiful", "robustness.csv", "transformation="))


def test_the_owners_forms_make_and_replace(place, browser):
    window = browser()
    window.log_in("olga")
    page = window.get(ADDRESS).text
    assert "Generate copies" in page
    wrong = window.submit(ADDRESS, page=ADDRESS, axis="robustness", seed="x", copies="99")
    assert wrong.status_code == 422
    assert "Give a number from 1 to 30" in wrong.text
    address = window.submit(ADDRESS, page=ADDRESS, axis="fairness", seed="3", copies="2")
    assert address.status_code in (200, 303), address.text
    assert place.last("fairness").seed == 3
