"""The shared encoder in each precision: answers are those of fp32, by its own reference, transformers and peft."""

import json
import threading

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file

from dynabench.kit.settings import get_settings
from dynabench.models import catalog, encoder, runtime
from dynabench.models.backends import lora, pool
from dynabench.models.backends.body import Head, pad
from dynabench.models.backends.encoded import AdapterModel, ExtractorModel
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.pool import Pool
from dynabench.models.catalog import BUILTIN
from tests.evaluate import real

pytestmark = [pytest.mark.release, pytest.mark.models]
LOADERS = {"nli": AdapterModel, "sentiment": AdapterModel, "hate": AdapterModel, "qa": ExtractorModel}
NEAR = {"fp32": 1e-4, "bf16": 0.05}


@pytest.fixture(scope="module")
def pools():
    return {precision: Pool(precision) for precision in ("exact", "fp32", "bf16")}


@pytest.fixture(scope="module")
def load(pools):
    return lambda task, precision: LOADERS[task].load(BUILTIN / f"{task}-minilm", pools[precision])


@pytest.fixture(scope="module")
def rows():
    lines, passages = real.rows, real.paragraphs()
    pairs = lines("snli_dev_test/test.jsonl.gz")[::198]
    return {
        "sentiment": [{"statement": row["text"]} for row in lines("sst3/test.jsonl.gz")[::22]],
        "nli": [{"premise": row["premise"], "hypothesis": row["hypothesis"]} for row in pairs],
        "hate": [{"statement": row["text"]} for row in lines("hatemoji_build/test.jsonl.gz")[::16]],
        "qa": [{"passage": row["context"], "question": row["qas"][0]["question"]} for row in passages[::240]],
    }


