"""Measurements of three data sets against scipy, scikit-learn, datasketch, cleanlab and plain counting."""

import gzip
import json
import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from cleanlab.count import compute_confident_joint, estimate_joint
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_normalized_margin_for_each_label as normalized_margin
from datasketch import MinHash, MinHashLSH
from sklearn.cluster import AgglomerativeClustering
from sklearn.linear_model import LogisticRegression

from dynabench.insight.data_measurements.sample import words
from dynabench.insight.data_reports.measured import MeasuredData, unit_vectors
from dynabench.insight.data_reports.measures import MEASURES, comparing, copies, themes, vocabulary
from dynabench.insight.data_reports.measures.learned import tf_idf, words_by_column
from dynabench.insight.data_reports.profile import DataProfile
from dynabench.insight.data_reports.sources import ChosenColumns, choose_columns, file_source
from dynabench.stats.associations import TermPair, compare_terms, npmi
from dynabench.stats.character_model import CharacterModel
from dynabench.stats.confident_learning import find_doubtful_labels
from dynabench.stats.minhash import UnionFind, shingle_hashes
from dynabench.stats.power_law import CountHistogram, fit_p_value, fit_power_law
from dynabench.stats.softmax_regression import fit_softmax, out_of_fold_probabilities, predict_softmax
from tests.large_data import folder_with

SETS = ("rotten_tomatoes/all.jsonl.gz", "snli_dev_test/dev.jsonl.gz", "tweeteval_hate/train.jsonl.gz")


@pytest.fixture(scope="module", params=SETS)
def measured(request):
    path = folder_with(request.param) / request.param
    source = file_source(path)
    profile = DataProfile(choose_columns(source, ChosenColumns()), ["man", "woman", "he", "she"]).read(source)
    return MeasuredData(profile, (("man", "woman"),)), [json.loads(line) for line in gzip.open(path, "rt")]


def figure(result, name):
    return next(item for item in result.figures if item.name == name)


def rows_of(result, name):
    return next(table.rows for table in result.tables if table.name == name)


def columns_of(row):
    return [row[name] for name in ("text", "premise", "hypothesis", "explanation") if name in row]


@pytest.mark.release
def test_counts_lengths_and_labels_are_those_of_plain_counting(measured):
    data, rows = measured
    lengths = np.array([len(words(columns_of(row)[0])) for row in rows])
    name = data.profile.columns.texts[0]
    result = MEASURES["lengths"].measure(data)
    assert figure(result, f"mean_{name}").value == pytest.approx(lengths.mean())
    assert figure(result, f"deviation_{name}").value == pytest.approx(lengths.std(ddof=1))
    assert figure(result, f"median_{name}").value == np.quantile(lengths, 0.5, method="inverted_cdf")
    assert figure(result, f"kinds_{name}").value == len(set(lengths))
    labels = Counter(row["label"] for row in rows if row["label"])
    shares = {row[0]: row[1] for row in rows_of(MEASURES["labels"].measure(data), "labels")}
    assert shares == pytest.approx({label: count / labels.total() for label, count in labels.items()})
    balance = MEASURES["labels"].measure(data)
    codes = [sorted(labels).index(row["label"]) for row in rows if row["label"]]
    assert figure(balance, "skew").value == pytest.approx(scipy.stats.skew(codes))
    evenness = scipy.stats.entropy(list(labels.values())) / math.log(len(labels))
    assert figure(balance, "evenness").value == pytest.approx(evenness)


@pytest.mark.release
def test_vocabulary_and_copies_are_those_of_plain_counting(measured):
    data, rows = measured
    held = Counter(word for row in rows for text in columns_of(row) for word in words(text))
    result = MEASURES["vocabulary"].measure(data)
    assert figure(result, "different").value == len(held)
    assert figure(result, "words").value == held.total()
    for word, count, _share, _rows in rows_of(result, "words"):
        assert count == held[word]
    texts = [tuple(map(str.strip, columns_of(row))) for row in rows]
    repeated = MEASURES["duplicates"].measure(data)
    assert figure(repeated, "repeated").value == pytest.approx(1 - len(set(texts)) / len(texts))
    labels = {}
    for text, row in zip(texts, rows, strict=True):
        labels.setdefault(text, set()).add(row["label"])
    clashing = sum(len(labels[text]) > 1 for text in texts)
    assert figure(repeated, "contradictory").value == pytest.approx(clashing / len(texts))


