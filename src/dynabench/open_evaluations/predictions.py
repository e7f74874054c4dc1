"""The predictions of an open evaluation as a file: a line for each row, with a column for each model."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import scoring, sources
from dynabench.open_evaluations.kinds import ANSWER, OPEN_TASKS
from dynabench.open_evaluations.scoring import AnsweredModel
from dynabench.open_evaluations.service import find_evaluation
from dynabench.open_evaluations.tables import OpenState
from dynabench.people.accounts.tables import Person

GROUP_ROWS = 2000


@dataclass(frozen=True)
class PredictionTable:
    """The models whose answers are written, with their names; `inputs` are the roles of the rows."""

    models: list[tuple[str, AnsweredModel]]
    inputs: list[str]

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        named = [name for name, _model in self.models]
        return ["row", *self.inputs, "reference", *named, *(f"{name} right" for name in named)]


def prediction_table(session: Session, settings: Settings, viewer: Person, id: int) -> PredictionTable:
    """Return what is in the file, for those who may see the rows: the author. Raises `Forbidden` for others."""
    seen = find_evaluation(session, viewer, id)
    if not seen.own:
        raise errors.Forbidden(_("Only the author of this evaluation can download its rows and predictions."))
    sources.require_rows(session, settings, viewer, seen.evaluation)
    done = [model for model in seen.models if model.state == OpenState.DONE]
    if not done:
        raise errors.Conflict(_("No model of this evaluation is done yet."))
    names = [model.name if model.name not in [other.name for other in done if other is not model]
             else f"{model.name} {model.number + 1}" for model in done]  # fmt: skip
    answered = [scoring.answered_model(session, seen.evaluation, model) for model in done]
    return PredictionTable(
        list(zip(names, answered, strict=True)), [role.name for role in OPEN_TASKS[seen.evaluation.kind].inputs]
    )


def read_lines(settings: Settings, table: PredictionTable) -> Iterator[list[Any]]:
    """Yield the lines of the file; raises `Unavailable` where answers are gone."""
    readers = [scoring.read_answers(settings, model) for _name, model in table.models]
    try:
        for answered in zip(*readers, strict=True):
            row = answered[0].row
            reference = [right[ANSWER] for right in row.answers]
            yield [
                row.uid,
                *(_cell(row.inputs.get(name, "")) for name in table.inputs),
                _cell(reference[0] if len(reference) == 1 else reference),
                *(_cell(item.prediction) for item in answered),
                *(int(item.right) for item in answered),
            ]
    except (EvaluationStopped, FileNotFoundError):
        raise errors.Unavailable(_("The stored answers of this evaluation are gone. Start it again.")) from None


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value if not value.startswith("data:") else "(picture)"
    return "(picture)" if isinstance(value, dict) and "media" in value else json.dumps(value, ensure_ascii=False)


def as_parquet(settings: Settings, table: PredictionTable) -> bytes:
    """Return the file as Parquet."""
    header = table.header
    kinds = [pa.int8() if name.endswith(" right") else pa.string() for name in header]
    schema = pa.schema(list(zip(header, kinds, strict=True)))
    out = pa.BufferOutputStream()
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        group: list[list[Any]] = []
        for line in read_lines(settings, table):
            group.append(line)
            if len(group) == GROUP_ROWS:
                writer.write_table(_table(schema, group))
                group = []
        writer.write_table(_table(schema, group))
    return bytes(out.getvalue().to_pybytes())


def _table(schema: pa.Schema, lines: list[list[Any]]) -> pa.Table:
    columns = zip(*lines, strict=True) if lines else [[] for _name in schema.names]
    arrays = [pa.array(list(column), kind.type) for column, kind in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
