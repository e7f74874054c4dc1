"""`dynabench dataset measure`: a report on the data of a file, a folder or a public dataset."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.cli.operator import AsJson, bar, database, refusals
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.insight.data_reports.report import DataReport
    from dynabench.insight.data_reports.sources import DataSource

NAMED = ("dataset:", "hub:")
Columns = Annotated[list[str] | None, typer.Option("--text", help="A column of text; give it once for each.")]


def measure(
    source: Annotated[
        str, typer.Argument(help="A file, a zip, a folder, TASK/NAME of a public dataset, or hub:OWNER/NAME.")
    ],
    compare: Annotated[str, typer.Option(help="Other data to compare with, named in the same ways.")] = "",
    text: Columns = None,
    label: Annotated[str, typer.Option(help='The column of labels; "-" for none.')] = "",
    split: Annotated[str, typer.Option(help="The column of splits; by default the files' names say.")] = "",
    group: Annotated[str, typer.Option(help="A column of groups for toxicity and sentiment.")] = "",
    terms: Annotated[str, typer.Option(help="Pairs of identity terms, such as she/he,woman/man.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a report: a name ending in .html, .pdf, .md or .json.")
    ] = None,
    encoder: Annotated[bool, typer.Option(help="Use the encoder where it is installed.")] = True,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure even if these data were measured before.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random samples.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the data of SOURCE in one pass, compare it with other data, and print or write the report.

    Columns are guessed unless they are named. Equal content is measured once; results are kept in the home folder.
    """
    from dynabench.insight.data_measurements.sample import find_encoder
    from dynabench.insight.data_reports import report as reports
    from dynabench.insight.data_reports.sources import ChosenColumns

    settings = get_settings()
    with refusals():
        kind = _kind_of(output)
        chosen = ChosenColumns(tuple(text or ()), label, split, group)
        options = reports.ReportOptions(chosen, reports.parse_pairs(terms), seed)
        embed = find_encoder() if encoder else None
        with _opened(source) as first, _opened(compare) as second:
            assert first is not None
            key = reports.report_key(first.digest, second.digest if second else "", options, embed is not None)
            result = None if fresh else reports.find_report(settings, key)
            if result is None:
                with bar("Measuring", as_json) as tell:
                    result = reports.measure_data(first, options, second, embed, tell)
                reports.store_report(settings, key, result)
    if output is not None:
        output.write_bytes(_rendered(result, kind))
    if as_json:
        import json

        typer.echo(json.dumps(result.document(), default=str))
    elif output is None:
        _print(result)
    else:
        typer.echo(f"Report on {result.facts.rows:,} rows in {output}.", err=True)


def _kind_of(output: Path | None) -> str:
    from dynabench.insight.data_reports.files import FORMATS
    from dynabench.kit import errors

    kind = output.suffix.lower().removeprefix(".") if output else "json"
    if kind not in FORMATS:
        raise errors.Invalid({"output": f"Choose a name that ends in {', '.join(f'.{name}' for name in FORMATS)}."})
    return kind


def _rendered(report: "DataReport", kind: str) -> bytes:
    from dynabench.insight.data_reports.files import FORMATS

    return FORMATS[kind].render(report)


@contextmanager
def _opened(source: str) -> "Iterator[DataSource | None]":
    """Give the data that a name means; None for no name."""
    from dynabench.insight.data_reports import sources

    path = Path(source)
    if not source:
        yield None
    elif source.startswith(NAMED) and not path.exists():
        yield _named(source)
    elif path.exists() or source.count("/") != 1 or path.suffix:
        yield sources.file_source(path)
    else:
        yield _named(f"dataset:{source}")


def _named(source: str) -> "DataSource":
    """The rows of a dataset that everybody may read."""
    from dynabench.insight.data_reports import subjects

    settings = get_settings()
    with database() as db:
        subject = db.read(subjects.find_subject, settings, None, source, "source")
    return subjects.open_subject(settings, subject)


def _print(report: "DataReport") -> None:
    from rich.console import Console
    from rich.table import Table

    from dynabench.insight.data_reports import exports

    console = Console()
    facts = report.facts
    console.print(
        f"{facts.name}: {facts.rows:,} rows, columns {', '.join(facts.columns['texts'])}", style="bold", markup=False
    )
    if report.other:
        console.print(f"compared with {report.other.name}: {report.other.rows:,} rows", markup=False)
    for _name, title, _about, result in exports.sections(report):
        console.print(f"\n{title}: {result.finding}", markup=False)
        table = Table("", "value", "95% interval", "n", show_edge=False)
        for figure in result.figures:
            n = "" if figure.n is None else f"{figure.n:,}"
            table.add_row(figure.label, exports.figure_value(figure), exports.figure_interval(figure), n)
        console.print(table)
