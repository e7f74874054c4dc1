"""`dynabench module check` names what fails, and what a README.md declares is read from anybody."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate.inputs import module_options
from dynabench.evaluate.loading import builtin_modules, find_module
from dynabench.published_modules.checking import check_folder
from dynabench.published_modules.manifest import declared_class, describe_module, read_manifest
from tests.published_modules.writing import DOCUMENT, module_files


def checked(folder: Path, files: dict[str, bytes]) -> dict[str, str]:
    """The failures of a module in a folder, by check."""
    folder = folder / "agreement"
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return dict(check_folder(folder).failures)


@pytest.mark.slow
def test_a_good_module_passes(tmp_path: Path):
    assert checked(tmp_path, module_files()) == {}


@pytest.mark.release
@pytest.mark.parametrize(
    ("code", "check", "message"),
    [
        ({"formula": 'return {"agreement": 0.9 * total[..., 0] / total[..., -1]}'}, "examples", "the card says"),
        (
            {"before": "import os\nN = int.from_bytes(os.urandom(2), 'big') / 2**16",
             "formula": 'return {"agreement": N * total[..., 0] / total[..., -1]}'},
            "deterministic", "pass a seed",
        ),
        ({"formula": 'return {"agreement": 1.5 - total[..., 0] / total[..., -1]}'}, "bounds", "its card says 0 to 1"),
        ({"formula": 'return {"agreement": 1 - total[..., 0] / total[..., -1]}'}, "direction", "is better higher"),
        (
            {"update": "return Sums(np.arange(len(predictions)) * predictions / 2)"},
            "order of rows", "order-matters: true",
        ),
        (
            {"update": "return Sums(same(predictions, references) * (len(predictions) > 1))"},
            "merged batches", "two batches that are merged",
        ),
        ({"before": "import no_such_package"}, "requirements", "no_such_package is not installed here"),
        ({"before": "def"}, "files", "agreement.py is no Python"),
        ({"update": "import os; os._exit(3)"}, "examples", "exit status 3"),  # as one that hangs, which takes its time
    ],
)  # fmt: skip
def test_what_fails_is_named(tmp_path: Path, code: dict[str, str], check: str, message: str):
    failures = checked(tmp_path, module_files(**code))
    assert message in failures[check], failures


@pytest.mark.slow
def test_a_card_that_lacks_something_or_declares_another_module_is_named(tmp_path: Path):
    files = module_files()
    failures = checked(tmp_path, files | {"README.md": b"# Agreement\n\nText.\n"})
    assert "names no license" in failures["card"]
    other = files["README.md"].replace(b"share of rows", b"part of rows")
    assert (
        "declares another module than the code (description)" in checked(tmp_path, files | {"README.md": other})["card"]
    )
    assert "needs a Python file" in dict(check_folder(tmp_path / "agreement" / "..").failures)["files"]


def test_every_module_of_the_library_can_be_declared_and_read_again():
    for kind, name in builtin_modules():
        module = find_module(name, kind)
        try:
            document = describe_module(module, f"{name}.py")
        except ValueError:
            continue  # an example with NaN or infinity
        manifest = read_manifest(document)
        module_class = declared_class(manifest)
        assert (module_class.kind, module_class.name_of()) == (module.kind, name)
        assert set(module_class.columns) == set(module.columns)
        assert set(module_class.optional) == set(module.optional)
        options = module_options(module)
        again = module_options(module_class)
        assert again.keys() == options.keys(), name
        for option, read_option in again.items():
            assert read_option.choices == options[option].choices
            assert read_option.default == (
                list(options[option].default) if isinstance(options[option].default, tuple) else options[option].default
            )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(DOCUMENT)), JSON)
def test_a_declaration_is_read_or_refused_with_a_value_error(key: str, value: Any):
    try:
        manifest = read_manifest({**DOCUMENT, key: value})
    except ValueError:
        return
    declared_class(manifest)


@given(JSON)
def test_anything_is_a_declaration_or_refused(value: Any):
    with pytest.raises(ValueError, match=r"."):
        read_manifest(value)
