"""Scores of models, later ones too, on a round: the round's column of the round matrix.

The page of a round's data measurements shows them.
"""

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.leaderboards.board_views import make_matrix
from dynabench.benchmark.reading import read_board
from dynabench.insight.data_measurements.results import Column, Kind, Table, make_columns
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person


def models_on_round(session: Session, viewer: Person | None, task_id: str, number: int) -> Table | None:
    """Each model that `viewer` may see on the dataset of a round, the best first; None where none was scored on it."""
    board = read_board(session, viewer, task_id)
    if not any(dataset.round == number for dataset in board.datasets):
        return None
    score_matrix = make_matrix(session, board, board.primary)
    places = [place for place, column in enumerate(score_matrix.data) if column.round == number]
    rows = []
    for line in score_matrix.lines if places else ():
        cell = line.cells[places[0]]
        if cell is not None:
            loop = _("yes") if number in line.loop else _("no")
            rows.append((line.entrant.label, cell.value, cell.low, cell.high, cell.n, loop))
    rows.sort(key=lambda row: -score_matrix.metric.direction * row[1])
    return (
        Table("later", _("Models on this round"), _columns(board.primary), tuple(rows), (0,) * len(rows), "intervals")
        if rows
        else None
    )


def _columns(metric: Measure) -> tuple[Column, ...]:
    kind: Kind = "share" if metric.scale == 100 else "number"
    return make_columns(
        ("model", _("Model"), "text"), (metric.name, metric.title, kind),
        ("low", _("from"), kind), ("high", _("to"), kind),
        ("n", "n", "count"), ("in_the_loop", _("In the loop"), "text"),
    )  # fmt: skip
