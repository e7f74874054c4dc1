from collections.abc import Callable
from pathlib import Path

from .table import Maker, needs, plain


def graph(place: Path, exported: Callable[[str], Path]) -> Path:
    """A shipped model as ONNX, in fp32."""
    needs("onnx")
    folder = place / "sentiment-minilm"
    folder.symlink_to(exported(folder.name))
    return folder


MAKERS = [Maker("onnx", "sentiment", plain(graph), fixture="exported")]
