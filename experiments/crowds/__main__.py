"""Write `docs/explanation/quality-figures.md`: `python -m experiments.crowds DATA_FOLDER`."""

import sys
import textwrap
from pathlib import Path

from dynabench.stats.rates import Rate
from experiments.crowds.copies import CHANGES, TEXTS, measure_copies
from experiments.crowds.weighted_verdicts import ITEMS, RuleFigures, compare_on_anli, compare_rules

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "quality-figures.md"
HEAD = """# Measured: verdicts and signals

`python -m experiments.crowds DATA_FOLDER` writes this page. [Annotator quality](annotator-quality.md) explains the
terms.
"""


def main() -> None:
    """Compute all tables and write the page."""
    folder = Path(sys.argv[1])
    PAGE.write_text(
        "\n".join([HEAD, *_simulated(), "", *_published(folder), "", *_copies(folder), ""]), encoding="utf-8"
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120)


def _percent(rate: Rate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "–"
    return f"{rate.value:.1%} ({rate.low:.1%}–{rate.high:.1%})"


def _simulated() -> list[str]:
    lines = [
        "## The plain rule against the weighted rule",
        "",
        _wrapped(
            f"Simulated crowds with known truth. The weights come from {ITEMS:,} examples that the plain rule decided; "
            f"the figures are over {ITEMS:,} others. The truth is *correct* for 70 %, *incorrect* for 25 % and "
            "*flagged* for 5 %. A disputed example counts as not right. Intervals are at 95 %."
        ),
        "",
        "| crowd | votes, up to | right: plain | right: weighted | right: true weights | disputed: plain, weighted "
        "| votes: plain, weighted |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in compare_rules():
        disputed = ", ".join(f"{side.disputed.value:.1%}" for side in (row.plain, row.weighted))
        votes = ", ".join(f"{side.votes:.2f}" for side in (row.plain, row.weighted))
        cells = [row.crowd, f"{row.need}, {row.cap}", *map(_right, (row.plain, row.weighted, row.ideal))]
        lines.append(f"| {' | '.join([*cells, disputed, votes])} |")
    return lines


def _right(figures: RuleFigures) -> str:
    return _percent(figures.right)


def _published(folder: Path) -> list[str]:
    row = compare_on_anli(folder / "anli_dev")
    places = "; ".join(f"vote {place}: {_percent(rate)}" for place, rate in enumerate(row.accuracies, 1))
    return [
        f"### On ANLI’s {row.lists:,} vote lists",
        "",
        _wrapped(
            "The lists do not name verifiers, so the place in the list stands for one: weights differ by place only. "
            "ANLI stopped asking once two verifiers agreed, so all rules find the same labels here: these lists cannot "
            "tell the rules apart. Consensus is the most frequent label of the whole list, where there is one."
        ),
        "",
        "| | plain | weighted | Dawid-Skene |",
        "|---|---|---|---|",
        f"| same label as the consensus | {_percent(row.plain)} | {_percent(row.weighted)} | {_percent(row.model)} |",
        f"| accepts the gold label of the 3,198 development rows | {_percent(row.gold_plain)} "
        f"| {_percent(row.gold_weighted)} | |",
        "",
        f"Estimated accuracy by place: {places}.",
    ]


def _copies(folder: Path) -> list[str]:
    lines = [
        "## The signal of near-duplicates",
        "",
        _wrapped(
            f"{TEXTS:,} hypotheses of SNLI, each by a person, and as many known copies, changed as people change them. "
            "A copy counts as found where the signal links it to a text. False alarms are texts by people about "
            "different premises that the signal links all the same. The platform marks from a similarity of 0.8 on "
            "unless the task says otherwise."
        ),
        "",
        f"| similarity from | {' | '.join(CHANGES)} | false alarms |",
        f"|---|{'---|' * (len(CHANGES) + 1)}",
    ]
    for row in measure_copies(folder):
        cells = [f"{row.threshold}", *(_percent(row.rates[name]) for name in CHANGES), _percent(row.false_alarms)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
