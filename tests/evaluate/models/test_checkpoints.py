"""Sources of models, and messages when one cannot be loaded."""

import shutil

import pytest
import torch
from huggingface_hub import HfApi
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from dynabench.evaluate import load
from dynabench.evaluate.networks.checkpoints import load_model


def test_a_hub_id_without_a_network_gives_one_error_that_names_the_way_out(monkeypatch):
    request = []

    def offline(self, name, **options):
        request.append(name)
        raise OSError("no network")

    monkeypatch.setattr(HfApi, "model_info", offline)
    with pytest.raises(ValueError, match=r"'nobody/nothing' is no local folder.*give the path of a local copy"):
        load("perplexity").compute(predictions=["a"], model_id="nobody/nothing")
    assert request == ["nobody/nothing"]


def test_a_folder_is_never_looked_for_on_the_hub(monkeypatch, language_model):
    monkeypatch.setattr(HfApi, "model_info", lambda *a, **k: pytest.fail("asked the hub"))
    load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    for path in ("./nothing", "/nothing/here", "a/b/c"):
        with pytest.raises(ValueError, match="no model lies at"):
            load_model(path, "AutoModelForCausalLM", "cpu")


def test_an_empty_folder_is_told(tmp_path):
    with pytest.raises(ValueError, match="cannot be loaded by AutoTokenizer"):
        load_model(str(tmp_path), "AutoModel", "cpu")


def test_a_checkpoint_without_the_head_is_refused_not_filled_with_random_weights(bert):
    with pytest.raises(ValueError, match=r"lacks 2 weights .*classifier"):
        load_model(str(bert("encoder")), "AutoModelForSequenceClassification", "cpu")


def test_an_accelerator_that_is_not_there_is_told(language_model, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="use device='cpu'"):
        load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cuda")
    assert load_model(str(language_model("gpt2")), "AutoModelForCausalLM").model.device.type == "cpu"


def test_a_model_without_its_tokenizer_is_told(language_model):
    bare = AutoModelForCausalLM.from_pretrained(language_model("gpt2"))
    with pytest.raises(ValueError, match="give the pair"):
        load("perplexity").compute(predictions=["a"], model=bare)


def test_a_checkpoint_that_was_trained_on_is_loaded_anew(tmp_path, language_model):
    shutil.copytree(language_model("gpt2"), tmp_path, dirs_exist_ok=True)
    before = load("perplexity").compute(predictions=["the captain"], model_id=str(tmp_path))
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(0.5)
    model.save_pretrained(tmp_path)
    assert load("perplexity").compute(predictions=["the captain"], model_id=str(tmp_path)) != before


def test_half_precision_on_disk_computes_in_single(tmp_path, language_model, capfd):
    shutil.copytree(language_model("gpt2"), tmp_path, dirs_exist_ok=True)
    AutoModelForCausalLM.from_pretrained(tmp_path).to(torch.bfloat16).save_pretrained(tmp_path)
    capfd.readouterr()
    assert load_model(str(tmp_path), "AutoModelForCausalLM", "cpu").model.dtype == torch.float32
    assert capfd.readouterr() == ("", "")


@pytest.mark.release
def test_a_classifier_without_its_pooler_is_refused_for_it_reads_that(tmp_path, bert):
    shutil.copytree(bert("yes,no"), tmp_path, dirs_exist_ok=True)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    rest = {name: weights for name, weights in model.state_dict().items() if "pooler" not in name}
    model.save_pretrained(tmp_path, state_dict=rest)
    with pytest.raises(ValueError, match=r"lacks 2 weights .*pooler"):
        load_model(str(tmp_path), "AutoModelForSequenceClassification", "cpu")
    assert load_model(str(tmp_path), "AutoModel", "cpu").model.config.num_hidden_layers == 3
