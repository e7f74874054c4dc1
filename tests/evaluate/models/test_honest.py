"""HONEST, with lexicons that are given: published examples' shapes, HurtLex files, groups, merges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.measurements.harms import HurtfulLexicon, plain_words

WORDS = ["prostitute", "maid", "white trash", "prostituée"]
COMPLETIONS = [
    ["CEO", "businessman", "politician"],
    ["good", "excellent", "smart"],
    ["secretary", "prostitute", "maid"],
    ["beautiful", "smart", "tall"],
]


@pytest.fixture
def hurtlex(tmp_path):
    (tmp_path / "hurtlex_EN.tsv").write_text(
        "id\tpos\tcategory\tstereotype\tlemma\tlevel\n"
        "EN1\tn\tpr\tno\tprostitute\tconservative\n"
        "EN2\tn\tcds\tno\tmaid\tconservative\n"
        'EN3\tn\tcds\tno\tsay "cheese\tconservative\n'
        "EN4\tn\tcds\tno\tsmart\tinclusive\n"
    )
    return tmp_path


def test_the_example_of_the_original_has_its_published_score(hurtlex):
    result = load("honest", "en", lexicon=str(hurtlex)).compute(predictions=COMPLETIONS)
    assert result == {"honest_score": pytest.approx(0.167, abs=5e-4)}


def test_groups_have_their_own_score(hurtlex):
    module = load("honest", "en", lexicon=str(hurtlex / "hurtlex_EN.tsv"), compat=True)
    result = module.compute(predictions=COMPLETIONS, groups=["male", "male", "female", "female"])
    assert result == {"honest_score_per_group": {"male": 0.0, "female": pytest.approx(1 / 3)}}


@pytest.mark.parametrize(
    ("text", "hurt"),
    [
        ("prostitute", True),
        ("a Prostitute.", True),
        ("prostitutes", False),
        ("PROSTITUEE", True),
        ("some white trash!", True),
        ("white, clean trash", False),
        ("", False),
    ],
)
def test_whole_words_count_whatever_their_case_and_accents(text, hurt):
    assert HurtfulLexicon.of(WORDS).hurt(text) is hurt


def test_accents_of_all_six_languages_fold():
    assert plain_words("Țărancă, garçon, niño, città, pão, cœur") == [
        "taranca",
        "garcon",
        "nino",
        "citta",
        "pao",
        "coeur",
    ]


@given(st.lists(st.lists(st.sampled_from(["maid", "poet", "a maid", "x"]), min_size=1, max_size=4), min_size=2))
def test_the_score_is_a_share_and_merges(rows):
    module = load("honest", lexicon=["maid"])
    groups = [str(row % 3) for row in range(len(rows))]
    whole = module.compute(predictions=rows, groups=groups)
    flat = [text for row in rows for text in row]
    assert whole["honest_score"] == pytest.approx(np.mean(["maid" in text for text in flat]))
    cut = len(rows) // 2
    states = [
        module.state({"predictions": rows[part], "groups": groups[part]})
        for part in (slice(0, cut), slice(cut, None))
        if rows[part]
    ]
    merged = states[0] if len(states) == 1 else module.merge(*states)
    assert module.result(merged) == whole


def test_the_interval_covers_groups_too():
    rng = np.random.default_rng(0)
    rows = [["maid" if rng.random() < 0.3 else "poet" for _ in range(5)] for _ in range(60)]
    result = load("honest", lexicon=["maid"]).compute(
        predictions=rows, groups=["a", "b"] * 30, interval=0.95, resamples=999
    )
    for key in ("honest_score", "honest_score_per_group/a", "honest_score_per_group/b"):
        assert result["interval"][key]["low"] < result["interval"][key]["high"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"give lexicon=, the path of a HurtLex file \(hurtlex_EN.tsv"),
        ({"lexicon": "/no/such/file.tsv"}, "no lexicon lies at /no/such/file.tsv"),
        ({"lexicon": []}, "the lexicon is empty"),
        ({"lexicon": {"fr": ["a"]}}, "no words for 'en', but for fr"),
    ],
)
def test_a_lexicon_that_is_not_there_is_told(options, message):
    with pytest.raises(ValueError, match=message):
        load("honest").compute(predictions=[["poet"]], **options)


def test_a_file_of_another_kind_is_told(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="no columns lemma and level"):
        load("honest").compute(predictions=[["poet"]], lexicon=str(tmp_path / "words.txt"))


def test_rows_without_completions_and_unknown_languages_are_told():
    with pytest.raises(ValueError, match="row 1 has no completions"):
        load("honest", lexicon=["maid"]).compute(predictions=[["a"], []])
    with pytest.raises(ValueError, match="no config 'de'"):
        load("honest", "de")
