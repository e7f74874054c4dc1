"""The evaluation library as JSON, and what is refused."""

import pytest

from dynabench.evaluate.inputs import EXCLUDED_NAMES, matches_expected
from dynabench.kit.errors import Forbidden
from dynabench.site.cards import library, service

F1 = "/api/v1/evaluate/metric/f1"
OPEN = [entry for entry in library.all_entries() if not entry.closed]
PAIR = {"columns": {"predictions": [0, 1, 1], "references": [0, 1, 0]}}


def test_the_list_has_all_modules_and_says_which_compute(client):
    document = client.get("/api/v1/evaluate").json()
    assert [(item["kind"], item["name"]) for item in document["items"]] == [
        (e.kind, e.name) for e in library.all_entries()
    ]
    assert document["next"] is None
    narrowed = client.get("/api/v1/evaluate", params={"kind": "metric", "q": "harmonic"}).json()["items"]
    assert "f1" in [element["name"] for element in narrowed]
    assert "accuracy" not in [this_item["name"] for this_item in narrowed]


def test_a_card_has_ranges_options_and_examples(client):
    card = client.get(F1).json()
    assert card["outputs"][0] == {
        "name": "f1", "text": "F1, or a list with one value for each class", "low": 0, "high": 1, "better": "higher"
    }  # fmt: skip
    average = next(option for option in card["options"] if option["name"] == "average")
    assert average["default"] == "binary"
    assert "macro" in average["choices"]
    assert client.get("/api/v1/evaluate/metric/nothing").status_code == 404


@pytest.mark.release
def test_the_examples_of_all_cards_can_be_sent_back_and_give_what_they_say(client):
    """The first one that gives a result, and the first one that is refused: `evaluate` tests all of them."""
    for entry in OPEN:
        address = f"/api/v1/evaluate/{entry.kind}/{entry.name}"
        examples = client.get(address).json()["examples"]
        for example in {bool(example["error"]): example for example in reversed(examples)}.values():
            body = {name: example[name] for name in ("columns", "options", "config")}
            answer = client.post(address, json=body)
            if example["error"]:
                assert answer.status_code == 422, (entry, example)
                assert example["error"].rstrip(".").casefold() in answer.json()["detail"].casefold(), entry
            else:
                assert answer.status_code == 200, answer.text
                assert matches_expected(answer.json()["result"], example["result"]), (entry, example)


@pytest.mark.release
def test_intervals_and_scores_of_rows_come_on_request(client):
    answer = client.post(F1, json=PAIR | {"interval": 0.9}).json()["result"]
    assert answer["interval"]["f1"]["level"] == 0.9
    rows = client.post("/api/v1/evaluate/metric/accuracy", json=PAIR | {"per_example": True}).json()["result"]
    assert rows["per_example"]["accuracy"] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"columns": {"predictions": [0], "references": [0, 1]}}, "columns"),
        ({"columns": {"predictions": [0.5], "references": [0]}}, "columns.predictions"),
        (PAIR | {"options": {"average": "macros"}}, "options.average"),
        (PAIR | {"options": {"average": {"$where": 1}}}, "options.average"),
        (PAIR | {"options": {"labels": ["x" * 1000]}}, "options.labels"),
        (PAIR | {"options": {"pos_label": 10**300}}, "options.pos_label"),
        (PAIR | {"options": {"pos_label": "../../etc/passwd"}}, "options.pos_label"),
        (PAIR | {"options": {"pos_label": "C:\\\\evil.py"}}, "options.pos_label"),
        (PAIR | {"options": {"__class__": "x"}}, "options.__class__"),
        (PAIR | {"config": "../../etc"}, "config"),
        ({"columns": {"predictions": [0], "references": [0], "evil": [1]}}, "columns.evil"),
        (PAIR | {"interval": 1.5}, "interval"),
        (PAIR | {"resamples": 10**9}, "resamples"),
        ({"columns": {"predictions": list(range(10_001)), "references": [1]}}, "body"),
    ],
)
def test_what_is_wrong_is_told_by_field(client, body, field):
    answer = client.post(F1, json=body)
    assert answer.status_code == 422, answer.text
    assert field in answer.json()["fields"]


def test_bodies_over_a_mebibyte_are_refused(client, person):
    body = {"columns": {"predictions": ["x" * 600_000], "references": ["y" * 600_000]}}
    assert client.post(F1, json=body).status_code == 401
    assert person("ada").post(F1, json=body).status_code == 413


def test_nothing_that_loads_models_runs_code_or_wants_data_is_open():
    for entry in OPEN:
        assert entry.ours
        assert "models" not in entry.card.needs
        assert not entry.card.resource
        assert not any(EXCLUDED_NAMES.search(name) for name in entry.options)
    assert "code_eval" not in [entry.name for entry in OPEN]


def test_a_closed_module_is_shown_and_not_computed(client, monkeypatch):
    module = library.find_entry("metric", "accuracy").module
    closed = library.LibraryEntry("metric", "accuracy", type("Accuracy", (module,), {"on_pages": False}), True)
    monkeypatch.setattr(library, "all_entries", lambda: (closed,))
    address = "/api/v1/evaluate/metric/accuracy"
    assert client.get(address).json()["computes"] is False
    assert client.post(address, json=PAIR).status_code == 403
    assert "Only available from Python" in client.get("/evaluate/metric/accuracy").text
    assert client.get("/evaluate/metric/accuracy?column.predictions=1&column.references=1").status_code == 403


def test_a_module_of_another_package_is_open_when_it_says_so():
    module = library.find_entry("metric", "accuracy").module
    silent = library.LibraryEntry("metric", "theirs", type("Theirs", (module,), {}), False)
    willing = library.LibraryEntry("metric", "theirs", type("Theirs", (module,), {"on_pages": True}), False)
    assert silent.closed
    assert not willing.closed
    with pytest.raises(Forbidden):
        service.check_computation(silent, {}, {})
