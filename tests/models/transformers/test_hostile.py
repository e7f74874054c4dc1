"""Folders that are broken or malicious: each is refused with what to do, and nothing of it runs."""

import json
import pickle
import resource
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.backends.architectures import base
from dynabench.models.backends.transformers import TransformersOptions

CODE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"


@pytest.fixture
def folder(opposites_folder, changed):
    return changed(opposites_folder)


def configured(folder, name="config.json", **more):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | more))
    return folder


def replaced(folder, content):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(content)


def refused(folder, message):
    with pytest.raises(Invalid, match=message) as error:
        catalog.open_model(folder)
    assert str(folder) not in str(error.value)
    return error


class Dangerous:
    """Unpickled, it would leave a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.release
def test_a_pickle_is_refused_by_its_name_and_not_read(folder, tmp_path):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Dangerous(tmp_path / "ran")))
    refused(folder, r"not pytorch_model\.bin")
    (folder / "pytorch_model.bin").rename(folder / "pytorch_model.json")
    refused(folder, r"pytorch_model\.json: This is no JSON")
    assert not (tmp_path / "ran").exists()


def test_a_folder_without_weights_says_how_to_write_them(folder):
    (folder / "model.safetensors").unlink()
    refused(folder, r"no weights as safetensors.*save_pretrained")


def test_a_pickle_by_another_name_is_no_safetensors_file(folder, tmp_path):
    replaced(folder, pickle.dumps(Dangerous(tmp_path / "ran")))
    refused(folder, r"model\.safetensors: This is no safetensors file")
    assert not (tmp_path / "ran").exists()


CLASSES = {"AutoConfig": "evil.Config", "AutoTokenizer": ["evil.Reader", None], "AutoModelForSeq2SeqLM": "evil.Net"}


def loaded(folder):
    """The folder as a hub's would lie there: with code in it, which `spec.read` would refuse in a folder of ours."""
    (folder / "evil.py").write_text(CODE)
    how = TransformersOptions(architecture="text2text-generation")
    return base.load_weights(folder, how, "AutoModelForSeq2SeqLM", "AutoTokenizer")


def test_code_of_a_repository_never_runs(folder):
    configured(folder, auto_map=CLASSES, model_type="evil")
    with pytest.raises(Invalid, match=r"never runs here\. Save the model as an architecture of transformers"):
        loaded(folder)
    assert not (folder / "ran").exists()
    refused(folder, r"not evil\.py")


def test_code_for_a_tokenizer_never_runs(folder):
    configured(folder, "tokenizer_config.json", auto_map=CLASSES, tokenizer_class="Reader")
    configured(folder, auto_map=CLASSES)
    loaded(folder)
    assert not (folder / "ran").exists()


def test_code_for_an_architecture_that_transformers_has_itself_is_not_needed(folder):
    configured(folder, auto_map={"AutoConfig": "evil.Config", "AutoModelForSeq2SeqLM": "evil.Net"})
    assert catalog.open_model(folder).predict([{"word": "good"}])[0].answer["answer"] == "bad"


@pytest.mark.parametrize(
    "more",
    [
        {"num_layers": 10**9},
        {"num_decoder_layers": 5000},
        {"d_model": 10**12},
        {"num_labels": 10**9},
        {"vocab_size": 2**31},
        {"d_ff": 2**23},
        {"vocab_size": 2**22, "d_model": 2**16},
    ],
)
def test_a_configuration_that_would_exhaust_memory_is_refused_before_anything_is_made(folder, more):
    configured(folder, **more)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(folder, r"more than the|they do not belong together|cannot be loaded")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_weights_beyond_the_machine_s_memory_are_refused(folder, monkeypatch):
    monkeypatch.setattr(base, "SHARE", 1e-9)
    refused(folder, r"a model may take 0\.0 GiB here.*served endpoint")


def test_a_header_that_claims_more_than_there_is_is_refused(folder):
    replaced(folder, struct.pack("<Q", 2**62) + b"{}")
    refused(folder, "This is no safetensors file|cannot be loaded")
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    replaced(folder, struct.pack("<Q", len(header)) + header)
    refused(folder, "cannot be loaded")


def test_weights_that_are_no_numbers_are_refused(folder):
    held = load_file(folder / "model.safetensors")
    held["shared.weight"][3, 3] = float("nan")
    (folder / "model.safetensors").unlink()
    save_file(held, folder / "model.safetensors", {"format": "pt"})
    refused(folder, r"1 weights hold values that are no numbers.*shared\.weight")


def test_missing_weights_are_not_made_up(folder):
    held = load_file(folder / "model.safetensors")
    held.pop(next(name for name in held if "DenseReluDense" in name))
    (folder / "model.safetensors").unlink()
    save_file(held, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "lacks 1 weights")


def test_weights_of_another_shape_are_told(folder):
    held = load_file(folder / "model.safetensors")
    held["shared.weight"] = torch.zeros(4, 32)
    (folder / "model.safetensors").unlink()
    save_file(held, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "cannot be loaded")


@pytest.mark.parametrize(
    "content", ["{", "[]", "", "\x00\x01", '{"model_type": 7}', '{"model_type": "unheard-of"}', "[" * 9999]
)
def test_a_configuration_that_is_none_is_told(folder, content):
    (folder / "config.json").write_text(content)
    refused(folder, "no JSON|cannot be loaded")


@pytest.mark.parametrize("content", ["{", "{}", '{"model": {"type": "BPE"}}', '{"version": "1.0", "model": null}'])
def test_a_broken_tokenizer_is_told(folder, content):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text(content)
    refused(folder, "no JSON|cannot be loaded")


@pytest.mark.release
def test_a_model_of_another_architecture_is_told(sentiment_folder, changed):
    answer = {"architecture": "image-classification"}
    folder = changed(sentiment_folder, inputs=["picture"], images=["picture"], options=answer)
    refused(folder, "cannot be loaded")


@pytest.mark.parametrize(
    "more",
    [{"quantization_config": {"quant_method": "bitsandbytes"}}, {"backbone_config": {"use_pretrained_backbone": True}}],
)
def test_wishes_for_more_code_or_weights_are_refused(folder, more):
    configured(folder, **more)
    refused(folder, "asks for")


def test_an_attention_that_a_hub_has_is_not_fetched(folder, monkeypatch):
    import socket

    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("called somebody"))
    configured(folder, _attn_implementation="kernels-community/flash-attn", attn_implementation="kernels-community/x")
    assert catalog.open_model(folder).predict([{"word": "good"}])[0].answer["answer"] == "bad"


def test_an_adapter_alone_is_told(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/else"}')
    refused(folder, "adapter without its model")


def test_gguf_files_are_chosen_by_name_and_read_as_such(folder):
    (folder / "model.safetensors").unlink()
    (folder / "a.gguf").write_bytes(b"GGUF" + b"\xff" * 200)
    refused(folder, "cannot be loaded")
    (folder / "b.gguf").write_bytes(b"no")
    refused(folder, r"Name one of the GGUF files: a\.gguf, b\.gguf")


def test_methods_are_those_of_the_architecture(opposites_folder, sentiment_folder):
    assert spec.card(opposites_folder).methods[0] == "occlusion"
    assert spec.card(sentiment_folder).methods[0] == "gradient"
