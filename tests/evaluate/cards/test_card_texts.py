"""Cards keep every byte but the results, and read as the hub's own client reads them."""

import difflib
import re
import site
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData
from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dynabench.evaluate.cards.card_text import MAX_BYTES, decode_card, load_card, split_card
from dynabench.evaluate.cards.model_index import (
    RESULTS_KEY,
    CardModel,
    CardResult,
    merge_results,
    read_model_index,
    write_model_index,
)
from dynabench.evaluate.cards.yaml_text import CardError, read_yaml, same_values
from tests.evaluate.cards.generated import TEXT, cards, result_lists

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
many = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
RESULT = CardResult("text-classification", "a/b", "AB", "accuracy", 0.9)


def removed(before, after):
    """The lines that a merge took out of the text, in order."""
    first, second = before.splitlines(keepends=True), after.splitlines(keepends=True)
    waiting = iter(second)
    if all(line in waiting for line in first):
        return []
    changes = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return [line for kind, start, end, _, _ in changes if kind in ("delete", "replace") for line in first[start:end]]


@pytest.mark.release
@many
@given(st.data())
def test_a_card_is_its_parts_and_reads_as_the_hub_reads_it(data):
    index = write_model_index([CardModel("m", data.draw(result_lists()))])
    text = data.draw(cards(index))
    card = split_card(text)
    assert str(card) == text
    theirs = ModelCard(text.removeprefix("\ufeff"), ignore_metadata_errors=False)
    (model,) = read_model_index(card.metadata()["model-index"])
    assert [asdict(result) for result in model.results] == [asdict(result) for result in theirs.data.eval_results]
    assert theirs.text == card.tail[re.match(r"(\r\n|\r|\n)---[ \t]*(\r\n|\n|$)", card.tail).end() :]


@pytest.mark.release
@many
@given(st.data())
def test_new_results_are_added_and_no_line_is_taken_out(data):
    before, new = data.draw(result_lists(4)), data.draw(result_lists(4))
    identities = {result.identity for result in before}
    new = [result for result in new if result.identity not in identities]
    index = write_model_index([CardModel("m", before)]) if data.draw(st.booleans()) else None
    text = data.draw(cards(index))
    merged = merge_results(split_card(text), new, model_name="m")
    values = merged.metadata()
    unchanged = split_card(text).metadata()
    assert {key: value for key, value in values.items() if key != "model-index"} == {
        key: value for key, value in unchanged.items() if key != "model-index"
    }
    expected = {result.identity: result for result in [*(before if index else []), *new]}
    read = {} if not expected else {r.identity: r for r in read_model_index(values["model-index"])[0].results}
    assert read == expected
    assert not removed(text, str(merged))
    assert str(merge_results(merged, new, model_name="m")) == str(merged)


@pytest.mark.release
@some
@given(st.data())
def test_a_changed_value_changes_its_line_alone(data):
    before = data.draw(result_lists(4))
    text = data.draw(cards(write_model_index([CardModel("m", before)])))
    changed = CardResult(**(asdict(before[0]) | {"metric_value": 7.125, "verify_token": None}))
    with pytest.raises(CardError, match="overwrite"):
        merge_results(split_card(text), [changed])
    merged = merge_results(split_card(text), [changed], overwrite=True)
    assert len(removed(text, str(merged))) <= 1 + (before[0].verify_token is not None)
    assert read_model_index(merged.metadata()["model-index"])[0].results[0].metric_value == 7.125


@pytest.mark.release
@some
@given(result_lists())
def test_what_is_written_is_what_the_hub_writes(before):
    ours = write_model_index([CardModel("m", before)])
    name, theirs = model_index_to_eval_results(ours)
    assert name == "m"
    assert sorted(map(str, map(asdict, theirs))) == sorted(map(str, map(asdict, before)))
    (model,) = read_model_index(eval_results_to_model_index("m", theirs))
    assert {result.metric_type for result in model.results} == {result.metric_type for result in before}
    assert ModelCardData(**{"model-index": ours}).eval_results == theirs


