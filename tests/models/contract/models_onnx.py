from pathlib import Path

from dynabench.models.catalog import BUILTIN

from .table import Make, Maker, needs, plain


def exported(name: str) -> Make:
    """A shipped model as ONNX, in fp32."""

    def write(place: Path) -> Path:
        needs("onnx")
        from dynabench.models import exporting

        folder = place / f"{name}-onnx"
        folder.mkdir()
        exporting.write(BUILTIN / name, folder, f"{name}-onnx")
        return folder

    return plain(write)


MAKERS = [Maker("onnx", "sentiment", exported("sentiment-minilm"))]
