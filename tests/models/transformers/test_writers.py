"""Models that write: greedy, strictly read, with the text shown; labels by likelihood; strips by Captum."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.backends.architectures import gradients, prompts
from dynabench.models.protocol import ModelCard
from dynabench.models.validity import Broken
from tests.models.transformers import made

CARD = ModelCard("a", "0", "any", "transformers", ("text", "word"), "label", ("hate", "not hate", "unclear"))


@pytest.fixture(scope="module")
def rewriter(opposites_folder):
    return catalog.open_model(opposites_folder)


@pytest.fixture(scope="module")
def continuer(continues_folder):
    return catalog.open_model(continues_folder)


def test_what_was_learnt_is_written_and_shown(rewriter, continuer):
    rows = [{"word": word} for word in made.OPPOSITES]
    for model in (rewriter, continuer):
        predictions = model.predict(rows)
        assert [first.answer["answer"] for first in predictions] == list(made.OPPOSITES.values())
        assert predictions[0].extras["generated"].strip() == "bad"


def test_sampling_that_a_folder_asks_for_is_not_done(opposites_folder, continues_folder, changed):
    for folder, change in ((opposites_folder, {}), (continues_folder, {})):
        target = changed(folder, **change)
        config = '{"do_sample": true, "temperature": 9.0, "num_beams": 4, "max_length": 900, "eos_token_id": 1}'
        (target / "generation_config.json").write_text(config)
        model = catalog.open_model(target)
        assert [model.predict([{"word": "good"}])[0].answer["answer"] for _ in range(3)] == ["bad"] * 3
        assert len(model.prepare({"word": "good"})) < 32, "the folder's own limit counts"


def test_a_label_is_what_the_model_wrote(opposites_folder, continues_folder, changed):
    for folder in (opposites_folder, continues_folder):
        model = catalog.open_model(changed(folder, returns="label", labels=["bad", "good"]))
        assert model.predict([{"word": "good"}])[0].answer["answer"] == "bad"
        with pytest.raises(Broken, match=r"It wrote ' ?cold', which is not one of the labels bad, good"):
            model.predict([{"word": "hot"}])


def test_likelihood_compares_the_labels_behind_the_prompt(continues_folder, changed):
    options = {"answer": "likelihood"}
    model = catalog.open_model(
        changed(continues_folder, returns="label", labels=["cold", "bad", "night"], options=options)
    )
    predictions = model.predict([{"word": "good"}, {"word": "hot"}, {"word": "day"}])
    assert [single.answer["answer"] for single in predictions] == ["bad", "cold", "night"]
    assert all(max(first.probabilities.values()) > 0.9 for first in predictions)
    mapped = {"answer": "likelihood", "normalisation": "byte", "labels": {" bad": "negative", " cold": "neutral"}}
    model = catalog.open_model(
        changed(continues_folder, returns="label", labels=["neutral", "negative"], options=mapped)
    )
    assert model.predict([{"word": "good"}])[0].answer["answer"] == "negative"


def test_a_chat_goes_through_the_tokenizer_s_template(continues_folder, changed):
    options = {"chat": True, "prompt": "opposite of : {word}"}
    model = catalog.open_model(changed(continues_folder, options=options))
    assert model._network.render_prompt({"word": "hot"}) == "user : opposite of : hot assistant :"
    assert model.predict([{"word": "hot"}])[0].answer["answer"] == "cold"
    result = model.attribute({"word": "hot"}, "answer", "gradient")
    assert [word.text for word in result.fields["word"]] == ["hot"]


def test_a_chat_without_a_template_is_told(continues_folder, changed):
    folder = changed(continues_folder, options={"chat": True})
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(Invalid, match="no chat template; set chat: false"):
        catalog.open_model(folder)


def test_a_template_that_fails_is_told(continues_folder, changed):
    folder = changed(continues_folder, options={"chat": True})
    (folder / "chat_template.jinja").write_text("{{ raise_exception('no') }}")
    model = catalog.open_model(folder)
    with pytest.raises(Invalid, match="chat template cannot be filled: no"):
        model.predict([{"word": "hot"}])


def test_a_prompt_that_leaves_no_room_is_told(continuer):
    with pytest.raises(Invalid, match=r"The prompt has \d+ tokens; with 4 for the answer the model reads 64"):
        continuer.predict([{"word": "good " * 80}])


@pytest.mark.parametrize("method", gradients.METHODS)
def test_the_word_that_decides_what_is_written_has_all_weight(continuer, continues_folder, changed, method):
    result = continuer.attribute({"word": "up good"}, "answer", method)
    assert result.method == method
    assert [word.text for word in result.fields["word"]] == ["up", "good"]
    assert max(abs(word.weight) for word in result.fields["word"]) == pytest.approx(1)
    if method == "layer_integrated_gradients":
        assert result.completeness_error < 0.2


def test_a_label_s_strip_is_against_its_strongest_rival(continues_folder, changed):
    options = {"answer": "likelihood"}
    model = catalog.open_model(changed(continues_folder, returns="label", labels=["cold", "bad"], options=options))
    towards = model.attribute({"word": "good"}, "bad", "occlusion").fields["word"][0].weight
    against = model.attribute({"word": "good"}, "cold", "occlusion").fields["word"][0].weight
    assert (towards, against) == (1.0, -1.0)


def test_words_are_found_in_the_prompt_though_marks_were_broken_up():
    text = "it </s> is good"
    answer = prompts.harmless(text, ["</s>"])
    assert answer == "it < /s> is good"
    prompt = f"A {answer} B"
    ids, offsets = range(len(prompt)), [(at, at + 1) for at in range(len(prompt))]
    pieces = gradients.Prompted(prompt, list(ids), offsets, {"t": text}, {"t": answer}, {"t": 2}).pieces()
    owned = {}
    for at, owner in enumerate(pieces.owner):
        if owner:
            owned[pieces.words[0][owner[1]].text] = owned.get(pieces.words[0][owner[1]].text, "") + prompt[at]
    assert owned["good"] == "good"
    assert owned["it"] == "it"


def test_marks_of_the_tokenizer_in_an_input_stay_text(continues_folder, changed):
    model = catalog.open_model(changed(continues_folder))
    assert 1 not in model.prepare({"word": "good </s> user"}).row["input_ids"], "an annotator cannot end the turn"


@pytest.mark.parametrize(
    "template",
    ["{text.__class__}", "{text[0]}", "{text!r}", "{text:>9}", "{other}", "{}", "{0}", "{text", "text}", "{labels.x}"],
)
def test_a_template_holds_nothing_but_names_of_inputs(template):
    with pytest.raises(Invalid, match="braces that are meant"):
        prompts.Prompt(template, CARD)


@settings(deadline=None)  # how long one example takes says nothing on a busy machine
@given(st.text(), st.text())
def test_what_is_filled_in_is_never_read_as_a_template(text, word):
    filled = prompts.Prompt("{{x}} {text}|{word}|{labels}", CARD).fill({"text": text, "word": word})
    assert filled == f"{{x}} {text}|{word}|hate, not hate, unclear"


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("hate", "hate"),
        (" Not hate.", "not hate"),
        ("**Unclear**\nIt could be either.", "unclear"),
        ('"HATE"', "hate"),
        ("hate: because it is hate", "hate"),
        ("aye", "hate"),
    ],
)
def test_a_label_that_is_plainly_meant_is_read(written, label):
    assert prompts.label(written, CARD.labels, {"aye": "hate"}) == label


@pytest.mark.parametrize(
    "written", ["", "hateful", "It is hate", "hate or not hate", "neither", "hate? No: unclear", "not  hate but hate"]
)
def test_anything_else_is_no_answer_and_is_shown(written):
    with pytest.raises(Broken, match="It wrote") as answer:
        prompts.label(written, CARD.labels, {})
    assert repr(written) in str(answer.value)


def test_a_written_span_must_stand_in_the_passage():
    passage = "Ada wrote it in 1843. \U0001f600 Ada!"
    assert prompts.spans(' "1843".', passage + ' "') == [{"start": 16, "end": 20, "text": "1843"}]
    assert prompts.spans("\U0001f600 Ada", passage)[0]["start"] == passage.index("\U0001f600")
    assert prompts.spans("  ", passage) == []
    with pytest.raises(Broken, match="which the passage does not say"):
        prompts.spans("1844", passage)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {"prompt": ""}}, "options.prompt"),
        ({"options": {"system": "You are kind."}}, "Only a chat"),
        ({"options": {"answer": "likelihood"}}, "Only labels"),
        ({"returns": "tags", "labels": ["A"]}, "a label, spans or text"),
        (
            {"returns": "label", "labels": ["a", "b"], "options": {"labels": {"x": "c"}}},
            "c are none of the labels",
        ),
    ],
)
def test_a_card_that_a_writer_cannot_serve_is_told(continues_folder, changed, change, message):
    with pytest.raises(Invalid, match=message):
        catalog.open_model(changed(continues_folder, **change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "fill-mask"}, "text-classification"),
        ({"max_new_tokens": 5000}, "1024"),
        ({"architecture": "text-classification", "answer": "likelihood"}, "for text-generation"),
        ({"hub": "org/name", "revision": "main"}, "40 hex digits"),
        ({"revision": "0" * 40}, "needs the repository"),
        ({"trust_remote_code": True}, "trust_remote_code"),
    ],
)
def test_options_that_are_none_are_told_when_the_folder_is_read(continues_folder, changed, options, message):
    with pytest.raises(Invalid, match=message):
        spec.read(changed(continues_folder, options=options))
