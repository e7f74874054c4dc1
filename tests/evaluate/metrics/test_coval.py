"""Coreference scores, against the values published with the CoNLL reference scorer's test cases, and by hand."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load

# Key, response, and recall, precision by measure: from TestCases.README of the reference scorer and of LEA's authors.
PUBLISHED = {
    "perfect": ("a bc def", "a bc def", {"muc": (1, 1), "bcub": (1, 1), "ceafe": (1, 1), "lea": (1, 1)}),
    "missing": (
        "a bc def",
        "a de",
        {"muc": (1 / 3, 1), "bcub": (7 / 18, 1), "ceafe": (0.6, 0.9), "lea": (1 / 3, 1), "mentions": (0.5, 1)},
    ),
    "false alarms": (
        "a bc def",
        "a bcx defy z",
        {"muc": (1, 3 / 5), "bcub": (1, 55 / 108), "ceafe": (31 / 35, 93 / 140), "lea": (1, 4 / 9)},
    ),
    "both": (
        "a bc def",
        "a bcx dy z",
        {"muc": (1 / 3, 1 / 3), "bcub": (5 / 9, 17 / 42), "ceafe": (2.2 / 3, 0.55), "lea": (0.5, 2 / 7)},
    ),
    "overlap in an aligned entity": (
        "a bc def",
        "a bcxB dy z",
        {"muc": (1 / 3, 1 / 4), "bcub": (5 / 9, 5 / 16), "ceafe": (31 / 45, 31 / 60), "lea": (0.5, 5 / 24)},
    ),
    "overlap in another entity": (
        "a bc def",
        "a bcx dy Bz",
        {"muc": (1 / 3, 1 / 4), "bcub": (5 / 9, 17 / 48), "ceafe": (2.2 / 3, 0.55), "lea": (0.5, 1 / 4)},
    ),
    "repeated in its cluster": (
        "a bc def",
        "a bcxb dy z",
        {"muc": (1 / 3, 1 / 3), "bcub": (5 / 9, 17 / 42), "ceafe": (2.2 / 3, 0.55), "lea": (0.5, 2 / 7)},
    ),
    "repeated in another cluster": (
        "a bc def",
        "a bcx dy bz",
        {"muc": (1 / 3, 1 / 3), "bcub": (5 / 9, 17 / 42), "ceafe": (2.2 / 3, 0.55), "lea": (0.5, 2 / 7)},
    ),
    "singletons only": ("a bc def", "a b c d e f", {"muc": (0, 0), "bcub": (0.5, 1), "lea": (1 / 6, 1 / 6)}),
    "one cluster only": ("a bc def", "abcdef", {"muc": (1, 0.6), "bcub": (1, 7 / 18), "lea": (5 / 6, 4 / 15)}),
    "other singletons": ("a bc def", "a x y c d e z", {"muc": (0, 0), "bcub": (13 / 36, 4 / 7), "lea": (1 / 6, 1 / 7)}),
    "another cluster": (
        "a bc def",
        "axycdez",
        {"muc": (1 / 3, 1 / 6), "bcub": (17 / 36, 6 / 49), "lea": (1 / 6, 1 / 21)},
    ),
    "a spurious link": ("ab cde", "bcx de", {"lea": (1 / 5, 2 / 5)}),
    "three entities": ("ab cde fg", "bcx de fg", {"lea": (3 / 7, 4 / 7)}),
    "small with big": (
        "12345 67 89ABC",
        "12345 6789ABC",
        {"muc": (1, 9 / 10), "bcub": (1, 16 / 21), "lea": (1, (5 + 11 / 3) / 12)},
    ),
    "big with big": (
        "12345 67 89ABC",
        "1234589ABC 67",
        {"muc": (1, 9 / 10), "bcub": (1, 7 / 12), "lea": (1, (10 * 20 / 45 + 2) / 12)},
    ),
    "cut": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (1 / 3, 1)}),
    "joined": ("AB CD", "ABCD", {"muc": (1, 2 / 3), "lea": (1, 1 / 3)}),
    "shortened": ("ABC", "AC", {"muc": (1 / 2, 1), "lea": (1 / 3, 1)}),
    "in three": ("BCDEGHJ", "ABC DEF GHI", {"muc": (0.5, 0.5), "lea": (1 / 7, 1 / 3)}),
    "across": ("ABC DEFG", "AB CD FGH", {"muc": (2 / 5, 2 / 4), "lea": (5 / 21, 3 / 7)}),
    "singletons of a cluster": ("abcdef", "a b c d e f", {"muc": (0, 0), "lea": (0, 0)}),
    "half of a cluster": ("abcdef", "abcxyz", {"lea": (0.2, 0.2)}),
    "singletons of singletons": (
        "a b c d e f",
        "a b c d e f",
        {"muc": (0, 0), "bcub": (1, 1), "ceafe": (1, 1), "lea": (1, 1)},
    ),
    "cluster of singletons": ("a b c d e f", "abcdef", {"lea": (0, 0)}),
    "half of the singletons": ("a b c d e f", "a b c x y z", {"muc": (0, 0), "lea": (0.5, 0.5)}),
}


def lines(clusters: str, words: list[str]) -> list[str]:
    chains = {word: [] for word in words}
    for chain, cluster in enumerate(clusters.split()):
        for word in cluster:
            chains[word].append(f"({chain})")
    return [f"doc 0 {place} {word} {'|'.join(chains[word]) or '-'}" for place, word in enumerate(words)]


def scored(key: str, response: str, **options):
    words = sorted({*key, *response} - {" "})
    return load("coval").compute(references=[lines(key, words)], predictions=[lines(response, words)], **options)


@pytest.mark.parametrize("case", PUBLISHED)
def test_scores_are_those_published_with_the_test_cases(case):
    key, response, expected = PUBLISHED[case]
    result = scored(key, response)
    for measure, (recall, precision) in expected.items():
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0
        values = [result[f"{measure}/{part}"] for part in ("recall", "precision", "f1")]
        assert values == pytest.approx([recall, precision, f1]), measure


PARTITIONS = st.lists(st.integers(0, 4), min_size=1, max_size=8)


def as_text(labels):
    letters = "abcdefgh"
    chains = {}
    for letter, label in zip(letters, labels, strict=False):
        if label:
            chains[label] = chains.get(label, "") + letter
    return " ".join(chains.values())


@given(PARTITIONS, PARTITIONS)
def test_b_cubed_and_lea_are_what_loops_over_mentions_and_links_give(first, second):
    key, response = as_text(first), as_text(second)
    result = scored(f"{key} z", f"{response} z")
    true, answer = ([set(cluster) for cluster in f"{text} z".split()] for text in (key, response))
    mentions = set().union(*true)

    def home(mention, clusters):
        return next((cluster for cluster in clusters if mention in cluster), set())

    share = [len(home(single, true) & home(single, answer)) / len(home(single, true)) for single in mentions]
    assert result["bcub/recall"] == pytest.approx(sum(share) / len(mentions))
    total = 0.0
    for cluster in true:
        links = list(combinations(cluster, 2)) or [(min(cluster), min(cluster))]
        stored = [
            home(candidate, answer) == home(two, answer) != set()
            and (candidate != two or len(home(candidate, answer)) == 1)
            for candidate, two in links
        ]
        total += len(cluster) * sum(stored) / len(links)
    assert result["lea/recall"] == pytest.approx(total / len(mentions))


@given(PARTITIONS, PARTITIONS)
def test_key_and_response_exchanged_exchange_recall_and_precision(first, second):
    key, response = f"{as_text(first)} z", f"{as_text(second)} z"
    single, other = scored(key, response), scored(response, key)
    for measure in ("mentions", "muc", "bcub", "ceafe", "lea"):
        assert single[f"{measure}/recall"] == pytest.approx(other[f"{measure}/precision"])
        assert single[f"{measure}/f1"] == pytest.approx(other[f"{measure}/f1"])
    assert single["conll_score"] == pytest.approx(
        100 * sum(single[f"{name}/f1"] for name in ("muc", "bcub", "ceafe")) / 3
    )


def test_chains_of_one_mention_can_be_left_out():
    result = scored("a bc def", "a bc d ef", keep_singletons=False)
    assert result["mentions/recall"] == 4 / 5
    assert result["mentions/precision"] == 1


PARSED = [
    "d 0 0 The DT (TOP(S(NP(NP*",
    "d 0 1 man NN *)",
    "d 0 2 who WP (SBAR(WHNP*)",
    "d 0 3 laughed VBD (S(VP*))))",
    "d 0 4 and CC *",
    "d 0 5 wept VBD (VP*)",
    "d 0 6 . . *))",
]


def marked(*marks: str) -> list[str]:
    return [f"{line} {mark}" for line, mark in zip(PARSED, marks, strict=True)]


def test_a_mention_that_keeps_its_head_words_is_right_by_minimum_spans():
    key = marked("(1", "-", "-", "1)", "-", "(1)", "-")
    response = marked("(1", "1)", "-", "-", "-", "(1)", "-")
    module = load("coval")
    assert module.compute(references=[key], predictions=[response])["mentions/recall"] == 0.5
    assert module.compute(references=[key], predictions=[response], min_span=True)["mentions/recall"] == 1
    other = marked("-", "-", "(1)", "-", "-", "(1)", "-")
    assert module.compute(references=[key], predictions=[other], min_span=True)["mentions/recall"] == 0.5


def test_both_phrases_of_a_conjunction_belong_to_the_minimum_span():
    parse = ["(TOP(S(NP(NP*", "*)", "*", "(NP*", "*))", "(VP*)))"]
    rows = zip("the man and the dog left".split(), "DT NN CC DT NN VBD".split(), parse, strict=True)
    text = [f"d 0 0 {word} {pos} {bit}" for word, pos, bit in rows]

    def with_marks(*marks):
        return [f"{line} {mark}" for line, mark in zip(text, marks, strict=True)]

    both = with_marks("(1", "-", "-", "-", "1)", "(1)")
    first = with_marks("-", "-", "-", "(1", "1)", "(1)")
    result = load("coval").compute(references=[both], predictions=[first], min_span=True)
    assert result["mentions/recall"] == 0.5


def test_verb_phrases_can_be_left_out():
    key = marked("(1", "-", "-", "1)", "-", "(2)", "-")
    assert load("coval").compute(references=[key], predictions=[key])["mentions/f1"] == 1
    result = load("coval").compute(references=[key], predictions=[marked("(1", "-", "-", "1)", *"---")], NP_only=True)
    assert result["mentions/f1"] == 1


def test_mentions_within_another_of_their_chain_can_be_left_out():
    key = [["a (1|(1)", "b 1)", "c (1)", "d (2)", "e (2)"]]
    plain = [["a (1", "b 1)", "c (1)", "d (2)", "e (2)"]]
    module = load("coval")
    assert module.compute(references=key, predictions=plain)["mentions/recall"] == 4 / 5
    assert module.compute(references=key, predictions=plain, remove_nested=True)["mentions/recall"] == 1


def document(name: str, clusters: str, words: str) -> list[str]:
    return [line.replace("doc", name, 1) for line in lines(clusters, list(words))]


def test_documents_are_scored_apart_and_their_counts_summed():
    references = [document("one", "ab", "abc"), document("two", "ab", "abc")]
    predictions = [document("one", "ab", "abc"), document("two", "bc", "abc")]
    module = load("coval")
    result = module.compute(references=references, predictions=predictions, per_example=True)
    assert result["per_example"]["document"] == ["one 0", "two 0"]
    assert result["per_example"]["muc/recall"] == [1, 0]
    assert result["muc/recall"] == 1 / 2
    together = load("coval", compat=True).compute(references=references, predictions=predictions)
    assert together["muc/recall"] == 2 / 3


def test_a_document_that_is_cut_into_batches_is_whole_again_after_merging():
    module = load("coval")
    key, response = ["a (1)", "b (2)"], ["a (1)", "b (1)"]
    states = [module.state({"references": [key], "predictions": [answer]}) for answer in (response, key)]
    merged = module.result(module.merge(*states))
    assert merged == module.compute(references=[key, key], predictions=[response, key])


def test_the_interval_draws_documents():
    names = "ab ac bc abc".split()
    references = [document(f"d{row}", "ab c", "abc") for row in range(20)]
    predictions = [document(f"d{row}", names[row % 4], "abc") for row in range(20)]
    result = load("coval").compute(references=references, predictions=predictions, interval=0.95, resamples=500)
    span = result["interval"]["conll_score"]
    assert span["low"] < result["conll_score"] < span["high"]


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        (["a (1)"], {}, "references have 2 words, predictions 1"),
        (["a 1|(2", "b 2)"], {}, r"word 0 has '1\|\(2'"),
        (["a (1", "b -"], {}, "starts at word 0 does not end"),
        (["a -", "b 1)"], {}, "ends a mention of chain 1 that does not start"),
        (["a -", "b -"], {"min_span": True}, "no parse in column 6"),
        (["a -", "b -"], {"NP_only": True}, "no parse in column 6"),
    ],
)
def test_lines_that_cannot_be_read_are_told(predictions, options, message):
    with pytest.raises(ValueError, match=message):
        load("coval").compute(predictions=[predictions], references=[["a (1)", "b -"]], **options)


@pytest.mark.parametrize(
    ("bit", "message"), [("(TOP(NP*", r"bracket \(NP of word 0 is not closed"), ("*)", "not open")]
)
def test_brackets_that_do_not_match_are_told(bit, message):
    line = f"d 0 0 man NN {bit} (1)"
    with pytest.raises(ValueError, match=message):
        load("coval").compute(predictions=[[line]], references=[[line]], min_span=True)


def test_sentences_without_words_are_told_when_there_is_nothing_else():
    with pytest.raises(ValueError, match="no sentence has a line"):
        load("coval").compute(predictions=[[]], references=[["#begin document (d); part 000"]])
