"""Classification of texts against a step-by-step computation, and labels that do not fit."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

from dynabench.evaluate import evaluator, load
from tests.evaluate.evaluator.tiny import Seen, bert, saved, texts

NAMES = {0: "negative", 1: "neutral", 2: "positive"}


@pytest.fixture(scope="module")
def model() -> tuple[Any, Any]:
    return bert("BertForSequenceClassification", id2label=NAMES, label2id={name: n for n, name in NAMES.items()})


@pytest.fixture(scope="module")
def folder(model: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("bert"), *model)


def one_by_one(model: Any, tokenizer: Any, rows: list[Any]) -> list[str]:
    result = []
    with torch.no_grad():
        for row in rows:
            values = (row,) if isinstance(row, str) else row
            batch = tokenizer(*values, truncation=True, return_tensors="pt")
            result.append(model.config.id2label[int(model(**batch).logits[0].argmax())])
    return result


def rows_of(predictions: list[str], written: list[str]) -> list[dict[str, str]]:
    """Rows whose label is what the model says, but for each third."""
    return [
        {"text": text, "label": label if at % 3 else "neutral"}
        for at, (text, label) in enumerate(zip(written, predictions, strict=True))
    ]


@pytest.mark.release
def test_a_model_from_a_folder_gives_what_it_gives_text_by_text(model: tuple[Any, Any], folder: Path) -> None:
    written = texts(50)
    reply = one_by_one(*model, written)
    rows = rows_of(reply, written)
    right = sum(row["label"] == answer for row, answer in zip(rows, reply, strict=True))
    assert len(set(reply)) > 1
    result = evaluator("sentiment-analysis").compute(folder, rows, return_predictions=True)
    assert result["predictions"] == reply
    assert result["accuracy"] == right / 50


@pytest.mark.parametrize("size", [1, 4, 7, 50])
def test_answers_do_not_depend_on_the_batch_size(model: tuple[Any, Any], size: int) -> None:
    written = texts(50, 1)
    rows = rows_of(["negative"] * 50, written)
    result = evaluator("text-classification").compute(
        model[0], rows, tokenizer=model[1], batch_size=size, return_predictions=True
    )
    assert result["predictions"] == one_by_one(*model, written)
    assert result["batch_size"] == size


def test_pairs_of_texts_are_read_together(model: tuple[Any, Any]) -> None:
    first, second = texts(20, 2), texts(20, 3)
    answer = one_by_one(*model, list(zip(first, second, strict=True)))
    assert answer != one_by_one(*model, first)
    columns = {"premise": first, "hypothesis": second, "label": answer}
    task = evaluator("natural-language-inference")
    assert task.compute(model[0], columns, tokenizer=model[1])["accuracy"] == 1
    columns["text"] = columns.pop("premise")
    pair = {"second_input_column": "hypothesis"}
    assert evaluator("text-classification").compute(model[0], columns, tokenizer=model[1], **pair)["accuracy"] == 1


def test_a_pipeline_gives_what_it_gives_when_it_is_called(model: tuple[Any, Any]) -> None:
    pipe = transformers.pipeline("text-classification", model=model[0], tokenizer=model[1], device=-1)
    written = texts(20, 4)
    answer = [pipe(text)[0] for text in written]
    metric = Seen()
    evaluator("text-classification").compute(pipe, rows_of(["negative"] * 20, written), metric=metric)
    assert metric.columns["predictions"] == [first["label"] for first in answer]
    with pytest.raises(ValueError, match="does text-classification, the evaluation is of question-answering"):
        evaluator("question-answering").compute(
            pipe, [{"question": "who", "context": "Paris", "answers": ["Paris"]}], metric=metric
        )
    with pytest.raises(ValueError, match="pipeline is on cpu"):
        evaluator("text-classification").compute(pipe, rows_of(["negative"], written[:1]), device=0)


def test_too_long_texts_are_cut_as_the_tokenizer_cuts_them(model: tuple[Any, Any]) -> None:
    rows = [{"text": "good film " * 100, "label": "neutral"}, {"text": "bad", "label": "neutral"}]
    result = evaluator("text-classification").compute(model[0], rows, tokenizer=model[1], return_predictions=True)
    assert result["predictions"] == one_by_one(*model, [row["text"] for row in rows])


def test_a_model_in_training_is_asked_at_rest_and_goes_on_training(model: tuple[Any, Any]) -> None:
    written = texts(30, 5)
    answer = one_by_one(*model, written)
    model[0].train()
    try:
        result = evaluator("text-classification").compute(
            model[0], rows_of(answer, written), tokenizer=model[1], return_predictions=True
        )
        assert result["predictions"] == answer
        assert model[0].training
        assert all(weight.requires_grad for weight in model[0].parameters())
    finally:
        model[0].eval()


def test_a_decoder_without_a_padding_token_is_not_padded() -> None:
    from tests.evaluate.evaluator.tiny import words_only

    torch.manual_seed(0)
    tokenizer = words_only()
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=2, num_labels=3, initializer_range=0.6
    )
    config.pad_token_id = None
    model = transformers.GPT2ForSequenceClassification(config).eval()
    written = texts(12, 6)
    answer = one_by_one(model, tokenizer, written)
    rows = [{"text": text, "label": int(name[6:])} for text, name in zip(written, answer, strict=True)]
    assert evaluator("text-classification").compute(model, rows, tokenizer=tokenizer)["accuracy"] == 1


def test_numbered_labels_are_found_by_the_names_of_their_classes(model: tuple[Any, Any]) -> None:
    written = texts(15, 7)
    answer = one_by_one(*model, written)
    order = ["positive", "negative", "neutral"]
    rows = [{"text": text, "label": order.index(name)} for text, name in zip(written, answer, strict=True)]
    named = Listed(rows, {"label": SimpleNamespace(names=order)})
    assert evaluator("text-classification").compute(model[0], named, tokenizer=model[1])["accuracy"] == 1


class Listed:
    """The part of a `datasets` dataset that the evaluator uses."""

    def __init__(self, rows: list[dict[str, Any]], features: dict[str, Any]) -> None:
        self.rows = rows
        self.features = features
        self.column_names = list(rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]


def test_label_mappings_that_do_not_fit_are_told_before_the_model_runs(model: tuple[Any, Any]) -> None:
    def refused(labels: list[Any], mapping: dict[str, Any] | None, message: str) -> None:
        rows = [{"text": "good film", "label": label} for label in labels]
        seen: list[int] = []
        with pytest.raises(ValueError, match=message):
            evaluator("text-classification").compute(
                model[0], rows, tokenizer=model[1], label_mapping=mapping, progress=lambda done, _: seen.append(done)
            )
        assert not seen

    refused([0, 1], None, "data has labels such as 0; give label_mapping")
    refused([0, 1], {"negative": 0, "positive": 1}, "lacks neutral")
    refused([0, 1], {"negative": "0", "neutral": "1", "positive": "2"}, "data has labels such as 0")
    refused(["neg", "pos"], None, "nothing in common")
    refused([7, 8], {"negative": 0, "neutral": 1, "positive": 2}, "nothing in common")
    refused([None, "neutral"], None, "row 0 has no label")


def test_a_mapping_is_applied(model: tuple[Any, Any]) -> None:
    written = texts(15, 8)
    numbers = {"negative": 5, "neutral": 3, "positive": 1}
    rows = [
        {"text": text, "label": numbers[name]} for text, name in zip(written, one_by_one(*model, written), strict=True)
    ]
    result = evaluator("text-classification").compute(model[0], rows, tokenizer=model[1], label_mapping=numbers)
    assert result["accuracy"] == 1


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: ["x" if "good" in row else "y" for row in rows],
        lambda rows: [{"label": "x" if "good" in row else "y", "score": 0.9} for row in rows],
        lambda rows: ({"label": "x" if "good" in row else "y"} for row in rows),
        lambda rows: [
            [{"label": "y", "score": float("good" not in row)}, {"label": "x", "score": float("good" in row)}]
            for row in rows
        ],
        SimpleNamespace(predict=lambda rows: ["x" if "good" in row else "y" for row in rows]),
    ],
)
def test_callables_answer_in_any_usual_form(answer: Any) -> None:
    rows = [{"text": "good film", "label": "x"}, {"text": "bad film", "label": "y"}, {"text": "good", "label": "y"}]
    assert evaluator("text-classification").compute(answer, rows)["accuracy"] == 2 / 3


def test_a_model_with_a_card_is_asked_by_its_fields() -> None:
    def predict(batch: list[dict[str, str]]) -> list[Any]:
        labels = ["x" if "good" in row["statement"] else "y" for row in batch]
        return [SimpleNamespace(answer={"verdict": label}, probabilities={label: 0.8}) for label in labels]

    card = SimpleNamespace(name="m", version="1", inputs=("statement",), answer="verdict", labels=("x", "y"))
    model = SimpleNamespace(card=card, predict=predict)
    rows = [{"text": "bad " * at + "good" * (at % 2), "label": "x" if at % 2 else "y"} for at in range(9)]
    assert evaluator("text-classification").compute(model, rows, batch_size=2)["accuracy"] == 1
    card.inputs = ("premise", "hypothesis")
    with pytest.raises(ValueError, match="m reads premise and hypothesis; the evaluation gives it 1 texts"):
        evaluator("text-classification").compute(model, rows)


def test_what_cannot_be_asked_is_told(folder: Path) -> None:
    task, rows = evaluator("text-classification"), [{"text": "good", "label": "x"}]
    request = [{"question": "who", "context": "Paris", "answers": ["Paris"]}]
    with pytest.raises(ValueError, match="1 answers to 2 inputs"):
        task.compute(lambda _: ["x"], rows * 2)
    with pytest.raises(ValueError, match="row 0: the model answered None"):
        task.compute(lambda _: [None], rows)
    with pytest.raises(ValueError, match="gave 'x' for a list"):
        task.compute(lambda _: "x", rows)
    with pytest.raises(ValueError, match="give model_or_pipeline"):
        task.compute(None, rows)
    with pytest.raises(ValueError, match="cannot be called"):
        task.compute(3, rows)
    with pytest.raises(TypeError, match="text-classification has no join_by"):
        task.compute(lambda _: ["x"], rows, join_by=" ")
    with pytest.raises(ValueError, match="it was not trained for this task"):
        evaluator("question-answering").compute(folder, request, metric=Seen())
    with pytest.raises(ValueError, match="no model lies at"):
        task.compute(str(folder / "nowhere"), rows)
    with pytest.raises(KeyError, match="no task 'poetry'; there are text-classification"):
        evaluator("poetry")


def test_bootstrap_gives_the_metrics_own_intervals(model: tuple[Any, Any]) -> None:
    written = texts(40, 9)
    answer = one_by_one(*model, written)
    rows = rows_of(answer, written)
    labels = [row["label"] for row in rows]
    result = evaluator("text-classification").compute(
        model[0],
        rows,
        tokenizer=model[1],
        metric="f1",
        metric_options={"average": "macro"},
        strategy="bootstrap",
        confidence_level=0.9,
        n_resamples=499,
        random_state=7,
    )
    own = load("f1").compute(
        predictions=answer, references=labels, average="macro", interval=0.9, resamples=499, seed=7
    )
    span = own["interval"]["f1"]
    assert result["f1"] == {
        "confidence_interval": (span["low"], span["high"]),
        "standard_error": span["standard_error"],
        "score": own["f1"],
    }
    assert span["low"] < own["f1"] < span["high"]
    with pytest.raises(ValueError, match="neither 'simple' nor 'bootstrap'"):
        evaluator("text-classification").compute(lambda _: [], rows, strategy="jackknife")
