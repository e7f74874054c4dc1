"""The config on the owner's pages: checked by line, previewed, kept in versions; new tasks; the log."""

import html
import re

import pytest

from dynabench.tasks import TaskConfig
from tests.sheets import rows_of

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
HERE = "/tasks/nli/manage/config"


@pytest.fixture
def source(owner):
    return owner.get("/api/v1/tasks/nli/versions/1").json()["config"]


def save(page, text, base=1, **how):
    return page.submit(HERE, page="/settings", config=text, base=str(base), **({"then": "save"} | how))


class TestTheEditor:
    def test_it_shows_the_newest_version_and_what_annotators_would_see(self, owner, enter, source):
        view = enter(owner).get(HERE).text
        assert "Save as version 2" in view
        assert "Preview for annotators" in view
        assert 'name="preview.input.hypothesis"' in view

    def test_problems_are_named_by_line_and_the_text_is_kept(self, owner, enter, source):
        page = enter(owner)
        bad = source.replace("type: choice", "type: wish", 1)
        line = 1 + bad[: bad.index("type: wish")].count("\n")
        answer = save(page, bad)
        assert answer.status_code == 422
        assert f'data-line="{line}"' in answer.text
        assert "type: wish" in answer.text
        assert [item["number"] for item in owner.get("/api/v1/tasks/nli/versions").json()["items"]] == [1]

    def test_it_is_checked_as_one_types_without_being_saved(self, owner, enter, source):
        page = enter(owner)
        fine = page.submit(HERE, page="/settings", htmx=True, config=source, then="check")
        assert fine.text.lstrip().startswith('<section id="check"')
        assert "Preview for annotators" in fine.text
        wrong = page.submit(HERE, page="/settings", htmx=True, config="id: [", then="check")
        assert "This is not YAML" in wrong.text

    def test_another_id_is_another_task(self, owner, enter, source):
        answer = save(enter(owner), source.replace("id: nli", "id: nlj", 1))
        assert answer.status_code == 422
        assert "The id must stay nli" in answer.text

    def test_line_ends_of_browsers_make_no_new_version(self, owner, enter, source):
        answer = save(enter(owner), source.replace("\n", "\r\n"))
        assert answer.status_code == 303
        assert len(owner.get("/api/v1/tasks/nli/versions").json()["items"]) == 1

    def test_two_owners_do_not_overwrite_each_other_unknowingly(self, owner, enter, source):
        page = enter(owner)
        assert save(page, source.replace("name: ", "name: New ", 1)).status_code == 303
        late = save(page, source.replace("name: ", "name: Late ", 1), base=1)
        assert late.status_code == 409
        assert "saved version 2 while you were editing" in late.text
        assert 'name="base" value="2"' in late.text


class TestVersions:
    @pytest.mark.slow
    def test_a_version_shows_what_changed_and_can_be_downloaded(self, owner, enter, source):
        page = enter(owner)
        changed = source.replace("name: ", "name: Very ", 1)
        saved = save(page, changed)
        assert saved.headers["location"] == f"{HERE}?saved=2"
        view = page.get(saved.headers["location"]).text
        assert "Saved as version 2." in view
        beside = page.get(f"{HERE}/versions/2").text
        assert 'class="diff-gone"' in beside
        assert 'class="diff-come"' in beside
        diff = page.get(f"{HERE}/versions/2?view=inline").text
        assert 'class="diff-new"' in diff
        assert "name: Very " in diff
        file = page.get(f"{HERE}/versions/2.yaml")
        assert file.text == changed
        assert file.headers["content-disposition"] == 'attachment; filename="nli-2.yaml"'
        rows = owner.get("/api/v1/tasks/nli/versions").json()["items"]
        assert [(row["number"], row["by"], row["rounds"]) for row in rows] == [(2, "root", []), (1, None, [1])]
        assert page.get(f"{HERE}/versions/9").status_code == 404


