"""Pickles among the files of an archive, and data that is none."""

import bz2
import gzip
import io
import json
import pickle
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from dynabench.models import archives
from tests.models.handlers import refused


class Loud:
    """Pickles to a call, as whatever does harm does."""

    def __reduce__(self):
        return print, ("harm",)


def torch_file():
    """Return a file as `torch.save` writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zip_file:
        zip_file.writestr("archive/data.pkl", pickle.dumps(Loud()))
        zip_file.writestr("archive/data/0", bytes(8))
    return file.getvalue()


def array(value, **options):
    file = io.BytesIO()
    np.save(file, value, **options)
    return file.getvalue()


def zipped(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zip_file:
        for name, content in entries.items():
            zip_file.writestr(name.replace("_", "."), content)
    return file.getvalue()


PICKLES = {
    **{f"model{suffix}": b"anything" for suffix in (".pkl", ".pickle", ".pt", ".PTH", ".bin", ".joblib", ".ckpt")},
    **{f"protocol-{n}.dat": pickle.dumps(Loud(), n) for n in range(6)},
    "long-and-old.txt": pickle.dumps([Loud() for _ in range(9000)], 0),
    "posing.safetensors": pickle.dumps(Loud()),
    "torch.dat": torch_file(),
    "objects.npy": array(np.array([Loud()]), allow_pickle=True),
    "objects.npz": zipped(a_npy=array(np.array([Loud()]), allow_pickle=True)),
    "nested.zip": zipped(a_pkl=b"x"),
    "packed.gz": gzip.compress(pickle.dumps(Loud())),
    "packed.bz2": bz2.compress(pickle.dumps(Loud())),
    "broken.npy": b"\x93NUMPY\x09\x00junk",
    "broken.zip": b"PK\3\4" + bytes(60),
}


@pytest.mark.parametrize("name", PICKLES)
def test_pickles_are_found_by_name_and_by_content(archive, target, name):
    answer = refused(archive({name: PICKLES[name]}), target)
    assert name in answer
    assert "Save the weights as safetensors, or the model as ONNX." in answer


PLAIN = {
    "weights.safetensors": save({"w": np.arange(10, dtype=np.float32)}),
    "weights.npy": array(np.arange(10)),
    "weights.npz": zipped(a_npy=array(np.arange(3)), b_npy=array(np.ones((2, 2)))),
    "words.txt": b"0.5\n1.0.\n(a)\nN.\n",
    "empty.txt": b"",
    "dot.txt": b".",
    "words.json.gz": gzip.compress(json.dumps({"a": 1}).encode()),
    "data.zip": zipped(a_csv=b"a,b", inner_zip=zipped(c_csv=b"d")),
    "cut.gz": gzip.compress(bytes(range(256)) * 2000)[:300],
    "zlib.dat": zlib.compress(b"some words"),
    "model.onnx": b"\x08\x08\x12\x07pytorch",
}


def test_plain_data_is_let_pass(archive, target):
    archives.unpack(archive(PLAIN), target)
    assert {path.name for path in target.iterdir()} == {"model.yaml", "handler.py", *PLAIN}


def test_no_length_of_a_safetensors_header_is_taken_for_a_pickle(tmp_path):
    for length in (0x0280, 0x0380, 0x280280, 0x5D0480, 0x7D0580):
        path = tmp_path / "weights.safetensors"
        header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(length)
        path.write_bytes(length.to_bytes(8, "little") + header + bytes(4))
        assert not archives.find_pickles(tmp_path, [path])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300).filter(lambda text: text.count("\n") < 2))
def test_no_line_of_text_is_taken_for_a_pickle(text):
    """To name code an old pickle needs two lines' ends."""
    assert not archives._pickle_fault("notes.txt", io.BytesIO(text.encode()))