@pytest.mark.release
def test_associations_are_the_formula_over_rows(measured):
    data, rows = measured
    sets = [{word for text in columns_of(row) for word in words(text)} for row in rows]
    compared, pair = vocabulary.count_pair(data, "man", "woman")
    assert compared
    for place, word in enumerate(compared[:40]):
        n, word_rows = len(sets), [word in held for held in sets]
        for term, counted in (("man", pair.with_first), ("woman", pair.with_second)):
            both = sum(here and term in held for here, held in zip(word_rows, sets, strict=True))
            assert counted[place] == both
            p, p_term, p_word = both / n, sum(term in held for held in sets) / n, sum(word_rows) / n
            expected = math.log(p / (p_term * p_word)) / -math.log(p)
            assert npmi(both, n * p_term, n * p_word, n) == pytest.approx(expected)


@pytest.mark.release
def test_near_copies_are_those_of_all_pairs(measured):
    _data, rows = measured
    texts = ["\n".join(columns_of(row)) for row in rows[:600]]
    hashes = [set(shingle_hashes(text).tolist()) for text in texts]
    expected = set()
    for at, mine in enumerate(hashes):
        for other in range(at):
            shared = len(mine & hashes[other])
            if shared and shared / (len(mine) + len(hashes[other]) - shared) >= copies.NEAR:
                expected |= {at, other}
    linked = {place for pair in copies.near_pairs(texts, copies.NEAR) for place in pair}
    assert linked <= expected
    assert len(linked) >= 0.95 * len(expected)


@pytest.mark.release
def test_near_copies_are_those_of_datasketch(measured):
    """Candidates by datasketch's MinHash and LSH, with few misses; the exact similarity of their sets confirms each."""
    _data, rows = measured
    texts = list(dict.fromkeys("\n".join(columns_of(row)) for row in rows[:1_500]))
    texts += [text + "!" for text in texts[::10]]  # copies that are certainly near
    sets = [set(map(str, shingle_hashes(text).tolist())) for text in texts]
    index, expected = MinHashLSH(threshold=0.5, num_perm=128), set()
    for at, held in enumerate(sets):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([item.encode() for item in held])
        for other in index.query(sketch):
            shared = len(held & sets[other])
            if shared and shared / len(held | sets[other]) >= copies.NEAR:
                expected.add((other, at))
        index.insert(at, sketch)
    near = {tuple(sorted(pair)) for pair in copies.near_pairs(texts, copies.NEAR)}
    roots = UnionFind()
    for pair in near:
        roots.join(pair)
    assert len(expected) >= 100
    assert all(similarity(sets, *pair) >= copies.NEAR for pair in near)
    assert sum(roots.root(first) == roots.root(second) for first, second in expected) >= 0.95 * len(expected)


def similarity(sets, first, second):
    return len(sets[first] & sets[second]) / len(sets[first] | sets[second])


def test_two_samples_are_tested_as_scipy_does():
    rng = np.random.default_rng(0)
    first, second = rng.poisson(8, 400), rng.poisson(9, 300)
    difference, p = comparing.welch_test(Counter(first.tolist()), Counter(second.tolist()))
    expected = scipy.stats.ttest_ind(first, second, equal_var=False)
    assert (difference, p) == pytest.approx((first.mean() - second.mean(), expected.pvalue))
    distance, p = comparing.ks_test(Counter(first.tolist()), Counter(second.tolist()))
    assert distance == pytest.approx(scipy.stats.ks_2samp(first, second).statistic)
    assert p == pytest.approx(scipy.stats.kstwobign.sf(distance * np.sqrt(400 * 300 / 700)))
    labels = Counter(a=30, b=50, c=20), Counter(a=45, b=45, c=10)
    distance, p = comparing.label_test(*labels)
    table = [[held[name] for name in "abc"] for held in labels]
    assert p == pytest.approx(scipy.stats.chi2_contingency(table, correction=False).pvalue)
    assert distance == pytest.approx(0.15)
    ratio = comparing.log_likelihood_ratio(12, 40, 1000, 2000)
    g2 = scipy.stats.chi2_contingency([[12, 988], [40, 1960]], correction=False, lambda_="log-likelihood").statistic
    assert ratio == pytest.approx(g2)