@pytest.mark.parametrize("task", ["nli", "sentiment", "hate"])
def test_the_forward_pass_is_that_of_transformers_and_peft(task, rows, load, pools):
    model = load(task, "exact")
    folder = BUILTIN / f"{task}-minilm"
    body = PeftModel.from_pretrained(encoder.load(), str(folder / "adapter")).eval()
    pieces = [model.prepare(fitted(model, inputs)) for inputs in rows[task][:24]]
    ids, types, mask = pad(pieces)
    with torch.inference_mode():
        states = body(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
        theirs = pools["exact"].head(model.key)(states, mask)
    ours = torch.stack(pools["exact"].logits([model.key] * len(pieces), pieces))
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("task", LOADERS)
def test_answers_are_those_of_fp32(task, precision, rows, load):
    reference, model = load(task, "exact"), load(task, precision)
    request = [fitted(model, inputs) for inputs in rows[task]]
    for prediction, other in zip(model.predict(request), reference.predict(request), strict=True):
        assert prediction.answer == other.answer
        for text in prediction.probabilities.keys() & other.probabilities.keys():
            assert prediction.probabilities[text] == pytest.approx(other.probabilities[text], abs=NEAR[precision])


def test_answers_that_nearly_tie_are_asked_for_again_exactly(rows, load, pools, monkeypatch):
    model, reference = load("sentiment", "bf16"), load("sentiment", "exact")
    request = []
    compute = pools["bf16"].logits
    monkeypatch.setattr(
        pools["bf16"], "logits", lambda keys, batch, exact=False: request.append(exact) or compute(keys, batch, exact)
    )
    odds = [sorted(single.probabilities.values())[-2:] for single in reference.predict(rows["sentiment"])]
    tied = [inputs for inputs, (second, first) in zip(rows["sentiment"], odds, strict=True) if first < 1.1 * second]
    clear = [inputs for inputs, (second, first) in zip(rows["sentiment"], odds, strict=True) if first > 2 * second]
    assert tied
    for prediction, other in zip(model.predict(tied), reference.predict(tied), strict=True):
        assert prediction.probabilities == pytest.approx(other.probabilities, abs=1e-4)
    assert request == [False, True]
    model.predict(clear)
    assert request == [False, True, False]


def test_a_batch_of_several_models_is_answered_as_each_alone(rows, load):
    models = {task: load(task, "fp32") for task in LOADERS}
    request = [(models[task], fitted(models[task], inputs)) for task in LOADERS for inputs in rows[task][:4]]
    mixed = models["nli"].answer([(model, model.prepare(inputs)) for model, inputs in request[::-1]])[::-1]
    for together, (model, inputs) in zip(mixed, request, strict=True):
        alone = model.predict([inputs])[0]
        assert together.answer == alone.answer
        assert together.probabilities == pytest.approx(alone.probabilities, abs=1e-3)


def test_a_processor_without_bfloat16_computes_in_fp32(monkeypatch):
    monkeypatch.setattr(runtime, "fast_bf16", lambda: False)
    assert Pool().precision == "fp32"
    assert Pool().exact
    monkeypatch.setattr(runtime, "fast_bf16", lambda: True)
    assert Pool().precision == "bf16"


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_the_operator_may_choose_the_precision(precision, monkeypatch):
    monkeypatch.setenv("DYNABENCH_PRECISION", precision)
    get_settings.cache_clear()
    try:
        model = AdapterModel.load(BUILTIN / "sentiment-minilm", Pool())
    finally:
        monkeypatch.undo()
        get_settings.cache_clear()
    assert model._pool.precision == precision
    good, bad = model.predict([{"statement": "A wonderful film."}, {"statement": "An awful film."}])
    assert (good.answer["label"], bad.answer["label"]) == ("positive", "negative")


def test_models_for_evaluation_and_for_serving_are_one(load):
    folder = BUILTIN / "nli-minilm"
    served, bulk = (catalog.open_model(folder, bulk=bulk) for bulk in (False, True))
    assert served._pool is bulk._pool


def test_predictions_and_explanations_at_once_are_those_of_each_alone(rows, load):
    model = load("nli", "bf16")
    nli = rows["nli"][:12]
    before = model.predict(nli)
    strips = [model.attribute(inputs, "neutral", "gradient") for inputs in nli]
    explained, answered = [], []
    threads = [
        threading.Thread(
            target=lambda: explained.extend(model.attribute(first, "neutral", "gradient") for first in nli)
        ),
        *(threading.Thread(target=lambda: answered.append(model.predict(nli))) for _ in range(3)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answered == [before] * 3
    assert explained == strips


@pytest.mark.parametrize("lengths", [[1], [7, 9, 300], [26] * 32, [512], [3, 250, 251, 252], list(range(2, 40))])
def test_every_input_is_in_one_pass_of_one_of_a_few_sizes(lengths):
    batch = [Pieces((101,) * length, (0,) * length, (None,) * length, ()) for length in lengths]
    order = sorted(range(len(batch)), key=lambda index: lengths[index])
    parts = list(pool.group_passes(order, batch))
    assert [index for part in parts for index in part] == order
    for part in parts:
        pieces = pool.merge_pieces([batch[index] for index in part])
        assert len(part) == 1 or sum(lengths[index] for index in part) <= pool.MOST
        assert len(pieces.ids) == pool.padded_size(sum(lengths[index] for index in part))
        assert pieces.mask.sum(1).tolist() == [lengths[index] for index in part]
    assert len({pool.padded_size(length) for length in range(1, 513)}) <= 24


CONFIG = {"peft_type": "LORA", "target_modules": ["query"], "lora_alpha": 4}


@pytest.mark.parametrize(
    "change", [{"use_dora": True}, {"bias": "all"}, {"modules_to_save": ["pooler"]}, {"peft_type": "IA3"}]
)
def test_adapters_that_are_more_than_low_rank_matrices_are_refused_by_name(change, tmp_path):
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG | change))
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(ValueError, match=next(iter(change)) if change.get("peft_type") is None else "LoRA"):
        lora.read_lora(tmp_path, lora.shared_weights())


@pytest.mark.parametrize("rslora", [False, True])
def test_a_new_adapter_of_some_layers_adds_what_peft_adds(rslora, tmp_path, pools):
    torch.manual_seed(0)
    config = LoraConfig(r=3, lora_alpha=7, use_rslora=rslora, target_modules=["value", "intermediate.dense"])
    body = get_peft_model(encoder.load(), config).eval()
    for name, parameter in body.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.05)
    body.save_pretrained(tmp_path / "adapter")
    head = Head(body.config.hidden_size, 2).eval()
    save_file(head.state_dict(), tmp_path / "head.safetensors")
    pools["exact"].add("new", tmp_path, lambda width: Head(width, 2))
    batch = [Pieces((101, *range(2000, 2000 + n), 102), (0,) * (n + 2), (None,) * (n + 2), ()) for n in (5, 9, 30)]
    ids, types, mask = pad(batch)
    with torch.inference_mode():
        theirs = head(body(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state, mask)
    ours = torch.stack(pools["exact"].logits(["new"] * 3, batch))
    pools["exact"].remove("new")
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def fitted(model, inputs):
    """The row under the names that the model has for its fields."""
    return (
        inputs if set(model.card.inputs) == set(inputs) else dict(zip(model.card.inputs, inputs.values(), strict=True))
    )
