"""Results of a run as tables in the terminal, and as one HTML file that needs nothing else."""

from collections.abc import Iterator
from html import escape

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dynabench import __version__
from dynabench.cli.evaluation.pace import pace
from dynabench.cli.evaluation.running import Found, Score
from dynabench.evaluate.results import ResultLine, result_lines

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1c1b18, #efece5); --soft: light-dark(#57534b, #b3ada1);
  --line: light-dark(#dfdbd1, #38352f); --models: light-dark(#1f5fbf, #7fb0f5); --paper: light-dark(#faf9f6, #161513); }
body { margin: 0 auto; padding: 40px 24px; max-width: 960px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 31px; line-height: 1.2; margin: 0 0 8px; } h2 { font-size: 20px; margin: 40px 0 8px; }
p { max-width: 68ch; } .soft { color: var(--soft); } code { font-family: ui-monospace, Menlo, Consolas, monospace; }
table { border-collapse: collapse; width: 100%; font-size: 14px; } caption { text-align: start; color: var(--soft); }
th, td { text-align: start; padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } tbody th { color: var(--ink); } .num { text-align: end; }
td:last-child { width: 40%; } svg { display: block; overflow: visible; } svg line { stroke: var(--line); }
svg .range { stroke: var(--models); stroke-width: 3; stroke-linecap: round; } svg circle { fill: var(--models); }
.picture { overflow-x: auto; background: #fff; border-radius: 8px; padding: 16px; margin: 16px 0; color: #1c1b18;
  width: fit-content; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; }
  dt { color: var(--soft); } dd { margin: 0; }
@media print { body { padding: 0; } }
"""


def tables(found: Found) -> Iterator[RenderableType]:
    """One table of all scores, then how long it took."""
    shown = Table(title=None)
    for name in ("metric", *([found.run.by] if found.run.by else []), "rows", "key", "value", "interval"):
        shown.add_column(name, justify="right" if name in ("rows", "value") else "left")
    for score in found.scores:
        for line in _lines(score):
            of = [score.value if score.value is not None else Text("all", "dim")] if found.run.by else []
            shown.add_row(Text(score.metric.title), *of, f"{score.rows:,}", line.name, line.text, _span(line))
    yield shown
    if found.timing:
        yield Text(" · ".join(f"{name} {value}" for name, value in pace(found.timing).items()), "dim")


def html(found: Found) -> str:
    """The report: scores with their intervals, pictures where they can be drawn, and what was asked."""
    run = found.run
    title = f"{run.model or 'Predictions'} on {run.data}"
    by_metric: dict[str, list[Score]] = {}
    for each in found.scores:
        by_metric.setdefault(each.metric.title, []).append(each)
    sections = "".join(_section(found, scores, name) for name, scores in by_metric.items())
    facts = {"model": run.model, "task": run.task, "data": run.data, "split": run.split, "rows": f"{found.rows:,}"}
    facts |= pace(found.timing)
    facts["made by"] = f"dynabench {__version__}"
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(text))}</dd>" for name, text in facts.items() if text)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<h1>{escape(title)}</h1>{sections}<h2>What was evaluated</h2><dl>{listed}</dl></body></html>\n"
    )


def _section(found: Found, scores: list[Score], title: str) -> str:
    card = scores[0].metric.kind.card
    head = f'<th scope="col">{escape(found.run.by)}</th>' if found.run.by else ""
    rows = "".join(_row(found, score, line) for score in scores for line in _lines(score))
    level = f", with {found.run.level:.0%} intervals" if found.run.level else ""
    picture = _picture(found, scores[0]) if found.scores[0] is scores[0] else ""
    return (
        f'<h2><code>{escape(title)}</code></h2><p class="soft">{escape(card.description)}</p><table>'
        f'<caption>{found.rows:,} rows{level}</caption><thead><tr>{head}<th scope="col">key</th>'
        f'<th scope="col" class="num">rows</th><th scope="col" class="num">value</th><th scope="col">interval</th>'
        f'<th scope="col"></th></tr></thead><tbody>{rows}</tbody></table>{picture}'
        f'<p class="soft">{escape(card.limits)}</p>'
    )


def _picture(found: Found, score: Score) -> str:
    """Return the first metric's result as an SVG figure; empty where vl-convert is not installed."""
    try:
        import vl_convert

        from dynabench.evaluate.results import chart_of_result

        drawn = chart_of_result(score.metric.kind, found.columns, {})
    except ImportError:
        return ""
    if drawn is None:
        return ""
    svg = vl_convert.vegalite_to_svg({**drawn.spec, "width": 480})
    return f'<figure class="picture"><figcaption>{escape(drawn.title)}</figcaption>{svg}</figure>'


def _row(found: Found, score: Score, line: ResultLine) -> str:
    of = f'<th scope="row">{escape(score.value or "all")}</th>' if found.run.by else ""
    cells = f'<td class="num">{score.rows:,}</td><td class="num">{escape(line.text)}</td><td>{escape(_span(line))}</td>'
    return f"<tr>{of}<td><code>{escape(line.name)}</code></td>{cells}<td>{_scale(line)}</td></tr>"


def _scale(line: ResultLine) -> str:
    """The number as a dot between the ends of its range, with its interval as a bar."""
    if line.scale is None or not isinstance(line.value, int | float):
        return ""
    bar = ""
    if line.low is not None and line.high is not None:
        bar = f'<line class="range" x1="{line.at(line.low)}%" x2="{line.at(line.high)}%" y1="8" y2="8"/>'
    base, dot = '<line x1="0" x2="100%" y1="8" y2="8"/>', f'<circle cx="{line.at(line.value)}%" cy="8" r="5"/>'
    return f'<svg width="100%" height="16" aria-hidden="true">{base}{bar}{dot}</svg>'


def _lines(score: Score) -> list[ResultLine]:
    if score.error:
        return [ResultLine("\N{EN DASH}", score.error)]
    return result_lines(score.metric.kind.card, score.result)


def _span(line: ResultLine) -> str:
    if line.low is None or line.high is None:
        return ""
    return f"{line.low:.4g} to {line.high:.4g}"