def test_the_interval_of_a_difference_is_the_bootstrap_of_rows():
    rng = np.random.default_rng(1)
    n = 2_000
    first, second = rng.random(n) < 0.2, rng.random(n) < 0.25
    word = rng.random(n) < np.where(first, 0.3, 0.1)

    def gap(rows):
        ones, others, held = first[rows], second[rows], word[rows]
        mine = npmi((ones & held).sum(), ones.sum(), held.sum(), n)
        return float(mine - npmi((others & held).sum(), others.sum(), held.sum(), n))

    pair = TermPair(n, int(first.sum()), int(second.sum()), int((first & second).sum()), np.array([word.sum()], float),
                    np.array([(first & word).sum()], float), np.array([(second & word).sum()], float),
                    np.array([(first & second & word).sum()], float))  # fmt: skip
    result = compare_terms(pair, np.random.default_rng(2))
    drawn = [gap(rng.integers(n, size=n)) for _ in range(1_000)]
    assert result.gap[0] == pytest.approx(gap(np.arange(n)))
    assert [result.low[0], result.high[0]] == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist(), abs=0.02)
    only = [
        [(first & ~second & word).sum(), (first & ~second & ~word).sum()],
        [(second & ~first & word).sum(), (second & ~first & ~word).sum()],
    ]
    tails = [scipy.stats.fisher_exact(only, alternative=side).pvalue for side in ("less", "greater")]
    assert result.p[0] == pytest.approx(min(1, 2 * min(tails)))


@pytest.mark.release
def test_a_power_law_is_found_and_another_law_is_refused():
    rng = np.random.default_rng(3)
    counts = CountHistogram.of(rng.zipf(2.2, 3_000))
    law = fit_power_law(counts)
    assert law.alpha == pytest.approx(2.2, abs=0.1)
    assert fit_p_value(counts, law, 40, rng) > 0.1
    values = np.repeat(counts.values, counts.words)
    tail = values[values >= law.least].astype(float)
    best = scipy.optimize.minimize_scalar(
        lambda alpha: alpha * np.log(tail).sum() + len(tail) * np.log(scipy.special.zeta(alpha, law.least)),
        bounds=(1.1, 5),
    )
    assert law.alpha == pytest.approx(best.x, abs=1e-4)
    seen = np.arange(1, len(tail) + 1) / len(tail)
    ordered = np.sort(tail)
    last = np.append(ordered[1:] != ordered[:-1], True)
    expected = 1 - scipy.special.zeta(law.alpha, ordered + 1) / scipy.special.zeta(law.alpha, law.least)
    assert law.distance == pytest.approx(np.abs(seen - expected)[last].max())
    poisson = CountHistogram.of(rng.poisson(50, 3_000))
    assert fit_p_value(poisson, fit_power_law(poisson), 20, rng) < 0.1


def test_doubtful_labels_are_those_of_a_plain_reference():
    rng = np.random.default_rng(4)
    labels = rng.integers(3, size=300)
    probabilities = rng.dirichlet(np.ones(3), 300) + 0.4 * np.eye(3)[labels]
    probabilities /= probabilities.sum(1, keepdims=True)
    doubts = find_doubtful_labels(labels, probabilities)
    thresholds = [probabilities[labels == k, k].mean() for k in range(3)]
    joint, issues = np.zeros((3, 3), int), {}
    for row, (label, shares) in enumerate(zip(labels, probabilities, strict=True)):
        reached = [k for k in range(3) if shares[k] >= thresholds[k]]
        if reached:
            counted = max(reached, key=lambda k: shares[k])
            joint[label, counted] += 1
            if counted != label:
                issues[row] = shares[label] - shares[counted]
    assert doubts.joint.tolist() == joint.tolist()
    assert doubts.rows.tolist() == sorted(issues, key=lambda row: issues[row])
    calibrated = joint / joint.sum(1, keepdims=True) * np.bincount(labels)[:, None] / 300
    assert doubts.noise == pytest.approx(1 - np.trace(calibrated))


