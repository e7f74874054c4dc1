import json
import os
import shutil
import subprocess
import sys

import pytest

from dynabench.kit.errors import Invalid, NotFound
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import catalog, encoder, spec
from dynabench.models.host import wire
from dynabench.models.training import recipes

NAMES = ["boolq-minilm", "boolq-ngram", "digits-resnet", "hate-minilm", "hate-ngram", "ner-tagger", "nli-minilm"]
NAMES += ["nli-ngram", "photographs-efficientnet", "qa-extended-reader", "qa-minilm"]
NAMES += ["sentiment-minilm", "sentiment-ngram", "summarization-textrank", "translation-lexicon", "vqa-vilt"]


def test_the_shipped_models_are_there_with_cards_and_reach_their_floors():
    entries = catalog.find([catalog.BUILTIN])
    assert [entry.name for entry in entries] == NAMES
    for entry in entries:
        card = (entry.folder / "README.md").read_text()
        assert all(f"## {part}" in card for part in ("Scores", "Data", "Training", "Limits", "Licence"))
    assert spec.read(catalog.BUILTIN / "qa-minilm").scores["SQuAD 1.1 dev"].f1 >= 0.81
    hate = spec.read(catalog.BUILTIN / "hate-minilm").scores
    assert min(hate[name].macro_f1 for name in recipes.load("hate-minilm").floor) >= 0.70
    assert spec.read(catalog.BUILTIN / "nli-minilm").scores["SNLI test"].accuracy >= 0.795
    assert spec.read(catalog.BUILTIN / "sentiment-minilm").scores["SST-3 test"].accuracy >= 0.72


def test_no_shipped_file_can_hold_code_or_is_large():
    files = [path for path in catalog.BUILTIN.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".yaml", ".md", ".json", ".safetensors", ".txt"}
    assert max(path.stat().st_size for path in files) < 3e6


def test_a_version_is_the_content_and_nothing_else(copied):
    folder = copied("nli-ngram")
    before = spec.version(folder)
    assert before == spec.version(catalog.BUILTIN / "nli-ngram")
    assert len(before) == 16
    (folder / "README.md").write_text("Another explanation.")
    (folder / ".DS_Store").write_text("x")
    assert spec.version(folder) == before
    path = folder / "ngram.json"
    path.write_text(path.read_text() + " ")
    assert spec.version(folder) != before


def test_a_version_covers_where_the_bytes_stand(tmp_path):
    (tmp_path / "a.json").write_text("12")
    (tmp_path / "b.json").write_text("3")
    first = spec.version(tmp_path)
    (tmp_path / "a.json").write_text("1")
    (tmp_path / "b.json").write_text("23")
    assert spec.version(tmp_path) != first


@pytest.fixture
def other_encoder(tmp_path, monkeypatch):
    """A copy of the shared encoder whose last weight has other bytes, as the deployment's."""
    folder = tmp_path / "encoder"
    shutil.copytree(encoder.find(), folder, symlinks=False)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-4, os.SEEK_END)
        last = file.read()
        file.seek(-4, os.SEEK_END)
        file.write(bytes(byte ^ 1 for byte in last))
    monkeypatch.setenv("DYNABENCH_ENCODER", str(folder))
    get_settings.cache_clear()
    yield folder
    get_settings.cache_clear()


@pytest.mark.release
def test_another_shared_encoder_is_another_version_of_every_model_over_it(other_encoder):
    kinds = {entry.name: entry for entry in catalog.find([catalog.BUILTIN])}
    get_settings.cache_clear()
    over = {name for name, entry in kinds.items() if entry.card.encoder}
    assert {kinds[name].card.kind for name in over} == {"adapter", "extractor"}
    changed = encoder.digest()
    assert {kinds[name].card.encoder for name in over} == {changed}
    (other_encoder / "model.safetensors").write_bytes((encoder.find("") / "model.safetensors").read_bytes())
    assert encoder.digest() == encoder.SHIPPED_FOR != changed, "as it is read anew when the file changes"
    before = {entry.name: entry.version for entry in catalog.find([catalog.BUILTIN])}
    assert {name for name, entry in kinds.items() if entry.version != before[name]} == over


def test_a_host_names_the_encoder_on_its_cards():
    card = catalog.entry("nli-minilm").card
    assert wire.card_of(json.loads(json.dumps(wire.card_json(card)))) == card
    assert card.encoder == encoder.SHIPPED_FOR


@pytest.mark.parametrize("name", ["pickle.pkl", "pytorch_model.bin", "code.py", "array.npy"])
def test_a_folder_with_a_file_that_may_hold_code_is_refused(copied, name):
    folder = copied("nli-ngram")
    (folder / name).write_bytes(b"\x80\x04.")
    with pytest.raises(Invalid, match=name):
        spec.read(folder)


@pytest.mark.parametrize(
    "text", ["name: [", "name: X Y", "", "name: a\nextra: 1", "!!python/object/apply:os.getcwd []"]
)
def test_a_broken_description_is_listed_with_the_reason(copied, tmp_path, text):
    (copied("nli-ngram") / "model.yaml").write_text(text)
    (entry,) = catalog.find([tmp_path / "models"])
    assert entry.card is None
    assert entry.reason


def test_models_of_the_operator_come_first_and_other_versions_stay_addressable(copied, tmp_path):
    folder = copied("nli-ngram")
    (folder / "ngram.json").write_text((folder / "ngram.json").read_text() + " ")
    places = [tmp_path / "models", catalog.BUILTIN]
    mine, shipped = (entry for entry in catalog.find(places) if entry.name == "nli-ngram")
    assert mine.folder == folder
    assert catalog.entry("nli-ngram", places=places) == mine
    assert catalog.entry("nli-ngram", shipped.version, places) == shipped
    with pytest.raises(NotFound, match="nli-minilm"):
        catalog.entry("nobody", places=places)


def test_folders_of_the_settings_are_searched(tmp_path):
    settings = Settings(home=tmp_path / "home", models=f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    places = catalog.folders(settings)
    assert places == [tmp_path / "a", tmp_path / "b", settings.folder / "models", catalog.BUILTIN]


@pytest.mark.release
def test_the_web_process_can_list_models_and_ask_a_host_without_torch():
    code = (
        "import sys; from dynabench.models import catalog, client; catalog.find([catalog.BUILTIN]); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'peft', 'scipy.optimize', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
