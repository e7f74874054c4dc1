"""Tables whose cells are shaded by their score: models by rounds, and phenomena by models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.leaderboards.board_views import BySlice, Matrix, MatrixLine, SliceLine
from dynabench.benchmark.leaderboards.drawings import score_text
from dynabench.benchmark.standings import ScoreCell, ScoredDataset
from dynabench.kit.language import _, translate
from dynabench.stats.rates import FEW_ROWS, Rate

SHADES = 10


@dataclass(frozen=True)
class HeatCell:
    """One score with the step of its shade, 0 to `SHADES`; `loop` is the model's own vMER as a target of the round."""

    score: ScoreCell | None
    shade: int = 0
    loop: Rate | None = None


@dataclass(frozen=True)
class HeatColumn:
    """A dataset as a column; `people` is the accuracy of blind answers on its round."""

    data: ScoredDataset
    label: str
    people: Rate | None

    @property
    def few(self) -> bool:
        """True where its scores say little."""
        return self.data.rows < FEW_ROWS


@dataclass(frozen=True)
class MatrixBlock:
    """Columns that stand together: rounds in their order, suites, or hidden data; lines of all models."""

    name: str
    columns: tuple[HeatColumn, ...]
    lines: tuple[tuple[MatrixLine, tuple[HeatCell, ...]], ...]

    @property
    def people(self) -> bool:
        """True where people answered some column blind."""
        return any(column.people for column in self.columns)


class Shade:
    """Steps of shades: of shares from 0 to 1, of other numbers from the worst to the best of `cells`."""

    def __init__(self, metric: Measure, cells: Sequence[ScoreCell | None]) -> None:
        values = [cell.value for cell in cells if cell is not None] or [0.0]
        self.metric = metric
        self.low, self.high = (0.0, 1.0) if metric.scale == 100 else (min(values), max(values))

    def step(self, cell: ScoreCell | None) -> int:
        """Return the step of a cell; more is darker, where less is better less is."""
        if cell is None or self.high <= self.low:
            return 0
        share = (cell.value - self.low) / (self.high - self.low)
        return max(0, min(SHADES, round(SHADES * (share if self.metric.direction > 0 else 1 - share))))


def matrix_blocks(matrix: Matrix, people: Mapping[int, Rate]) -> list[MatrixBlock]:
    """Return the blocks of a matrix that have columns; `people` by the number of the round."""
    shade = Shade(matrix.metric, [cell for line in matrix.lines for cell in line.cells])
    kinds = [
        (_("Rounds"), [at for at, data in enumerate(matrix.data) if data.round is not None and not _hidden(data)]),
        (_("Suites"), [at for at, data in enumerate(matrix.data) if data.round is None and not _hidden(data)]),
        (_("Hidden test sets"), [at for at, data in enumerate(matrix.data) if _hidden(data)]),
    ]
    return [_block(name, matrix, places, shade, people) for name, places in kinds if places]


def _hidden(data: ScoredDataset) -> bool:
    return data.disclosure.hidden


def _block(name: str, matrix: Matrix, places: Sequence[int], shade: Shade, people: Mapping[int, Rate]) -> MatrixBlock:
    columns = []
    for at in places:
        data = matrix.data[at]
        is_round = data.round is not None and not _hidden(data)
        label = translate(_("Round %(n)s", n=data.round)) if is_round else data.title
        columns.append(HeatColumn(data, label, people.get(data.round or 0) if is_round else None))
    lines = []
    for line in matrix.lines:
        cells = tuple(_matrix_cell(line, matrix.data[at], line.cells[at], shade) for at in places)
        if any(cell.score for cell in cells):
            lines.append((line, cells))
    return MatrixBlock(name, tuple(columns), tuple(lines))


def _matrix_cell(line: MatrixLine, data: ScoredDataset, score: ScoreCell | None, shade: Shade) -> HeatCell:
    loop = line.loop.get(data.round) if data.round is not None else None
    return HeatCell(score, shade.step(score), loop)


@dataclass(frozen=True)
class PhenomenonRow:
    """One slice as a row: a cell for each model, the best value, and how far apart that and the worst are."""

    tag: str
    rows: int
    cells: tuple[HeatCell, ...]
    best: float
    spread: float | None

    @property
    def few(self) -> bool:
        """True where its scores say little."""
        return self.rows < FEW_ROWS


MAX_SLICE_MODELS = 8
"""Models that stand side by side in the table of slices; the file has all."""


def phenomenon_rows(by_slice: BySlice) -> tuple[list[SliceLine], list[PhenomenonRow]]:
    """Return the best models and the slices, those on which these differ most first."""
    lines = list(by_slice.lines[:MAX_SLICE_MODELS])
    shade = Shade(by_slice.metric, [cell for line in lines for cell in line.cells])
    rows = []
    for at, tag in enumerate(by_slice.tags):
        scores = [line.cells[at] for line in lines]
        values = [score.value for score in scores if score is not None]
        spread = max(values) - min(values) if len(values) > 1 else None
        rows.append(
            PhenomenonRow(
                tag, by_slice.rows[at], tuple(HeatCell(s, shade.step(s)) for s in scores), by_slice.best[at], spread
            )
        )
    rows.sort(key=lambda row: (row.few, -(row.spread or 0.0), row.tag))
    return lines, rows


def slices_finding(metric: Measure, lines: Sequence[SliceLine], rows: Sequence[PhenomenonRow]) -> str:
    """Return a sentence that names the slice on which the models differ most, with the best and the worst of them."""
    row = next((row for row in rows if not row.few and row.spread), None)
    if row is None:
        return _("%(metric)s of %(n)s models on %(slices)s slices", metric=metric.title, n=len(lines), slices=len(rows))
    scored = [(cell.score.value, line) for cell, line in zip(row.cells, lines, strict=True) if cell.score]
    scored.sort(key=lambda pair: -metric.direction * pair[0])
    (best, first), (worst, last) = scored[0], scored[-1]
    return _(
        "Models differ most on “%(slice)s”: %(best)s for %(first)s, %(worst)s for %(last)s",
        slice=row.tag,
        best=score_text(best, metric),
        first=first.entrant.label,
        worst=score_text(worst, metric),
        last=last.entrant.label,
    )
