"""Images and sounds, one by one and in batches."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from scipy.io import wavfile

from dynabench.evaluate import evaluator
from dynabench.evaluate.evaluator.predictors.media import read_sound
from tests.evaluate.evaluator.tiny import Seen, saved

NAMES = {0: "cat", 1: "dog", 2: "muffin"}
RATE = 16_000
SIGNS = ["<pad>", "<s>", "</s>", "<unk>", " ", "a", "b", "c"]
SPEECH = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "conv_dim": (8, 8),
    "conv_stride": (5, 4),
    "conv_kernel": (10, 4),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "classifier_proj_size": 8,
    "initializer_range": 0.6,
}


@pytest.fixture(scope="module")
def seer() -> tuple[Any, Any]:
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        image_size=16,
        patch_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        id2label=NAMES,
        label2id={name: n for n, name in NAMES.items()},
        initializer_range=1.0,
    )
    processor = transformers.ViTImageProcessorPil(size={"height": 16, "width": 16})
    return transformers.ViTForImageClassification(config).eval(), processor


def pictures(n: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (8 + at, 9, 3), np.uint8)) for at in range(n)]


def seen_one_by_one(model: Any, processor: Any, images: list[Any]) -> list[str]:
    with torch.no_grad():
        return [NAMES[int(model(**processor(images=image, return_tensors="pt")).logits.argmax())] for image in images]


def test_images_are_classified_in_every_form_they_come_in(seer: tuple[Any, Any], tmp_path: Path) -> None:
    images = pictures(12)
    seen_one = seen_one_by_one(*seer, images)
    assert len(set(seen_one)) > 1
    paths, contents = [], []
    for at, image in enumerate(images):
        paths.append(tmp_path / f"{at}.png")
        image.save(paths[-1])
        contents.append({"bytes": paths[-1].read_bytes(), "path": None})
    forms: list[list[Any]] = [images, [str(path) for path in paths], contents, [np.asarray(image) for image in images]]
    folder = saved(tmp_path / "vit", *seer)
    for form in forms:
        rows = [{"image": value, "label": label} for value, label in zip(form, seen_one, strict=True)]
        assert evaluator("image-classification").compute(folder, rows, batch_size=5)["accuracy"] == 1
    pipe = transformers.pipeline("image-classification", model=seer[0], image_processor=seer[1], device=-1)
    assert evaluator("image-classification").compute(pipe, rows)["accuracy"] == 1


def test_an_image_that_cannot_be_read_is_told(seer: tuple[Any, Any]) -> None:
    for value, answer in (("nowhere.png", "image of row 1 cannot be read"), (3, "row 1 is 3, not an image")):
        rows = [{"image": pictures(1)[0], "label": "cat"}, {"image": value, "label": "cat"}]
        with pytest.raises(ValueError, match=answer):
            evaluator("image-classification").compute(seer[0], rows, feature_extractor=seer[1])


def ears(masked: bool = False) -> Any:
    return transformers.Wav2Vec2FeatureExtractor(
        feature_size=1, sampling_rate=RATE, padding_value=0.0, do_normalize=True, return_attention_mask=masked
    )


def sounds(n: int) -> list[Any]:
    rng = np.random.default_rng(1)
    return [
        (rng.normal(size=600 + 100 * (at % 4)) * np.sin(np.arange(600 + 100 * (at % 4)) / (2 + at))).astype(np.float32)
        for at in range(n)
    ]


@pytest.fixture(scope="module")
def listener() -> tuple[Any, Any]:
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        **SPEECH, id2label=NAMES, label2id={name: n for n, name in NAMES.items()}, vocab_size=8
    )
    return transformers.Wav2Vec2ForSequenceClassification(config).eval(), ears()


@pytest.mark.release
def test_sounds_are_classified_in_every_form_they_come_in(listener: tuple[Any, Any], tmp_path: Path) -> None:
    waves = sounds(16)
    model, extractor = listener
    with torch.no_grad():
        names = [
            NAMES[int(model(**extractor(wave, sampling_rate=RATE, return_tensors="pt")).logits.argmax())]
            for wave in waves
        ]
    assert len(set(names)) > 1
    paths = []
    for at, wave in enumerate(waves):
        paths.append(tmp_path / f"{at}.wav")
        wavfile.write(paths[-1], RATE, wave)
    folder = saved(tmp_path / "wav2vec2", *listener)
    for form in (waves, paths, [{"array": wave, "sampling_rate": RATE} for wave in waves]):
        columns = {"file": form, "label": names}
        assert evaluator("audio-classification").compute(folder, columns, batch_size=6)["accuracy"] == 1


def test_sounds_are_brought_to_the_models_rate_and_to_one_channel() -> None:
    slow = np.sin(2 * np.pi * 100 * np.arange(800) / 8000)
    fast = np.sin(2 * np.pi * 100 * np.arange(1600) / 16000)
    sound = read_sound({"array": np.stack([slow, slow]), "sampling_rate": 8000}, 0, RATE)
    assert sound.shape == (1600,)
    assert np.abs(sound - fast)[100:-100].max() < 0.01
    for kind, half in ((np.int16, 32768), (np.int32, 2**31)):
        file = io.BytesIO()
        wavfile.write(file, RATE, (fast * half * 0.99).astype(kind))
        assert np.abs(read_sound(file.getvalue(), 0, RATE) - 0.99 * fast).max() < 1e-4
    with pytest.raises(ValueError, match="sound of row 4 has no samples"):
        read_sound([], 4, RATE)
    with pytest.raises(ValueError, match="row 4 is no sound"):
        read_sound({"array": ["a"]}, 4, RATE)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("ctc") / "vocab.json"
    path.write_text(json.dumps({sign if sign != " " else "|": at for at, sign in enumerate(SIGNS)}))
    return transformers.Wav2Vec2CTCTokenizer(str(path))


@pytest.mark.parametrize("masked", [False, True])
def test_speech_is_written_down_by_a_ctc_model(letters: Any, tmp_path: Path, masked: bool) -> None:
    torch.manual_seed(2)
    norm = {"feat_extract_norm": "layer"} if masked else {}
    config = transformers.Wav2Vec2Config(**SPEECH, **norm, vocab_size=8, pad_token_id=0)
    model = transformers.Wav2Vec2ForCTC(config).eval()
    extractor, waves, answer = ears(masked), sounds(10), []
    with torch.no_grad():
        for wave in waves:
            ids = model(**extractor(wave, sampling_rate=RATE, return_tensors="pt")).logits[0].argmax(-1).tolist()
            stored = [single for at, single in enumerate(ids) if single and (at == 0 or ids[at - 1] != single)]
            answer.append("".join(SIGNS[first] for first in stored))
    assert len(set(answer)) > 3
    folder = saved(tmp_path / "ctc", model, extractor, letters)
    metric = Seen()
    evaluator("automatic-speech-recognition").compute(
        folder, {"path": waves, "sentence": answer}, metric=metric, batch_size=4
    )
    assert [" ".join(text.split()) for text in metric.columns["predictions"]] == [
        " ".join(text.split()) for text in answer
    ]


def tiny_whisper():
    """A model of two layers that hears one second, and its tokenizer."""
    from tests.evaluate.evaluator.tiny import words_only

    torch.manual_seed(0)
    tokenizer = words_only(pad_token="<pad>")
    config = transformers.WhisperConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_source_positions=50,
        max_target_positions=32,
        num_mel_bins=8,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        init_std=0.8,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    return transformers.WhisperForConditionalGeneration(config).eval(), tokenizer


def test_speech_is_written_down_by_a_model_with_a_decoder() -> None:
    model, tokenizer = tiny_whisper()
    extractor = transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    waves = sounds(4)
    answer = []
    for wave in waves:
        features = extractor(wave, sampling_rate=RATE, return_tensors="pt").input_features
        ids = [1]
        with torch.no_grad():
            for _ in range(6):
                ids.append(int(model(features, decoder_input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
                if ids[-1] == 2:
                    break
        answer.append(tokenizer.decode(ids, skip_special_tokens=True).strip())
    metric = Seen()
    evaluator("automatic-speech-recognition").compute(
        model,
        {"path": waves, "sentence": answer},
        tokenizer=tokenizer,
        feature_extractor=extractor,
        metric=metric,
        generation_kwargs={"max_new_tokens": 6},
    )
    assert metric.columns["predictions"] == answer
    with pytest.raises(ValueError, match=r"lasts 2.0 s, the model hears 1.0 s"):
        evaluator("automatic-speech-recognition").compute(
            model,
            {"path": [np.ones(2 * RATE)], "sentence": [""]},
            tokenizer=tokenizer,
            feature_extractor=extractor,
            metric=metric,
        )