class TestANewTask:
    def test_admins_create_one_from_the_text_that_is_offered(self, admin, enter):
        page = enter(admin)
        response = page.get("/tasks/new")
        assert "Preview for annotators" in response.text
        text = html.unescape(re.search(r'<textarea id="config"[^>]*>\n(.*?)</textarea>', response.text, re.DOTALL)[1])
        submission = page.submit("/tasks/new", page="/settings", config=text, then="save")
        assert submission.headers["location"] == "/tasks/my-task/manage", submission.text
        again = page.submit("/tasks/new", page="/settings", config=text, then="save")
        assert again.status_code == 422
        assert "A task my-task already exists." in again.text

    @pytest.mark.parametrize(
        ("query", "id", "name"),
        [
            ({"template_of": "sentiment"}, "my-sentiment", "Sentiment"),
            ({"template_of": "nli", "name": "NLI"}, "nli-2", "NLI"),
            ({"template_of": "chat-preference", "name": "Fröhliche  Gespräche: 2"}, "frohliche-gesprache-2", None),
            ({"name": "天気"}, "my-task", "天気"),
            ({"template_of": "nothing", "name": "New"}, "new-2", "New"),
        ],
    )
    def test_begins_with_a_template_a_name_and_an_id_that_is_free(self, owner, enter, query, id, name):
        response = enter(owner).client.get("/tasks/new", params=query)
        assert "Preview for annotators" in response.text
        text = html.unescape(re.search(r'<textarea id="config"[^>]*>\n(.*?)</textarea>', response.text, re.DOTALL)[1])
        config = TaskConfig.parse(text)
        assert (config.id, config.name) == (id, name or "Fröhliche Gespräche: 2")

    def test_or_from_a_file(self, admin, enter):
        page = enter(admin)
        file = b"id: filed\nname: Filed\ninput: [{name: t, type: text}]\n"
        file += b"answer: {name: label, type: choice, options: [a, b], goal: chosen}\n"
        headers = {"X-CSRF-Token": page.token("/settings")}
        data = {"config": "", "then": "save"}
        response = page.client.post("/tasks/new", data=data, files={"file": ("t.yaml", file)}, headers=headers)
        assert response.headers["location"] == "/tasks/filed/manage", response.text
        bad = page.client.post("/tasks/new", data=data, files={"file": ("t.yaml", b"\xff\xfe")}, headers=headers)
        assert "not valid UTF-8" in bad.text

    def test_no_task_may_be_called_new(self, admin):
        config = "id: new\nname: New\ninput: [{name: t, type: text}]\n"
        config += "answer: {name: label, type: choice, options: [a, b], goal: chosen}\n"
        refused = admin.post("/api/v1/tasks", json={"config": config})
        assert refused.status_code == 422
        assert "id" in refused.json()["fields"]


class TestTheLog:
    def test_acts_are_listed_with_names_and_filtered_by_kind(self, owner, ada, enter):
        owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "expert"})
        page = enter(owner)
        view = page.get("/tasks/nli/manage/log").text
        assert "task.role" in view
        assert '<span class="muted">role</span> expert</span>' in view
        assert "ada" in view
        assert "the operator" in view  # who set the task up
        only = page.get("/tasks/nli/manage/log", params={"kind": "round.opened"}).text
        assert "<code>task.role</code>" not in only
        rows = rows_of(page.get("/tasks/nli/manage/log.csv").text)
        assert rows[0]["kind"] == "task.role"
        assert rows[0]["by"] == "root"
        assert "person ada" in rows[0]["about"]

    @pytest.mark.slow
    def test_long_logs_come_page_by_page(self, owner, enter):
        for n in range(60):
            row = {"values": {"premise": f"Number {n}."}}
            owner.post("/api/v1/tasks/nli/contexts", json={"contexts": [row]})
        page = enter(owner)
        first = page.get("/tasks/nli/manage/log").text
        assert first.count("<code>contexts.uploaded</code>") == 25
        following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        assert page.get(following).text.count("<code>contexts.uploaded</code>") == 25
        assert len(rows_of(page.get("/tasks/nli/manage/log.csv").text)) >= 60
