"""Contexts at once: found, tagged, weighed, retired, taken from datasets."""

import re
from urllib.parse import urlencode

from dynabench.datasets import library, stored
from dynabench.datasets.schemas import DatasetSettings
from dynabench.rounds import owner_lists
from tests.collection.conftest import draw

HERE = "/tasks/nli/manage/contexts"


def list_ids(page, **query):
    """The numbers of the contexts on a page, newest first."""
    return re.findall(r'name="contexts" value="(\d+)" form="change', page.get(f"{HERE}?{urlencode(query)}").text)


def test_ticked_contexts_are_tagged_weighed_retired_and_brought_back(owner, ada, enter, database):
    page = enter(owner)
    first, second, *rest = list_ids(page)
    here = f"{HERE}/changes"
    tagged = page.submit(here, page="/settings", contexts=[first, second], then="tag", tag="hard")
    assert "2 contexts tagged." in page.get(tagged.headers["location"]).text
    assert list_ids(page, tag="hard") == [first, second]
    assert page.submit(here, page="/settings", contexts=[first], then="weigh", weight="much").status_code == 422
    page.submit(here, page="/settings", contexts=[first], then="weigh", weight="2.5")
    gone = page.submit(here, page="/settings", contexts=[second, *rest], then="retire")
    assert list_ids(page) == [first]
    assert list_ids(page, retired="yes") == [second, *rest]
    assert {draw(ada)["id"] for _ in range(4)} == {int(first)}
    answer = page.get(gone.headers["location"]).text
    assert f'name="contexts" value="{second}"><' in answer.replace("\n", "")  # the form that undoes it
    page.submit(here, page="/settings", contexts=[second, *rest], then="restore")
    assert list_ids(page) == [first, second, *rest]
    log = owner.get("/api/v1/tasks/nli/acts", params={"kind": "contexts.changed"}).json()["items"]
    assert [item["subject"] for item in log][-1] == {"contexts": 2, "tag": "hard"}


def test_words_are_found_anywhere_and_a_long_search_goes_on_where_it_ended(owner, monkeypatch):
    rows = [{"values": {"premise": f"Straße {n} in the CITY"}} for n in range(30)]
    owner.post("/api/v1/tasks/nli/contexts", json={"contexts": rows})
    some = owner.get("/api/v1/tasks/nli/contexts", params={"q": "city strasse 7"}).json()
    assert [item["values"]["premise"] for item in some["items"]] == [f"Straße {n} in the CITY" for n in (27, 17, 7)]
    monkeypatch.setattr(owner_lists, "SEARCHED", 10)
    monkeypatch.setattr(owner_lists, "SEARCH_PIECE", 5)
    result, after = [], ""
    for _ in range(6):
        part = owner.get("/api/v1/tasks/nli/contexts", params={"q": "city strasse 7", "after": after}).json()
        result += part["items"]
        after = part["next"]
        if after is None:
            break
    assert result == some["items"]


def test_rows_of_a_public_dataset_become_contexts_by_a_mapping_and_of_others_nothing_leaves(
    owner, enter, settings, database
):
    rows = [
        stored.StoredRow(f"u{n}", {"premise": f"Row {n}.", "hypothesis": "x"}, ({"label": "neutral"},), ("news",))
        for n in range(3)
    ]
    written = stored.write_rows(settings, rows)

    def make(session, name="shared", visibility="public"):
        created = library.add_dataset(session, None, "nli", name, DatasetSettings(visibility=visibility))
        version = library.draft_version(session, None, created)
        version.state, version.digest, version.rows = "ready", written.digest, 3
        created.version_id = version.id

    database.write(make)
    database.write(make, "secret", "hidden")
    page = enter(owner)
    assert "secret" not in page.get(HERE).text
    refused = page.submit(f"{HERE}/datasets", page="/settings", dataset="nli/secret")
    assert refused.status_code == 403
    assert owner.post("/api/v1/tasks/nli/contexts/datasets", json={"dataset": "secret"}).status_code == 403
    sent = page.submit(f"{HERE}/datasets", page="/settings", dataset="nli/shared")
    assert sent.status_code == 303
    mapping = page.get(sent.headers["location"]).text
    assert "Row 1." in mapping
    assert "answer_label" in mapping
    body = {"dataset": "shared", "columns": {"premise": "hypothesis"}, "tag": "tag"}
    response = owner.post("/api/v1/tasks/nli/contexts/datasets", json=body)
    assert response.status_code == 202
    assert owner.get(f"/api/v1/tasks/nli/contexts/files/{response.json()['id']}").json()["state"] == "queued"
