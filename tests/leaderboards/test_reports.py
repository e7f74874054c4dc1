"""Reported results of others: read in both forms, listed apart, ordered with measured ones on demand, withdrawn."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dynabench.benchmark.leaderboards import reports
from dynabench.cli import app
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.rounds import service

BOARD, REPORTED = "/api/v1/tasks/sentiment/leaderboard", "/api/v1/tasks/sentiment/reported"
PAGE = "/tasks/sentiment/reported"
SOURCE = "https://example.org/tables.json"


def tables(*rows: dict[str, Any], dataset: str = "First") -> list[dict[str, Any]]:
    return [{"task": "Sentiment", "datasets": [{"dataset": dataset, "sota": {"metrics": [], "rows": list(rows)}}]}]


def row(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"model_name": name, "metrics": {"Accuracy": value}, **more}


@pytest.fixture
def owner(person, database):
    result = person("olga")
    database.write(service.set_role, None, "sentiment", "olga", "owner")
    return result


@pytest.fixture
def brought(ids, owner):
    rows = (
        row(
            "far ahead",
            "99.5 \N{PLUS-MINUS SIGN} 0.1",
            paper_url="https://example.org/paper",
            paper_title="A paper",
            paper_date="2026",
        ),
        row("a share", 0.97),
        row("no number", "-"),
    )
    answer = owner.post(REPORTED, json={"source": SOURCE, "document": tables(*rows)})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_what_is_imported_is_listed_with_its_source_and_ranks_nowhere(client, ids, owner):
    before = client.get(BOARD).json()
    document = owner.post(
        REPORTED, json={"source": SOURCE, "document": tables(row("far ahead", "99.5"), row("", 1))}
    ).json()
    assert (document["results"], document["left_out"]) == (1, 1)
    (item,) = client.get(REPORTED).json()["items"]
    assert item | {"model": "far ahead", "number": 99.5, "on": "first", "measure": "accuracy", "origin": SOURCE} == item
    assert client.get(BOARD).json() == before
    page = client.get(PAGE).text
    assert "not measured here" in page
    assert f'href="{SOURCE}"' in page
    assert "far ahead" in client.get(f"{REPORTED}?format=csv").text


def test_a_reader_may_ask_for_one_order_in_which_each_is_marked(client, ids, brought):
    assert "model-0" not in client.get(PAGE).text
    page = client.get(f"{PAGE}?beside=first/accuracy").text
    body = page[page.index("<tbody>") :]
    assert body.index("far ahead") < body.index("a share") < body.index("model-0"), "0.97 is 97%"
    assert body.count("not measured here") == 2
    assert client.get(f"{PAGE}?beside=first/nothing").status_code == 404


def test_what_is_no_number_is_left_out_and_named(brought):
    assert brought["why"] == ["no number · First · Accuracy: - is no number"]


def test_an_import_is_taken_back_and_that_is_undone(client, owner, brought):
    address = f"{REPORTED}/{brought['id']}"
    assert owner.patch(address, json={"removed": True}).json()["removed_at"]
    assert client.get(REPORTED).json()["items"] == []
    assert owner.patch(address, json={"removed": False}).json()["removed_at"] is None
    assert len(client.get(REPORTED).json()["items"]) == 2


def test_the_same_file_is_refused_until_it_is_taken_back(owner, brought):
    rows = [{"model_name": "x", "metrics": {"Accuracy": 3}}]
    values = {"source": SOURCE, "document": tables(*rows)}
    document = owner.post(REPORTED, json=values).json()
    assert owner.post(REPORTED, json=values).status_code == 409
    owner.patch(f"{REPORTED}/{document['id']}", json={"removed": True})
    assert owner.post(REPORTED, json=values).status_code == 201


def test_the_page_takes_a_file_and_says_beside_the_field_what_is_wrong(browser, database, ids):
    olga = browser()
    olga.join("olga")
    database.write(service.set_role, None, "sentiment", "olga", "owner")
    headers = {"X-CSRF-Token": olga.token(PAGE)}
    bad = olga.client.post(PAGE, files={"file": ("a.json", b"[")}, data={"source": SOURCE}, headers=headers)
    assert bad.status_code == 422
    assert "neither JSON nor" in bad.text
    assert f'value="{SOURCE}"' in bad.text, "what was written stays"
    assert olga.client.post(PAGE, data={"source": SOURCE}, headers=headers).status_code == 422
    file = {"file": ("a.json", json.dumps(tables(row("far ahead", 99.5), row("none", "-"))).encode())}
    assert olga.client.post(PAGE, files=file, data={"source": SOURCE}, headers=headers).status_code == 303
    page = olga.get(PAGE).text
    assert "far ahead" in page
    assert "1 skipped" in page
    (created,) = olga.client.get(REPORTED).json()["reports"]
    assert olga.submit(f"{PAGE}/{created['id']}", page=PAGE, removed="1").status_code == 303
    gone = olga.get(PAGE).text
    assert "Restore" in gone
    assert "far ahead" not in gone


def test_what_the_platform_writes_it_reads_again(client, ids, owner):
    document = client.get(f"{BOARD}/paperswithcode").json()
    created = owner.post(REPORTED, json={"source": SOURCE, "document": document}).json()
    assert created["form"] == "papers-with-code"
    assert created["left_out"] == 0
    items = client.get(REPORTED).json()["items"]
    assert {element["on"] for element in items} == {"first", "second"}
    assert all(item["measure"] for item in items)
    card = client.get(f"{BOARD}/rows/{ids[0]}/card").text
    assert owner.post(REPORTED, json={"source": SOURCE, "document": card}).json()["form"] == "model-index"


@pytest.mark.parametrize(
    ("document", "source", "field"),
    [
        (tables(row("a", 1)), "javascript:alert(1)", "source"),
        (tables(row("a", 1)), "example.org", "source"),
        ([], SOURCE, "file"),
        ({"datasets": 7}, SOURCE, "file"),
        ("not a card", SOURCE, "file"),
        ("---\nmodel-index: 3\n---\n", SOURCE, "file"),
        (tables(*[row(f"m{n}", n) for n in range(reports.MAX_RESULTS + 1)]), SOURCE, "file"),
    ],
)
def test_what_cannot_be_read_is_refused_by_field(ids, owner, document, source, field):
    answer = owner.post(REPORTED, json={"source": source, "document": document})
    assert answer.status_code == 422
    assert field in answer.json()["fields"]


def test_only_owners_import(ids, ada, brought):
    assert ada.post(REPORTED, json={"source": SOURCE, "document": tables(row("a", 1))}).status_code == 403
    assert ada.patch(f"{REPORTED}/{brought['id']}", json={"removed": True}).status_code == 403
    assert "Import results" not in ada.get(PAGE).text


def test_links_that_are_no_addresses_are_dropped():
    content = json.dumps(tables(row("a", 1, paper_url="javascript:alert(1)"))).encode()
    assert reports.read_report(content).results[0].link == ""


def test_subtasks_and_subdatasets_count():
    inner = {"subdataset": "Deep", "sota": {"rows": [row("a", "81.2%")]}}
    content = json.dumps({"task": "x", "subtasks": [{"datasets": [{"dataset": "D", "subdatasets": [inner]}]}]}).encode()
    (result,) = reports.read_report(content).results
    assert (result.dataset, result.number) == ("Deep", 81.2)


@pytest.mark.parametrize(
    ("text", "number"),
    [("88.6", 88.6), (" 88.6 % ", 88.6),
     ("88.6 \N{PLUS-MINUS SIGN} 0.2", 88.6), ("88.6 +/- 0.2", 88.6), ("-1e-3", -0.001), ("nan", None),
     ("1,234", None), ("", None), ("9" * 400, None), ("88.6 of 90", None), ("3 %", 3.0)],
)  # fmt: skip
def test_numbers_as_people_write_them(text, number):
    assert reports.ExternalResult("m", "d", "k", text).number == number


@given(st.one_of(st.text(), st.text().map(lambda text: f"---\nmodel-index: {text}\n---\n")))
def test_any_readme_reports_something_or_nothing(readme):
    assert all(readme_result.value for readme_result in reports.readme_results(readme))


@pytest.mark.parametrize(
    "matter", ["model-index: 3", "model-index: [{results: [{metrics: {}}]}]", "- 1", "model-index: [[]]", "&a [*a, *a]"]
)
def test_front_matter_of_another_shape_reports_nothing(matter):
    assert reports.readme_results(f"---\n{matter}\n---\n") == ()


NAMES = ("datasets", "dataset", "subtasks", "sota", "rows", "metrics", "model_name", "model-index", "results", "value")
ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(ANY)
def test_any_document_is_read_or_refused(document):
    try:
        report = reports.read_report(json.dumps(document).encode())
    except errors.Invalid:
        return
    assert report.results
    assert all(result.number is not None and result.model.isprintable() for result in report.results)


def test_the_operator_exports_imports_and_takes_back(ids, settings, tmp_path, monkeypatch):
    for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    get_settings.cache_clear()
    run = CliRunner()
    try:
        exported = run.invoke(app, ["board", "export", "sentiment"])
        (tmp_path / "board.json").write_text(exported.output, encoding="utf-8")
        bring = ["board", "import", "sentiment", str(tmp_path / "board.json"), "--source", SOURCE, "--json"]
        document = json.loads(run.invoke(app, bring).output)
        assert document["results"] > 10
        assert run.invoke(app, bring).exit_code == 1, "it is there already"
        assert run.invoke(app, ["board", "remove", "sentiment", str(document["id"])]).exit_code == 0
        (listed,) = json.loads(run.invoke(app, ["board", "imports", "sentiment", "--json"]).output)
        assert listed["taken back"]
        assert run.invoke(app, ["board", "remove", "sentiment", str(document["id"]), "--undo"]).exit_code == 0
    finally:
        get_settings.cache_clear()
