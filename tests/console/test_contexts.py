"""Contexts on the owner's pages: listed, sent as a file, mapped, imported, mended."""

import os
import time

import pytest
from sqlalchemy import func, select

from dynabench.rounds import service
from dynabench.rounds.tables import Context
from tests.conftest import Browser
from tests.console.conftest import sent
from tests.jobs import conftest as jobs_world
from tests.jobs.conftest import until
from tests.sheets import rows_of

worker = jobs_world.worker
sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
FILE = (
    b"Sentence 1;no,Premise text,Genre,other\n"
    b"1,A dog barks.,animals,x\n"
    b"2,,animals,x\n"
    b"3,=SUM(A1),,x\n"
    b"4,A dog barks.,again,x\n"
)
HERE = "/tasks/nli/manage/contexts"


def count(database, task="nli"):
    return database.read(lambda s: s.scalar(select(func.count()).where(Context.task_id == task)))


@sqlite_only
class TestTheList:
    def test_contexts_are_listed_with_their_use_newest_first_and_by_tag(self, owner, enter):
        rows = [{"values": {"premise": f"Number {n}."}, "tag": "odd" if n % 2 else "even"} for n in range(60)]
        assert owner.post("/api/v1/tasks/nli/contexts", json={"contexts": rows}).status_code == 201
        page = enter(owner)
        first = page.get(HERE).text
        assert "70 contexts" in first
        assert first.index("Number 59.") < first.index("Number 35.")
        assert "Number 34." not in first
        following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        assert "Number 34." in page.get(following).text
        odd = page.get(HERE, params={"tag": "odd"}).text
        assert "Number 59." in odd
        assert "Number 58." not in odd
        assert "No matches" in page.get(HERE, params={"tag": "<i>"}).text

    def test_what_nobody_was_given_can_be_deleted_and_nothing_else(self, owner, ada, enter, database):
        page = enter(owner)
        values = ada.post("/api/v1/tasks/nli/contexts/next").json()["id"]
        before = count(database)
        submission = page.submit(f"{HERE}/{values}/delete", page="/settings")
        assert submission.status_code == 409
        assert "already handed out" in submission.text
        other = database.read(
            lambda s: s.scalar(select(Context.id).where(Context.task_id == "nli", Context.id != values))
        )
        assert f'action="{HERE}/{other}/delete"' in page.get(HERE).text
        gone = page.submit(f"{HERE}/{other}/delete", page="/settings")
        assert f"Context {other} was deleted." in page.get(gone.headers["location"]).text
        sheet = page.get(f"{HERE}.csv").text
        items = owner.get("/api/v1/tasks/nli/contexts").json()["items"]
        assert len(sheet.splitlines()) == 1 + len(items), "a header and a line for each that is left"
        assert count(database) == before - 1
        assert owner.delete(f"/api/v1/tasks/sentiment/contexts/{values}").status_code == 404
        assert owner.get("/api/v1/tasks/nli/acts").json()["items"][0]["subject"] == {"context": other}

    def test_a_task_without_contexts_says_what_to_do(self, admin, enter, database):
        [nli] = [shipped_task for shipped_task in jobs_world.shipped_tasks() if shipped_task.config.id == "nli"]
        database.write(service.save_task, None, nli.source)
        view = enter(admin).get(HERE).text
        assert "No contexts yet" in view
        assert "Add contexts from a file" in view

    def test_texts_of_contexts_are_never_markup(self, owner, enter):
        row = {"values": {"premise": "<script>alert(1)</script>"}, "tag": "<b>"}
        owner.post("/api/v1/tasks/nli/contexts", json={"contexts": [row]})
        assert "<script>alert(1)" not in enter(owner).get(HERE).text


