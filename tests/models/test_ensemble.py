"""Ensembles of real models: means, votes, what each member said, and ensembles that cannot be."""

import pytest
import yaml

from dynabench.kit.errors import Invalid, NotFound
from dynabench.models import catalog
from dynabench.models.backends.ensemble import EnsembleModel

TEXTS = [{"statement": text} for text in ("A triumph.", "It is a film.", "Dull, and far too long.", "Not bad at all.")]
MEMBERS = ("sentiment-minilm", "sentiment-ngram")


def pinned(name):
    return f"{name}@{catalog.entry(name).version}"


@pytest.fixture
def write(tmp_path):
    def write(**options):
        card = catalog.entry("sentiment-ngram").card
        folder = tmp_path / "both"
        folder.mkdir(exist_ok=True)
        options.setdefault("members", [pinned(name) for name in MEMBERS])
        document = {
            "name": "both", "task": card.task, "kind": "ensemble", "inputs": list(card.inputs), "answer": card.answer,
            "labels": list(card.labels), "licence": "MIT", "options": options,
        }  # fmt: skip
        (folder / "model.yaml").write_text(yaml.safe_dump(document))
        return folder

    return write


@pytest.fixture(scope="module")
def alone():
    return [catalog.open_model(catalog.entry(name).folder).predict(TEXTS) for name in MEMBERS]


@pytest.mark.release
@pytest.mark.parametrize("weights", [[], [3.0, 1.0]])
def test_probabilities_are_the_weighted_mean_of_the_members(write, alone, weights):
    model = catalog.open_model(write(weights=weights))
    shares = [w / sum(weights) for w in weights] or [0.5, 0.5]
    for row, output in enumerate(model.predict(TEXTS)):
        for label, p in output.probabilities.items():
            expected = sum(share * reply[row].probabilities[label] for share, reply in zip(shares, alone, strict=True))
            assert p == pytest.approx(expected, abs=1e-5)
        assert output.answer["label"] == max(output.probabilities, key=output.probabilities.get)
        for name, this_answer in zip(MEMBERS, alone, strict=True):
            assert output.extras["members"][name]["answer"] == this_answer[row].answer["label"]


@pytest.mark.release
def test_votes_are_counted_by_weight_and_the_first_member_breaks_ties(write, alone):
    for weights, winner in (([], 0), ([1.0, 2.0], 1)):
        for row, output in enumerate(catalog.open_model(write(rule="vote", weights=weights)).predict(TEXTS)):
            assert output.answer == alone[winner][row].answer
            assert output.probabilities is None


def test_a_strip_comes_from_taking_words_away_where_members_explain_themselves_differently(write):
    model = catalog.open_model(write())
    result = model.attribute({"statement": "A dreadful film"}, "negative", model.card.methods[0])
    assert result.method == "occlusion"
    assert max(result.fields["statement"], key=lambda word: word.weight).text == "dreadful"


@pytest.mark.release
def test_members_that_explain_themselves_alike_are_averaged(write, tmp_path):
    model = catalog.open_model(write(members=[pinned("sentiment-minilm"), pinned("sentiment-ngram")]))
    assert "gradient" not in model.card.methods
    twin = catalog.entry("sentiment-ngram").folder
    copy = tmp_path / "models" / "twin"
    copy.mkdir(parents=True)
    for file in twin.iterdir():
        (copy / file.name).write_bytes(file.read_bytes().replace(b"name: sentiment-ngram", b"name: twin"))
    settings = pytest.MonkeyPatch()
    settings.setattr(catalog, "folders", lambda: [tmp_path / "models", catalog.BUILTIN])
    try:
        both = catalog.open_model(write(members=[pinned("sentiment-ngram"), pinned("twin")]))
        result = both.attribute(TEXTS[2], "negative", "exact")
    finally:
        settings.undo()
    single = catalog.open_model(twin).attribute(TEXTS[2], "negative", "exact")
    assert result.fields == single.fields


def test_members_need_a_version_that_exists(write):
    with pytest.raises(Invalid, match="NAME@VERSION"):
        catalog.open_model(write(members=["sentiment-ngram", pinned("sentiment-minilm")]))
    with pytest.raises(NotFound, match="no model 'sentiment-ngram' of version"):
        catalog.open_model(write(members=["sentiment-ngram@0000", pinned("sentiment-minilm")]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1.0]}, "one number above 0"),
        ({"weights": [1.0, -1.0]}, "one number above 0"),
        ({"members": ["a@1"]}, "at least 2"),
        ({"members": ["a@1", "a@1"]}, "twice"),
        ({"rule": "loudest"}, "mean"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_options_that_make_no_ensemble_are_refused(write, options, message):
    with pytest.raises(Invalid, match=message):
        catalog.open_model(write(**options))


def test_members_of_another_task_are_refused(write):
    with pytest.raises(Invalid, match="nli-ngram has inputs"):
        catalog.open_model(write(members=[pinned("nli-ngram"), pinned("sentiment-ngram")]))


def test_an_ensemble_is_found_in_the_catalogue_with_its_version(write):
    folder = write()
    entry = catalog.find([folder.parent])[0]
    first = entry.version
    assert entry.card.kind == "ensemble"
    assert catalog.find([write(rule="vote").parent])[0].version != first


@pytest.mark.release
def test_inputs_leave_with_a_member_that_is_served_elsewhere(write, tmp_path, monkeypatch):
    card = catalog.entry("sentiment-ngram").card
    outside = tmp_path / "models" / "outside"
    outside.mkdir(parents=True)
    document = {
        "name": "outside", "task": card.task, "kind": "oip", "inputs": list(card.inputs), "answer": card.answer,
        "labels": list(card.labels), "licence": "MIT", "options": {"url": "https://models.example", "model": "any"},
    }  # fmt: skip
    (outside / "model.yaml").write_text(yaml.safe_dump(document))
    monkeypatch.setattr(catalog, "folders", lambda: [tmp_path / "models", catalog.BUILTIN])
    folder = write()
    assert catalog.find([folder.parent])[0].card.inside
    assert catalog.open_model(folder).card.inside
    write(members=[pinned("sentiment-ngram"), pinned("outside")])
    assert not catalog.find([folder.parent])[0].card.inside
    model = catalog.open_model(folder)
    assert not model.card.inside
    model.close()


def test_what_became_of_a_member_that_is_gone_is_unknown(write):
    folder = write(members=[pinned("sentiment-ngram"), "sentiment-minilm@0000000000000000"])
    assert not catalog.find([folder.parent])[0].card.inside


@pytest.mark.release
def test_ensembles_open_their_members_once_and_close_them(write):
    model = catalog.open_model(write())
    assert isinstance(model, EnsembleModel)
    other = catalog.open_model(catalog.entry("sentiment-minilm").folder)
    model.close()
    assert other.predict(TEXTS)[0].answer["label"] in other.card.labels
