"""MAUVE, against numerical integration, scikit-learn's k-means, values of the authors' program, and a tiny model."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate
from scipy.special import rel_entr
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import auc
from sklearn.preprocessing import normalize

from dynabench.evaluate import load
from dynabench.evaluate.metrics.mauve import (
    area_under_frontier,
    cluster_points,
    frontier,
    frontier_integral,
    reduce_dimensions,
)

WEIGHTS = np.linspace(1e-6, 1 - 1e-6, 25)
COUNTS = arrays(int, st.tuples(st.just(2), st.integers(2, 8)), elements=st.integers(0, 9)).filter(
    lambda counts: (counts.sum(1) > 0).all()
)


def clouds(shift, n=200, size=10):
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, n, size))
    second[:, 0] += shift
    return {"p_features": first, "q_features": second}


@given(COUNTS)
def test_the_area_and_the_curve_follow_their_definitions(counts):
    p, q = counts / counts.sum(1, keepdims=True)
    curve = frontier(p, q, WEIGHTS, 5)
    for weight, point in zip(WEIGHTS, curve[1:-1], strict=True):
        mixture = weight * p + (1 - weight) * q
        expected = [np.exp(-5 * rel_entr(first, mixture).sum()) for first in (q, p)]
        assert point == pytest.approx(expected)
    x, y = np.minimum.accumulate(curve[:, 0]), np.maximum.accumulate(curve[:, 1])  # but for rounding
    assert area_under_frontier(curve) == pytest.approx((auc(x, y) + auc(y, x)) / 2, abs=1e-9)
    assert area_under_frontier(frontier(q, p, WEIGHTS, 5)) == pytest.approx(area_under_frontier(curve))


@given(COUNTS)
def test_the_frontier_integral_is_the_integral(counts):
    p, q = counts / counts.sum(1, keepdims=True)

    def mean(weight):
        mixture = weight * p + (1 - weight) * q
        return weight * rel_entr(p, mixture).sum() + (1 - weight) * rel_entr(q, mixture).sum()

    expected, _ = integrate.quad(mean, 0, 1)
    assert frontier_integral(p, q) == pytest.approx(2 * expected, abs=1e-6)


def test_values_of_the_authors_program_for_given_histograms():
    p, q = np.array([0.1, 0.2, 0.3, 0.4, 0.0]), np.array([0.3, 0.0, 0.3, 0.25, 0.15])
    assert area_under_frontier(frontier(p, q, WEIGHTS, 5)) == pytest.approx(0.4467908542572212, abs=1e-9)
    assert frontier_integral(p, q) == pytest.approx(0.22187240386929324, abs=1e-9)


def test_components_are_those_of_scikit_learn():
    points = np.random.default_rng(0).normal(size=(60, 8)) * np.arange(1, 9)
    result = reduce_dimensions(points, 0.9, -1, np.random.default_rng(0))
    expected = PCA(0.9).fit_transform(normalize(points))
    assert np.abs(result) == pytest.approx(np.abs(expected))


def test_clusters_are_as_tight_as_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 4)) + 4 * rng.integers(0, 2, (300, 4))

    def spread(clusters):
        return sum(
            ((points[clusters == cluster] - points[clusters == cluster].mean(0)) ** 2).sum()
            for cluster in set(clusters)
        )

    ours = cluster_points(points, 16, 5, 300, np.random.default_rng(0))
    assert list(dict.fromkeys(ours)) == list(range(16))
    assert spread(ours) <= 1.05 * KMeans(16, init="random", n_init=5, random_state=0).fit(points).inertia_


def test_the_further_the_clouds_the_lower_the_score():
    results = [load("mauve").compute(**clouds(shift)) for shift in (0, 1, 3, 9)]
    scores = [first["mauve"] for first in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.9
    assert scores[-1] < 0.05
    integrals = [single["frontier_integral"] for single in results]
    assert integrals == sorted(integrals)
    assert len(results[0]["p_hist"]) == 20
    assert np.shape(results[0]["divergence_curve"]) == (27, 2)


def test_a_seed_repeats_itself_and_others_differ():
    module, columns = load("mauve"), clouds(1)
    first, again, other = (module.compute(**columns, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert module.compute(**columns) == module.compute(**columns, seed=25)


def test_texts_are_given_to_a_function():
    def featurize(texts):
        return [[text.count("a"), text.count("b"), 1] for text in texts]

    predictions, references = ["aab", "ab", "b", "abb"] * 5, ["aab", "a", "b", "aaa"] * 5
    result = load("mauve").compute(predictions=predictions, references=references, featurize=featurize)
    expected = load("mauve").compute(p_features=featurize(predictions), q_features=featurize(references), num_buckets=2)
    assert result == expected


def test_merged_batches_are_all_rows():
    module, columns = load("mauve"), clouds(1)
    parts = [module.state({name: rows[cut] for name, rows in columns.items()}) for cut in (slice(9), slice(9, None))]
    assert module.result(module.merge(*parts)) == module.compute(**columns)


def test_equal_points_make_one_cluster():
    result = load("mauve").compute(p_features=[[1, 2]] * 5, q_features=[[2, 4]] * 3, num_buckets=4)
    assert result["mauve"] == 1
    assert result["p_hist"] == result["q_hist"] == [1, 0, 0, 0]


def test_the_compatible_form_has_attributes():
    assert load("mauve", compat=True).compute(**clouds(0)).mauve > 0.9


def test_a_model_in_a_folder_gives_the_state_of_the_last_token(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = Tokenizer(models.WordLevel({"<end>": 0, "hello": 1, "there": 2, "world": 3}, unk_token="<end>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>")
    tokenizer.save_pretrained(tmp_path)
    config = transformers.GPT2Config(vocab_size=4, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    model = transformers.GPT2Model(config).eval()
    model.save_pretrained(tmp_path)
    texts = ["hello", "hello there world", "world world"]
    state = load("mauve").state(
        {"predictions": texts, "references": texts}, featurize_model_name=str(tmp_path), max_text_length=2
    )
    for row, text in enumerate(texts):
        tokens = torch.tensor([tokenizer(text)["input_ids"][:2]])
        with torch.inference_mode():
            expected = model(tokens).last_hidden_state[0, -1].numpy()
        assert state.first[row] == pytest.approx(expected, abs=1e-5)
    assert json.loads((tmp_path / "config.json").read_text())["n_embd"] == state.first.shape[1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": ["a"]}, "needs references or q_features"),
        ({"predictions": ["a"], "references": []}, "references are empty"),
        ({"predictions": ["a"], "references": ["b"], "featurize_model_name": "gpt2-large"}, "is no folder"),
        ({"predictions": ["a"], "references": ["b"], "featurize": lambda texts: [[1], [2]]}, "2 rows for 1 texts"),
        ({"predictions": ["a"], "references": ["b"], "featurize": lambda texts: [1]}, "row of numbers for each text"),
        ({"p_features": [[1, 2]], "q_features": [[1]]}, "have 2 numbers in a row, q_features 1"),
        ({"p_features": [[float("nan")]], "q_features": [[1]]}, "p_features: row 0"),
        ({**clouds(0), "num_buckets": 0}, "num_buckets is 'auto' or 1 or more"),
        ({**clouds(0), "kmeans_explained_var": 2}, "kmeans_explained_var lies"),
    ],
)
def test_what_cannot_be_compared_is_told(columns, message):
    with pytest.raises(ValueError, match=message):
        load("mauve").compute(**columns)