def test_comments_styles_and_unknown_keys_inside_of_the_results_stay():
    text = (
        "\ufeff---\n# head\nlanguage: en   # x\nmodel-index:\n- name: a   # yes\n  results:\n  - task:\n"
        "      type: text-classification\n    dataset: {type: a/b, name: AB}\n    metrics:\n"
        "      - {type: accuracy, value: 0.8}   # old\n      # more to come\n    weird: 3\ntags: [a]\n\n"
        "# last\n---\nbody"
    )
    f1 = CardResult("text-classification", "a/b", "AB", "f1", 0.5)
    merged = str(merge_results(split_card(text), [RESULT, f1], overwrite=True))
    assert merged == text.replace("0.8", "0.9").replace("# old\n", "# old\n      - type: f1\n        value: 0.5\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "front",
    [
        "license: mit", "{license: mit}", "# only a comment", "text: |+\n  kept\n\n", "text: |\n  clipped",
        "text: >-\n  a\n  b",
        "a: &x [1]\nb: *x", "model-index:", "model-index: []", "model-index: [{name: m, results: []}]", "- 1",
        "model-index: &m [{name: m, results: [{task: {type: t}, "
        "dataset: {type: d, name: D}, metrics: [{type: a, value: 1}]}]}]",
        "model-index:\n  - name: m\n    results:\n      - task: {type: t}\n        dataset: {type: d, name: D}\n"
        "        metrics: [{type: a,\n          value: 1}]",
        "  license: mit\n  tags:\n  - a", "a: 1\n...", "%YAML 1.1\n--- {a: 1}",
    ],
)  # fmt: skip
def test_unusual_front_matter_is_kept_or_refused(front, end):
    text = f"---\n{front}\n---\nbody\n".replace("\n", end)
    card = split_card(text)
    try:
        before, merged = card.metadata(), merge_results(card, [RESULT])
    except CardError:
        return
    after = split_card(str(merged)).metadata()
    assert {**before, "model-index": 0} == {**after, "model-index": 0}
    assert RESULT in [result for model in read_model_index(after["model-index"]) for result in model.results]
    assert ModelCard(str(merged)).data.eval_results


@pytest.mark.parametrize("text", ["", "# Title\n", "\ufeff# Title\n", "---\n---\n", "---\n---", "--- \nx\n---\n"])
def test_a_card_without_front_matter_gets_one(text):
    merged = str(merge_results(split_card(text), [RESULT], model_name="m"))
    assert merged.endswith(text.removeprefix("\ufeff").removeprefix("---\n---").removeprefix("\n"))
    assert ModelCard(merged.removeprefix("\ufeff")).data.eval_results[0].metric_value == 0.9


def test_results_of_other_models_stand_beside_each_other_in_a_dataset_s_card():
    card = split_card("---\nlicense: mit # free\n---\n")
    for name in ("one", "two", "one"):
        card = merge_results(card, [RESULT], model_name=name, key=RESULTS_KEY)
    assert [model.name for model in read_model_index(card.metadata()[RESULTS_KEY])] == ["one", "two"]
    assert "license: mit # free" in str(card)


@pytest.mark.parametrize(
    ("yaml_text", "words"),
    [
        ("a: &a [*a]", "contains itself"),
        ("a: &a\n  b: *a", "contains itself"),
        ("a: " + "[" * 3000, "nested"),
        ("\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9) if n else 0}]" for n in range(12)), "values"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: 2020-13-45", "month"),
        ("a: " + "9" * 5000, "cannot be read"),
        ("a: [1, 2", "not YAML"),
        ("a: 1\n---\nb: 2", "not YAML"),
        ("\x00", "control characters"),
        ("? [1]\n: 2", "unhashable|not YAML"),
        ("x" * (4 * 1024 * 1024 + 1), "at most"),
    ],
)  # fmt: skip
def test_hostile_yaml_is_refused_in_one_sentence(yaml_text, words):
    with pytest.raises(CardError, match=words):
        read_yaml(yaml_text)


@some
@given(st.one_of(TEXT, st.text(), st.binary().map(lambda data: data.decode("utf-8", "replace"))))
def test_any_text_is_read_or_refused(text):
    for front in (text, f"---\n{text}\n---\n", f"---\nmodel-index: {text}\n---\n"):
        card = split_card(front)
        assert str(card) == front
        try:
            merged = merge_results(card, [RESULT])
        except CardError:
            continue
        assert RESULT in [r for model in read_model_index(merged.metadata()["model-index"], []) for r in model.results]


def test_bytes_beyond_the_bounds_are_refused(tmp_path):
    with pytest.raises(CardError, match="at most"):
        decode_card(b"x" * (MAX_BYTES + 1))
    with pytest.raises(CardError, match="UTF-8"):
        decode_card(b"\xff\xfe")
    with pytest.raises(CardError, match="cannot be read"):
        load_card(tmp_path)


def real_cards():
    roots = [Path(root) for root in site.getsitepackages()] + [Path(__file__).parents[3] / "src"]
    for root in roots:
        for path in root.rglob("*.md"):
            if path.is_file() and path.stat().st_size < 2**20 and b"---" in path.read_bytes()[:6]:
                yield path


@pytest.mark.release
def test_every_real_card_in_the_installed_packages_is_kept():
    count = 0
    for path in real_cards():
        text = path.read_bytes().decode("utf-8")
        card = split_card(text)
        assert str(card).encode() == path.read_bytes()
        if card.block is None:
            continue
        try:
            expected = yaml.safe_load(card.block)
        except yaml.YAMLError:  # a template
            continue
        if not isinstance(expected, dict):
            continue
        assert same_values(card.metadata(), expected), path
        merged = merge_results(card, [RESULT], model_name="m")
        assert not removed(text, str(merged)), path
        assert ModelCard(str(merged), ignore_metadata_errors=True).data.to_dict()["model-index"]
        count += 1
    assert count >= 10