@pytest.mark.release
def test_doubtful_labels_are_those_of_cleanlab(measured):
    data, _rows = measured
    rows = [row for row in data.chosen if row.label in data.label_names][::2]
    labels = np.array([data.label_names.index(row.label) for row in rows])
    features = tf_idf([words_by_column(row.texts) for row in rows])
    probabilities = out_of_fold_probabilities(features, labels, len(data.label_names), np.random.default_rng(8))
    doubts = find_doubtful_labels(labels, probabilities)
    joint, places = compute_confident_joint(
        labels, probabilities, calibrate=False, return_indices_of_off_diagonals=True
    )
    assert doubts.joint.tolist() == joint.tolist()
    assert set(doubts.rows.tolist()) == set(places)
    rounding = len(data.label_names) / len(rows)  # cleanlab rounds its calibrated counts
    theirs = 1 - np.trace(estimate_joint(labels, probabilities, confident_joint=joint))
    assert doubts.noise == pytest.approx(theirs, abs=rounding)
    issues = find_label_issues(labels, probabilities, filter_by="confident_learning",
                               return_indices_ranked_by="normalized_margin", n_jobs=1)  # fmt: skip
    assert set(issues.tolist()) <= set(doubts.rows.tolist())
    margins = normalized_margin(labels, probabilities)[doubts.rows]
    assert (np.diff(margins) >= -1e-9).all()


@pytest.mark.release
def test_planted_label_errors_are_found(measured):
    data, _rows = measured
    rows = [row for row in data.chosen if row.label in data.label_names][:2_000]
    rng = np.random.default_rng(5)
    changed = set(rng.choice(len(rows), 100, replace=False).tolist())
    names = data.label_names
    noisy = [
        names[(names.index(row.label) + 1) % len(names)] if at in changed else row.label for at, row in enumerate(rows)
    ]
    labels = np.array([names.index(label) for label in noisy])
    features = tf_idf([words_by_column(row.texts) for row in rows])
    doubts = find_doubtful_labels(labels, out_of_fold_probabilities(features, labels, len(names), rng))
    share = np.mean([row in changed for row in doubts.rows[:100]])
    assert share > 2 * 100 / len(rows)


def test_softmax_regression_is_that_of_scikit_learn():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(6)
    features = csr_array((rng.random((200, 12)) < 0.3).astype(float))
    labels = rng.integers(3, size=200)
    mine = predict_softmax(features, fit_softmax(features, labels, 3))
    theirs = LogisticRegression(C=1.0, max_iter=1_000, tol=1e-8).fit(features, labels).predict_proba(features)
    assert np.abs(mine - theirs).max() < 2e-3


def test_clusters_are_those_of_scikit_learn():
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(4, 8)) * 3
    vectors = unit_vectors(np.concatenate([centre + rng.normal(size=(30, 8)) for centre in centres]))
    clusters = themes.find_clusters(vectors)
    for threshold in themes.THRESHOLDS:
        model = AgglomerativeClustering(
            None, metric="cosine", linkage="average", distance_threshold=1 - threshold + 1e-9
        )
        codes = model.fit_predict(vectors)
        expected = {
            tuple(np.flatnonzero(codes == code)) for code in set(codes) if (codes == code).sum() >= themes.LEAST
        }
        assert expected <= {cluster.rows for cluster in clusters}


def test_a_character_model_is_a_distribution():
    texts = ["the cat sat", "the dog sat", "a cat"]
    model = CharacterModel(texts)
    seen = sorted(set("".join(texts)))
    for context in ("\x02", "the ", "zzz", "\x02a "):
        total = sum(model.probability(character, context) for character in seen)
        assert total + (5_000 - len(seen)) * model.probability("☃", context) == pytest.approx(1)
    assert model.perplexity("the cat sat") < model.perplexity("qwzx 9!?")
