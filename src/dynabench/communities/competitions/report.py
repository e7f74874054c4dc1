"""The final report of a competition as Markdown and as a table."""

from collections.abc import Sequence

from dynabench.communities.competitions.schemas import CompetitionReportOut, RankedTeamOut

HEADER = (
    *("rank_low", "rank_high", "group", "team", "spent", "fooled", "verified", "pending"),
    *("vmer", "vmer_low", "vmer_high", "reason"),
)


def places(line: RankedTeamOut) -> str:
    """Return the places that a team may have, such as `1-3`; a dash where it is not ranked."""
    if line.rank_low is None:
        return "–"
    return f"{line.rank_low}" if line.rank_low == line.rank_high else f"{line.rank_low}-{line.rank_high}"


def table_rows(lines: Sequence[RankedTeamOut]) -> list[list[object]]:
    """Return the lines of the table, under `HEADER`."""
    rows = []
    for line in lines:
        vmer = line.vmer
        cells = (line.rank_low, line.rank_high, line.group, line.name, line.spent, line.fooled, line.verified)
        rows.append([*cells, line.pending, vmer.value, vmer.low, vmer.high, line.reason])
    return [["" if cell is None else cell for cell in row] for row in rows]


def _cell(text: str) -> str:
    """Text that a Markdown table shows as it is."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+-.!|~" else letter for letter in text)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def markdown_report(report: CompetitionReportOut) -> str:
    """Return the report as a Markdown document."""
    head = [
        f"# {_cell(report.name)}",
        "",
        f"- Task and round: {report.task}, round {report.round}",
        f"- Targets: {', '.join(_cell(target) for target in report.targets)}",
        f"- From {report.starts_at:%Y-%m-%d %H:%M} to {report.ends_at:%Y-%m-%d %H:%M} UTC; "
        f"report of {report.finished_at:%Y-%m-%d %H:%M} UTC",
        f"- Budget: {report.budget} examples a team; a rank needs {report.least_examples}",
        f"- {report.examples} examples, {report.votes} votes, {report.pending} fooling examples without a verdict",
        "",
        "| Places | Team | Examples | Fooled | Verified | vMER | 95 % interval |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {places(line)} | {_cell(line.name)}{' (withdrawn)' if line.reason == 'withdrawn' else ''} | {line.spent} "
        f"| {line.fooled} | {line.verified} | {_share(line.vmer.value)} "
        f"| {_share(line.vmer.low)} to {_share(line.vmer.high)} |"
        for line in report.lines
    ]
    foot = [
        "",
        "vMER is the share of a team's examples that fooled the targets and were found correct by others; withdrawn",
        "examples count as failures. Places are simultaneous 95 % intervals: teams that share places cannot be told",
        "apart. Intervals of vMER are Wilson's.",
        "",
    ]
    return "\n".join([*head, *rows, *foot])
