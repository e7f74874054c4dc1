"""Strips of models that give nothing but answers, against values that can be worked out."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.models import removal
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.catalog import BUILTIN
from dynabench.models.protocol import ModelCard, ModelOutput

WEIGHTS = {"good": 2.0, "great": 3.0, "bad": -2.5, "awful": -4.0, "not": -1.0}


class Lexicon:
    """Log-odds of "yes" are the sum of the words' weights: removing a word changes them by exactly its weight."""

    card = ModelCard(
        "lexicon", "1", "t", "rule", ("text",), "label", ("yes", "no"), methods=("occlusion", "shapley", "lime")
    )

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause
        self.calls = 0

    def predict(self, batch):
        time.sleep(self.pause)
        self.calls += len(batch)
        return [self.output(inputs["text"]) for inputs in batch]

    def output(self, text):
        p = 1 / (1 + np.exp(-sum(WEIGHTS.get(word, 0.0) for word in text.split())))
        return ModelOutput({"label": "yes" if p >= 0.5 else "no"}, {"yes": float(p), "no": float(1 - p)})


def weights(attribution, field="text"):
    return np.array([word.weight for word in attribution.fields[field]])


@pytest.mark.parametrize("method", ["occlusion", "shapley", "lime"])
def test_of_a_sum_each_word_gets_its_share(method):
    text = "a good film and not a great one but bad and awful"
    truth = np.array([WEIGHTS.get(word, 0.0) for word in text.split()])
    explanation = removal.explain(Lexicon(), {"text": text}, "yes", method)
    assert weights(explanation) == pytest.approx(truth / 4, abs=0.1 if method == "lime" else 1e-4)
    assert [word.text for word in explanation.fields["text"]] == text.split()
    assert not explanation.cut_short
    against = removal.explain(Lexicon(), {"text": text}, "no", method)
    assert weights(against) == pytest.approx(-weights(explanation), abs=1e-4)


def test_shapley_shares_add_up_to_the_change_of_the_answer():
    explanation = removal.explain(Lexicon(), {"text": "good but not great"}, "yes", "shapley")
    assert explanation.completeness_error < 1e-4


@pytest.mark.parametrize("method", ["occlusion", "shapley", "lime"])
def test_the_same_question_has_the_same_answer(method):
    once, again = (removal.explain(Lexicon(), {"text": "good not bad great"}, "yes", method) for _ in range(2))
    assert once == again


def test_captum_leaves_torchs_generator_as_it_was():
    import torch

    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    removal.explain(Lexicon(), {"text": "good not bad"}, "yes", "shapley")
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.parametrize("method", ["occlusion", "shapley", "lime"])
def test_when_time_runs_out_the_best_so_far_is_shown(method):
    text = " ".join(["good", *["word"] * 120, "awful"])
    explanation = removal.explain(Lexicon(0.02), {"text": text}, "yes", method, seconds=0.05)
    assert explanation.cut_short
    assert len(explanation.fields["text"]) == 122
    assert np.isfinite(weights(explanation)).all()


def test_an_occlusion_cut_short_still_weighs_what_was_asked():
    text = " ".join(["good", *["word"] * 90])
    explanation = removal.explain(Lexicon(0.02), {"text": text}, "yes", "occlusion", seconds=0.03)
    assert explanation.cut_short
    assert np.argmax(weights(explanation)) == 0


def test_no_question_is_asked_twice():
    model = Lexicon()
    removal.explain(model, {"text": "good bad"}, "yes", "shapley")
    assert model.calls <= 1 + 4


def test_texts_without_words_weigh_nothing():
    for text in ("", "   \n"):
        assert removal.explain(Lexicon(), {"text": text}, "yes", "lime").fields == {"text": []}


def test_without_probabilities_the_answer_itself_tells():
    class Silent(Lexicon):
        def output(self, text):
            return ModelOutput({"label": super().output(text).answer["label"]})

    explanation = removal.explain(Silent(), {"text": "a great film"}, "yes", "occlusion")
    assert weights(explanation).tolist() == [0.0, 0.0, 0.0]  # without any word of it the answer is still "yes"
    explanation = removal.explain(Silent(), {"text": "great but bad"}, "yes", "occlusion")
    assert weights(explanation).tolist() == [1.0, 0.0, 0.0]


def test_what_a_model_wrote_is_explained_by_how_much_it_says_again():
    class Echo:
        card = ModelCard("echo", "1", "t", "rule", ("text",), "said", returns="text", methods=("occlusion",))

        def predict(self, batch):
            return [ModelOutput({"said": "Paris" if "France" in inputs["text"] else "no idea"}) for inputs in batch]

    explanation = removal.explain(Echo(), {"text": "Capital of France please"}, "said", "occlusion")
    assert weights(explanation).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_words_of_an_extracted_answer_stay_and_weigh_nothing():
    class Finder:
        card = ModelCard(
            "f", "1", "qa", "rule", ("question", "passage"), "answer", returns="spans", methods=("occlusion",)
        )

        def predict(self, batch):
            return [self.output(inputs["passage"], inputs["question"]) for inputs in batch]

        def output(self, passage, question):
            start = passage.find("Rome")
            assert start >= 0, "the answer was taken away"
            p = 0.9 if "capital" in question else 0.2
            return ModelOutput({"answer": [{"start": start, "end": start + 4, "text": "Rome"}]}, {"Rome": p})

    inputs = {"question": "Which capital", "passage": "It is Rome of course"}
    explanation = removal.explain(Finder(), inputs, "start", "occlusion")
    assert weights(explanation, "question").tolist() == [0.0, 1.0]
    assert weights(explanation, "passage").tolist() == [0.0] * 5


@given(st.text(max_size=80))
def test_any_text_is_explained_within_its_own_offsets(text):
    model = CACHE[0] if CACHE else CACHE.append(NgramModel.load(BUILTIN / "sentiment-ngram")) or CACHE[0]
    presence = removal.Presence(model, {"statement": text}, model.card.labels[0], 5.0)
    result = presence.attribution("occlusion", np.zeros(len(presence.places)))
    for word in result.fields["statement"]:
        assert text[word.start : word.end] == word.text


CACHE: list[NgramModel] = []


def test_unknown_labels_and_methods_are_refused():
    with pytest.raises(Invalid, match="yes, no"):
        removal.explain(Lexicon(), {"text": "a"}, "perhaps", "occlusion")
    with pytest.raises(Invalid, match="occlusion, shapley, lime"):
        removal.explain(Lexicon(), {"text": "a"}, "yes", "gradient")


def test_on_a_linear_model_taking_words_away_agrees_with_the_exact_strip():
    model = NgramModel.load(BUILTIN / "sentiment-ngram")
    inputs = {"statement": "A tender, funny film that never bores, though its ending is dreadful."}
    label = model.predict([inputs])[0].answer["label"]
    exact = weights(model.attribute(inputs, label, "exact"), "statement")
    presence = removal.Presence(model, inputs, label, 5.0)
    for method in ("shapley", "occlusion"):
        result = weights(removal.METHODS[method](presence), "statement")
        assert np.corrcoef(exact, result)[0, 1] > 0.7
