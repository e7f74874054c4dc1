"""Kinds of columns that modules take, and how each turns raw values into clean ones.

Each raises ValueError with the column's name, the first bad row and what to do. Nothing is truncated or
guessed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LARGEST = 2**63 - 1


class Column:
    """One column: `clean` turns what a caller gives into what `update` gets."""

    dtype = "any"
    text = "anything"

    def clean(self, values: Any, name: str) -> Any:
        """Return `values` as a list. Raises ValueError for values that are no column."""
        return as_list(values, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype!r})"


class RowColumn(Column):
    """A column whose rows are read one after the other by `_row`, which raises ValueError for a row of another form."""

    def clean(self, values: Any, name: str) -> list[Any]:
        """Return the rows. Raises ValueError, which names the row, for one of another form."""
        return [self._row(item, f"{name}: row {row}") for row, item in enumerate(as_list(values, name))]

    def _row(self, item: Any, where: str) -> Any:
        raise NotImplementedError


class Labels(Column):
    """Classes: whole numbers or texts. Becomes an integer array (n,) or a list of n texts."""

    dtype = "label"
    text = "class of each example, a whole number or a text"

    def clean(self, values: Any, name: str) -> NDArray[np.int64] | list[str]:
        """Return labels; whole-number floats become integers.

        Raises ValueError for other floats, missing values and mixtures of texts and numbers.
        """
        values = to_numpy(values)
        array = values if isinstance(values, np.ndarray) else None
        if array is None or array.dtype.kind in "OUST":
            items = as_list(values, name)
            kinds = set(map(type, items))
            if kinds <= {str, np.str_}:
                return [str(item) for item in items] if np.str_ in kinds else items
            if type(None) in kinds:
                raise ValueError(
                    f"{name}: row {items.index(None)} is missing (None); drop it or fill it in before computing"
                )
            if any(issubclass(kind, str) for kind in kinds):
                first = next(
                    row for row, item in enumerate(items) if isinstance(item, str) != isinstance(items[0], str)
                )
                raise ValueError(
                    f"{name}: row 0 and row {first} mix text and other values; give labels of one kind, "
                    f"{items[0]!r} and {items[first]!r} are of two"
                )
            array = as_numbers(items, name)
        return as_labels(array, name)


class LabelsOrSets(Labels):
    """Classes, or for several classes at once rows of 0 and 1; the latter become an integer array (n, K)."""

    dtype = "label or list of 0 and 1"
    text = "class of each example, or a row of 0 and 1 with a place for each class"

    def clean(self, values: Any, name: str) -> Any:
        """Return labels or rows of 0 and 1. Raises ValueError for rows of anything else."""
        values = to_numpy(values)
        if not isinstance(values, np.ndarray) or not values.ndim:
            values = as_list(values, name)
        first = to_numpy(values[0]) if len(values) else None
        if not isinstance(first, list | tuple) and not (isinstance(first, np.ndarray) and first.ndim):
            return super().clean(values, name)
        array = as_numbers(values, name)
        if array.ndim != 2 or not array.size or not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name}: give a row of 0 and 1 for each example, with a place for each class")
        return array.astype(np.int64)


@dataclass(frozen=True, repr=False)
class Numbers(Column):
    """Real numbers; becomes a float array (n,), or (n, k) where rows of numbers are allowed (`wide`)."""

    wide: bool = False
    infinite: bool = False
    dtype = "float64"
    text = "number of each example"

    def clean(self, values: Any, name: str) -> Floats:
        """Return a float array.

        Raises ValueError for missing values and NaN, and for infinities unless they are allowed.
        """
        array = as_numbers(values, name).astype(float, copy=False)
        if array.ndim != 1 and not (self.wide and array.ndim == 2):
            raise ValueError(f"{name}: give one number for each row, not values of shape {array.shape[1:]}")
        wrong = ~np.isfinite(array) if not self.infinite else np.isnan(array)
        if wrong.any():
            row = int(np.argwhere(wrong)[0][0])
            raise ValueError(f"{name}: row {row} is {array[row]!s}; drop it or fill it in before computing")
        return array


class Weights(Numbers):
    """Weights of the rows, 0 or more; becomes a float array (n,)."""

    def clean(self, values: Any, name: str) -> Floats:
        """Return the weights. Raises ValueError for negative ones, and for those whose sum no float can hold."""
        array = super().clean(values, name)
        if (array < 0).any():
            raise ValueError(f"{name}: row {int((array < 0).argmax())} is negative; weights are 0 or more")
        with np.errstate(over="ignore"):
            if not np.isfinite(array.sum()):
                raise ValueError(f"{name}: the sum is more than a float can hold; scale all weights down")
        return array


class Texts(Column):
    """Texts; a list of n."""

    dtype = "string"
    text = "text of each example"

    def clean(self, values: Any, name: str) -> list[str]:
        """Return the texts, which may be empty. Raises ValueError for anything but a text."""
        items = as_list(values, name)
        for row, item in enumerate(items):
            if not isinstance(item, str):
                raise ValueError(
                    f"{name}: row {row} is {item!r}, not a text; write str(value), or '' where it is empty"
                )
        return items


class References(Column):
    """One text, or several of which any may be right; a list of n lists of texts (1 or more)."""

    dtype = "string or list of strings"
    text = "right text of each example, or a list of right texts"

    def clean(self, values: Any, name: str) -> list[list[str]]:
        """Return a list of texts for each row. Raises ValueError for an empty list and for other values."""
        rows = []
        for row, item in enumerate(as_list(values, name)):
            texts = [item] if isinstance(item, str) else list(item) if isinstance(item, Sequence | np.ndarray) else []
            if not texts or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{name}: row {row} is {item!r}; give a text or a list of at least one text")
            rows.append(texts)
        return rows


class Tokens(Column):
    """Sequences of texts (words, tags); a list of n lists."""

    dtype = "list of strings"
    text = "list of tokens of each example"

    def clean(self, values: Any, name: str) -> list[list[str]]:
        """Return a list of texts for each row, perhaps empty. Raises ValueError for other values."""
        rows: list[list[str]] = []
        for row, item in enumerate(as_list(values, name)):
            whole = isinstance(item, Sequence | np.ndarray) and not isinstance(item, str)
            texts: list[Any] = list(item) if whole else [None]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{name}: row {row} is {item!r}; give a list of texts")
            rows.append(texts)
        return rows


@dataclass(frozen=True, repr=False)
class Records(Column):
    """Dictionaries with known keys; a list of n."""

    keys: tuple[str, ...] = ()
    dtype = "dictionary"
    text = "dictionary of each example"

    def clean(self, values: Any, name: str) -> list[dict[str, Any]]:
        """Return the dictionaries. Raises ValueError for a row that lacks a key."""
        items = as_list(values, name)
        for row, item in enumerate(items):
            missing = [key for key in self.keys if key not in item] if isinstance(item, Mapping) else self.keys
            if missing or not isinstance(item, Mapping):
                raise ValueError(
                    f"{name}: row {row} lacks {', '.join(missing) or 'keys'}; give {{{', '.join(self.keys)}}}"
                )
        return items


def to_numpy(values: Any) -> Any:
    """Return tensors, series and other array-likes as NumPy arrays, and any other value unchanged."""
    if isinstance(values, list | np.ndarray):
        return values
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        wide = str(getattr(tensor, "dtype", "")) == "torch.bfloat16"  # which NumPy lacks
        return (tensor.float() if wide else tensor).numpy()
    return np.asarray(values) if hasattr(values, "__array__") and not isinstance(values, np.generic) else values


def as_list(values: Any, name: str) -> list[Any]:
    """Return `values` as a list. Raises ValueError for None, a single text, a mapping or a single value."""
    values = to_numpy(values)
    if isinstance(values, list):
        return values
    if isinstance(values, np.ndarray) and values.ndim:
        return values.tolist() if values.ndim == 1 else list(values)
    single = isinstance(values, str | bytes | Mapping | np.ndarray)  # an array without rows is one value
    if single or not isinstance(values, Iterable):
        raise ValueError(f"{name}: give a list with one value for each example, not {type(values).__name__}")
    return list(values)


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as an array of numbers, (n, ...).

    Raises ValueError at the first row that is none, or is ragged.
    """
    values = to_numpy(values)
    if not isinstance(values, np.ndarray) or not values.ndim or values.dtype == object:
        # NumPy makes no array of several tensors where they carry gradients
        are_tensors = isinstance(values, list | tuple) and len(values) > 0 and hasattr(values[0], "detach")
        values = [to_numpy(item) for item in values] if are_tensors else as_list(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: rows have different lengths; give the same number of values in each") from None
    if array.dtype.kind not in "iufb" and array.size:
        for row, item in enumerate(values):
            if item is None:
                raise ValueError(f"{name}: row {row} is missing (None); drop it or fill it in before computing")
            if isinstance(item, int) and abs(item) > LARGEST:
                raise ValueError(f"{name}: row {row} is too large for a label; give it as a text")
            if np.asarray(item).dtype.kind not in "iufb":
                raise ValueError(f"{name}: row {row} is {item!r}, not a number")
        raise ValueError(f"{name}: these are no numbers")
    return array


def as_labels(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Return labels as integers (n,). Raises ValueError for NaN, fractions and more than one label in a row."""
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        description = (
            f"values of shape {array.shape[1:]}" if array.ndim > 1 else f"{array.dtype} of shape {array.shape}"
        )
        raise ValueError(
            f"{name}: give a list with one label, a whole number or a text, for each row, not {description}"
        )
    if array.dtype == np.uint64 and (array > LARGEST).any():
        raise ValueError(f"{name}: row {int((array > LARGEST).argmax())} is too large for a label; give it as a text")
    if array.dtype.kind == "f":
        array = array.astype(float, copy=False)  # small floats cannot be compared with the largest label
        if np.isnan(array).any():
            raise ValueError(
                f"{name}: row {int(np.isnan(array).argmax())} is NaN; drop it or fill it in before computing"
            )
        broken = (array != np.floor(array)) | (np.abs(array) >= 2.0**63)
        if broken.any():
            row = int(broken.argmax())
            raise ValueError(
                f"{name}: row {row} is {array[row]}, which is no label; "
                "round scores, compare them with a threshold or take the argmax first"
            )
    return array.astype(np.int64, copy=False)


def copy_column(values: Any, name: str) -> Any:
    """Return a copy of a column, since callers fill one array, tensor or list again and again."""
    array = to_numpy(values)
    if isinstance(array, np.ndarray) and array.ndim:
        return array.copy()
    rows = list(as_list(array, name))
    reused = bool(rows) and (isinstance(rows[0], np.ndarray) or hasattr(rows[0], "detach"))
    return [np.array(to_numpy(row)) for row in rows] if reused else rows


def join_batches(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of several batches, each as one."""
    names = dict.fromkeys(name for batch in batches for name in batch)
    return {name: _join([batch[name] for batch in batches if name in batch], name) for name in names}


def _join(parts: list[Any], name: str) -> Any:
    """Arrays stay an array."""
    if len(parts) == 1:
        return parts[0] if hasattr(parts[0], "__len__") else as_list(parts[0], name)
    arrays = all(isinstance(part, np.ndarray) for part in parts)
    if arrays and len({(part.dtype.kind, part.shape[1:]) for part in parts}) == 1:
        return np.concatenate(parts)
    return [
        value for part in parts for value in (part.tolist() if isinstance(part, np.ndarray) else as_list(part, name))
    ]
