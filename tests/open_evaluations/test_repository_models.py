"""Models in repositories of the platform's hub: pinned, checked as submitted folders, with results on their cards."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dynabench.evaluate.cards import split_card
from dynabench.hubs import service as hub_service
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.tables import RepositoryKind
from dynabench.models import catalog
from dynabench.open_evaluations import board, repository_cards
from tests.open_evaluations.conftest import Desk, reviews
from tests.open_evaluations.repositories import add_commit
from tests.open_evaluations.small_data import digit_folders

pytestmark = [pytest.mark.release, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]


def folder_files(name: str, **changes: Any) -> dict[str, bytes]:
    """The files of a shipped model, with changed lines of `model.yaml`."""
    folder = Path(catalog.entry(name).folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    document = yaml.safe_load(files["model.yaml"]) | changes
    return {**files, "model.yaml": yaml.safe_dump(document).encode()}


def only_yaml(**changes: Any) -> dict[str, bytes]:
    """A changed `model.yaml` alone."""
    return {"model.yaml": folder_files("sentiment-ngram", **changes)["model.yaml"]}


def add_model(
    desk: Desk, name: str, files: dict[str, bytes], private: bool = False
) -> tuple[hub_service.HubEntry, str]:
    """A model of the desk's person on the hub; its repository, and the reference with its newest commit."""
    entry = desk.database.write(
        lambda s: hub_service.create_repository(
            s, desk.settings, desk.someone(s), RepositoryKind.MODEL, name, private=private
        )
    )
    return entry, f"hub:{entry.full_name}@{add_commit(desk, entry, files)}"


@pytest.fixture
def author(desk: Desk, owner_of: Any) -> Desk:
    """Another person, who publishes models."""
    return Desk(desk.database, desk.settings, owner_of("ada"))


def test_a_model_folder_is_scored_at_its_commit_and_its_card_gets_the_results(
    desk: Desk, author: Desk, monkeypatch: pytest.MonkeyPatch
):
    own_entry, own = add_model(desk, "mine", folder_files("sentiment-ngram"))
    entry, other = add_model(author, "words", folder_files("sentiment-ngram"))
    dataset = desk.upload("films.csv", reviews(60))
    plan = desk.plan(dataset, models=[f"hub:{entry.full_name}", f"{own_entry.full_name}@main"])
    assert plan.problems == {}
    assert plan.choices.models == [other, own]
    id = desk.start(dataset, [*plan.choices.models, "sentiment-ngram"], cards=True)
    add_commit(author, entry, {"model.yaml": b"name: broken"})
    monkeypatch.setenv("DYNABENCH_PUBLIC_URL", "https://bench.example")
    seen = desk.run(id)
    assert [model.state for model in seen.models] == ["done"] * 3, [model.reason for model in seen.models]
    values = {line.scores[0].value for line in desk.database.read(board.read_board, seen).lines}
    assert len(values) == 1
    assert seen.models[0].name == f"{entry.full_name}@{other.partition('@')[2][:12]}"

    def states(session) -> dict[str, str]:
        entries = repository_cards.repository_entries(session, desk.someone(session), desk.seen(id))
        return {item.name: item.state for item in entries if item.entry}

    assert desk.database.read(states) == {entry.full_name: "open", own_entry.full_name: "shown"}
    owner, _slash, name = own_entry.full_name.partition("/")
    row = desk.database.read(lambda s: hub_service.find_entry(s, None, RepositoryKind.MODEL, owner, name)).row
    store = GitStore.of(desk.settings, row.folder)
    card = split_card(store.blob(store.files(row.head)["README.md"]).decode()).metadata()
    [model] = card["model-index"]
    accuracy = model["results"][0]["metrics"][0]
    assert (model["name"], accuracy["type"], accuracy["value"]) == (
        own_entry.full_name,
        "accuracy",
        round(values.pop(), 6),
    )


def test_a_folder_of_transformers_needs_no_model_yaml(desk: Desk, author: Desk):
    files = folder_files("digits-resnet")
    del files["model.yaml"]
    reference = add_model(author, "digits", {**files, "training.py": b"print()", "pytorch_model.bin": b"x"})[1]
    dataset = desk.upload("digits.zip", digit_folders())
    seen = desk.run(desk.start(dataset, [reference, "digits-resnet"]))
    assert [(model.state, model.reason) for model in seen.models] == [("done", "")] * 2
    first, second = desk.database.read(board.read_board, seen).lines
    assert first.scores[0].value == second.scores[0].value


def test_what_may_not_be_read_or_run_is_refused(desk: Desk, author: Desk):
    dataset = desk.upload("films.csv", reviews(30))
    private = add_model(author, "private", folder_files("sentiment-ngram"), private=True)[1]
    nothing = add_model(author, "nothing", {"notes.txt": b"x", "config.json": b"{}"})[1]
    for wrong, words in {
        private: "no model 'ada/private' that you may read",
        "hub:nobody/none": "no model 'nobody/none'",
        "hub:../..": "no model",
        nothing: "holds no model",
        f"{nothing.partition('@')[0]}@none": "no branch, tag or commit",
    }.items():
        assert words in desk.plan(dataset, models=[wrong]).problems["models"], wrong
    members = [f"{name}@{catalog.entry(name).card.version}" for name in ("sentiment-ngram", "sentiment-minilm")]
    ensemble = {"kind": "ensemble", "options": {"members": members}}
    pickled = {**folder_files("sentiment-ngram"), "weights.pkl": b"\x80\x04."}
    elsewhere = {"kind": "oip", "options": {"url": "http://127.0.0.1:9", "model": "x"}}
    closing, closed = add_model(author, "closing", folder_files("sentiment-ngram"))
    models = {
        add_model(author, "pickled", pickled)[1]: "pickle",
        add_model(author, "asking", only_yaml(**ensemble))[1]: "asks other",
        add_model(author, "far", only_yaml(**elsewhere))[1]: "served elsewhere",
        add_model(author, "broken", {"model.yaml": b"name: [", "a.json": b"{}"})[1]: "",
        closed: "may have been deleted or hidden",
    }
    id = desk.start(dataset, [*models, "sentiment-ngram"])
    author.database.write(lambda s: hub_service.set_private(s, author.someone(s), closing, True))
    seen = desk.run(id)
    assert seen.evaluation.state == "done"
    for model in seen.models[:-1]:
        assert (model.state, model.code) == ("failed", "refused"), model.reference
        assert models[model.reference] in model.reason
    assert seen.models[-1].state == "done"
    assert not list((desk.settings.folder / "open-evaluations").rglob(".model-*"))