@sqlite_only
class TestAFileOnItsWayIn:
    def test_columns_are_guessed_and_the_first_rows_shown(self, owner, enter):
        page = enter(owner)
        view = page.get(sent(page, "facts.csv", FILE)).text
        assert '<option value="Premise text" selected>' in view
        assert '<option value="Genre" selected>' in view
        assert "A dog barks." in view
        assert "1 row would be skipped" in view

    def test_another_choice_shows_other_rows_as_a_part_or_a_page(self, owner, enter):
        page = enter(owner)
        address = sent(page, "facts.csv", FILE)
        choice = {"field.premise": "other", "tag": "", "fixed_tag": "mine"}
        part = page.get(address, params=choice, headers={"HX-Request": "true"})
        assert part.text.lstrip().startswith('<section id="preview"')
        assert "mine" in part.text
        whole = page.submit(address.partition("?")[0], page="/settings", **choice, then="look", name="facts.csv")
        assert whole.status_code == 200
        assert '<option value="other" selected>' in whole.text

    def test_a_column_that_is_not_there_is_refused_beside_its_field(self, owner, enter):
        page = enter(owner)
        address = sent(page, "facts.csv", FILE).partition("?")[0]
        wrong = page.submit(address, page="/settings", **{"field.premise": "nothing like it"})
        assert wrong.status_code == 422
        assert "The file has no such column." in wrong.text

    def test_a_field_that_no_column_looks_like_is_asked_for_before_anything_is_imported(self, owner, enter):
        page = enter(owner)
        address = sent(page, "facts.csv", b"one,two\nA dog barks.,b\n")
        assert "Shown once you have chosen the column of “Premise”" in page.get(address).text
        refused = page.submit(address.partition("?")[0], page="/settings", **{"field.premise": ""}, name="facts.csv")
        assert refused.status_code == 422
        assert "Choose the column to read." in refused.text
        chosen = page.get(address, params={"field.premise": "one"}, headers={"HX-Request": "true"}).text
        assert "A dog barks." in chosen

    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            ("a.txt", b"x", "Upload a file that ends in"),
            ("a.csv", b"", "no rows"),
            ("a.csv", b"a,a\n1,2\n", "a unique name"),
            ("a.jsonl", b"broken\n", "can be read"),
        ],
    )
    def test_files_that_cannot_be_read_are_refused_beside_the_field(self, owner, enter, settings, name, content, says):
        page = enter(owner)
        headers = {"X-CSRF-Token": page.token("/settings")}
        answer = page.client.post(f"{HERE}/files", files={"file": (name, content)}, headers=headers)
        assert answer.status_code == 422
        assert says in answer.text
        assert "Choose a file first." in page.submit(f"{HERE}/files", page="/settings").text

    def test_a_file_is_found_only_under_its_own_task_and_not_for_good(self, owner, enter, settings):
        page = enter(owner)
        address = sent(page, "facts.csv", FILE)
        assert page.get(address.replace("/nli/", "/sentiment/")).status_code == 404
        [stored] = (settings.folder / "uploads" / "nli").iterdir()
        os.utime(stored, (time.time() - 25 * 3600,) * 2)
        sent(page, "other.csv", FILE)
        assert page.get(address).status_code == 404


@pytest.mark.slow
def test_a_mapped_file_is_imported_and_its_bad_rows_come_back_to_be_mended(owner, enter, worker, database, settings):
    page, before = enter(owner), count(database)
    address = sent(page, "facts of life.csv", FILE)
    choice = {"field.premise": "Premise text", "tag": "Genre", "fixed_tag": "rest", "name": "facts of life.csv"}
    started = page.submit(address.partition("?")[0], page="/settings", **choice)
    assert started.status_code == 303, started.text
    here = started.headers["location"]
    assert 'hx-trigger="every 1s"' in page.get(here).text
    worker.start()
    done = until(lambda: "contexts added" in (text := page.get(here).text) and text)
    assert "2 contexts added" in done
    assert "1 row already existed" in done
    assert "1 row was skipped" in done
    assert count(database) == before + 2
    tags = database.read(lambda s: list(s.scalars(select(Context.tag).order_by(Context.id.desc()).limit(2))))
    assert sorted(tags) == ["animals", "rest"]
    assert not [path for path in (settings.folder / "uploads").iterdir() if path.is_file()]

    job = here.rpartition("/")[2]
    document = owner.get(f"/api/v1/tasks/nli/contexts/files/{job}/refused").json()
    assert [(item["row"], item["values"]["Sentence 1;no"]) for item in document["items"]] == [(3, "2")]
    mended(page, here)


def mended(page: Browser, here: str) -> None:
    file = page.get(f"{here}/refused.csv")
    assert file.headers["content-disposition"] == 'attachment; filename="facts-of-life-refused.csv"'
    [row] = rows_of(file.text)
    assert row["row"] == "3"
    assert "premise" in row["reason"]
    assert row["Genre"] == "animals"
    again = page.get(sent(page, "refused.csv", file.content)).text
    assert '<option value="Premise text" selected>' in again
