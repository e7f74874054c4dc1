"""`dynabench evaluate list`, `show` and `run`: modules, cards and results as tables in the terminal and as HTML."""

from collections.abc import Iterator, Mapping
from html import escape as escape_text
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.progress import track
from rich.table import Table
from rich.text import Text

from dynabench import __version__
from dynabench.cli.evaluation_run import RunOutcome, RunScore
from dynabench.evaluate import loading
from dynabench.evaluate.inputs import ExampleReport, check_examples
from dynabench.evaluate.loading import missing_requirement
from dynabench.evaluate.module import Module
from dynabench.evaluate.results import ResultLine, range_text, result_lines

MIB = 1024 * 1024


def describe_speed(timing: Mapping[str, Any]) -> dict[str, str]:
    """Return the evaluator's measurements in words, by name; without warm-up, data loading and metrics."""
    if not timing:
        return {}
    words = {"inference": f"{timing['total_time_in_seconds']:.3g} s, {timing['samples_per_second']:.4g} examples/s"}
    if timing.get("tokens_per_second"):
        words["tokens"] = f"{timing['tokens_per_second']:.4g} a second"
    parts = [
        f"{name} {timing[f'latency_{name}_in_seconds'] * 1000:.3g} ms"
        for name in ("p50", "p95", "p99")
        if timing.get(f"latency_{name}_in_seconds") is not None
    ]
    if parts:
        words["latency of an example"] = f"{', '.join(parts)} in batches of {timing['batch_size']}"
    if timing.get("peak_memory_in_bytes"):
        words["peak memory"] = f"{timing['peak_memory_in_bytes'] / MIB:,.0f} MiB"
    machine = timing.get("hardware") or {}
    if machine:
        device = machine.get("accelerator") or machine.get("processor")
        words["hardware"] = f"{device}, {machine.get('cores')} cores"
    return words


def list_modules(kind: str, task: str, check: bool) -> list[dict[str, Any]]:
    """A row for each module; `lacks` says what is missing here.

    With `check`, `failures` says which examples went wrong, `lacking` which need what is not installed.
    """
    modules = [*loading.builtin_modules(), *loading.plugin_modules()]
    candidates = [
        (module_kind, name, loading.find_module(name, module_kind))
        for module_kind, name in modules
        if kind in ("", module_kind)
    ]
    chosen = [item for item in candidates if not task or task in item[2].card.tasks]
    return [_module_row(*item, check) for item in (track(chosen, "Computing", transient=True) if check else chosen)]


def _module_row(kind: str, name: str, module: type[Module], check: bool) -> dict[str, Any]:
    lacks = missing_requirement(module)
    looked = check_examples(module) if check and not lacks else ExampleReport()
    return {
        "kind": kind,
        "name": name,
        "description": module.card.description,
        "tasks": list(module.card.tasks),
        "outputs": [item.name for item in module.card.outputs],
        "lacks": lacks,
        "checked": check and not lacks,
        "failures": looked.failures,
        "lacking": looked.lacking,
    }


def module_table(modules: list[dict[str, Any]], check: bool) -> RenderableType:
    """The rows for people, and how many there are."""
    table = Table("module", "kind", "what it says", "here", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for item in modules:
        state = Text("lacks " + item["lacks"], "yellow") if item["lacks"] else Text("runs", "green")
        if item["checked"]:
            state = Text("wrong", "bold red") if item["failures"] else Text("checked", "green")
        line = item["description"].split(". ")[0].rstrip(".")
        table.add_row(Text(item["name"], "bold"), item["kind"], escape(line), state)
    wrong = [Text(f"{item['name']}: {text}", "red") for item in modules for text in item["failures"]]
    partly = [Text(f"{item['name']}: {text}", "yellow") for item in modules for text in item["lacking"]]
    lacking = sum(bool(item["lacks"]) for item in modules)
    total = f"{len(modules)} modules, {lacking} of which cannot run here"
    return Group(table, *partly, *wrong, Text(total + (f", {len(wrong)} examples are wrong" if check else ""), "dim"))


def module_document(module: type[Module]) -> dict[str, Any]:
    """A card as JSON."""
    card = module.card
    return {
        "name": module.name_of(),
        "kind": module.kind,
        "description": card.description,
        "formula": card.formula,
        "inputs": dict(card.inputs),
        "options": dict(card.options),
        "configs": list(module.configs),
        "outputs": [vars(item) for item in card.outputs],
        "limits": card.limits,
        "citation": card.citation,
        "tasks": list(card.tasks),
        "references": list(card.references),
        "lacks": missing_requirement(module),
    }


def module_card(module: type[Module]) -> RenderableType:
    """A card for people."""
    card = module.card
    parts: list[RenderableType] = [Text.assemble((module.name_of(), "bold"), f"  {module.kind}"), card.description, ""]
    parts += [_indented(card.formula), ""]
    parts += [_terms("Columns", {name: _column(module, name, text) for name, text in card.inputs.items()})]
    if card.options:
        parts += [_terms("Options", card.options)]
    parts += [_terms("Result", {item.name: f"{item.text} ({range_text(item)})" for item in card.outputs})]
    parts += [Text("Limits", "bold"), _indented(card.limits), ""]
    parts += [Text("Examples", "bold"), *(_indented(_example(item)) for item in card.examples), ""]
    parts += [Text("Source", "bold"), _indented(card.citation)]
    if missing_requirement(module):
        parts += ["", Text(f"Cannot run here: lacks {missing_requirement(module)}", "yellow")]
    return Group(*(escape(part) if isinstance(part, str) else part for part in parts))


def _column(module: type[Module], name: str, text: str) -> str:
    return f"{text} (may be left out)" if name in module.optional else text


def _terms(title: str, terms: Any) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, text in terms.items():
        table.add_row(Text(name, "cyan"), Text(text))
    return Group(Text(title, "bold"), Padding(table, (0, 0, 1, 2)))


def _example(example: Any) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in {**example.inputs, **example.options}.items())
    gives = f"error: {example.error}" if example.error else repr(dict(example.result))
    return f"{example.title}: compute({arguments})\n  {gives}"


def _indented(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 2))


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


def result_tables(outcome: RunOutcome) -> Iterator[RenderableType]:
    """One table of all scores, then how long it took."""
    table = Table(title=None)
    for name in ("metric", *([outcome.run.by] if outcome.run.by else []), "rows", "key", "value", "interval"):
        table.add_column(name, justify="right" if name in ("rows", "value") else "left")
    for score in outcome.scores:
        for line in _lines(score):
            group = [score.value if score.value is not None else Text("all", "dim")] if outcome.run.by else []
            table.add_row(Text(score.metric.title), *group, f"{score.rows:,}", line.name, line.text, _span(line))
    yield table
    if outcome.timing:
        yield Text(" · ".join(f"{name} {value}" for name, value in describe_speed(outcome.timing).items()), "dim")


def html_report(outcome: RunOutcome) -> str:
    """The report: scores with their intervals, pictures where they can be drawn, and what was asked."""
    run = outcome.run
    title = f"{run.model or 'Predictions'} on {run.data}"
    by_metric: dict[str, list[RunScore]] = {}
    for item in outcome.scores:
        by_metric.setdefault(item.metric.title, []).append(item)
    sections = "".join(_section(outcome, scores, name) for name, scores in by_metric.items())
    facts = {"model": run.model, "task": run.task, "data": run.data, "split": run.split, "rows": f"{outcome.rows:,}"}
    facts |= describe_speed(outcome.timing)
    facts["made by"] = f"dynabench {__version__}"
    listed = "".join(
        f"<dt>{escape_text(name)}</dt><dd>{escape_text(str(text))}</dd>" for name, text in facts.items() if text
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape_text(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<h1>{escape_text(title)}</h1>{sections}<h2>What was evaluated</h2><dl>{listed}</dl></body></html>\n"
    )


def _section(run_result: RunOutcome, scores: list[RunScore], title: str) -> str:
    card = scores[0].metric.kind.card
    head = f'<th scope="col">{escape_text(run_result.run.by)}</th>' if run_result.run.by else ""
    rows = "".join(_result_row(run_result, score, line) for score in scores for line in _lines(score))
    level = f", with {run_result.run.level:.0%} intervals" if run_result.run.level else ""
    picture = _picture(run_result, scores[0]) if run_result.scores[0] is scores[0] else ""
    return (
        f'<h2><code>{escape_text(title)}</code></h2><p class="soft">{escape_text(card.description)}</p><table>'
        f'<caption>{run_result.rows:,} rows{level}</caption><thead><tr>{head}<th scope="col">key</th>'
        f'<th scope="col" class="num">rows</th><th scope="col" class="num">value</th><th scope="col">interval</th>'
        f'<th scope="col"></th></tr></thead><tbody>{rows}</tbody></table>{picture}'
        f'<p class="soft">{escape_text(card.limits)}</p>'
    )


def _picture(run_result: RunOutcome, score: RunScore) -> str:
    """Return the first metric's result as an SVG figure; empty where vl-convert is not installed."""
    try:
        import vl_convert

        from dynabench.evaluate.results import chart_of_result

        drawn = chart_of_result(score.metric.kind, run_result.columns, {})
    except ImportError:
        return ""
    if drawn is None:
        return ""
    svg = vl_convert.vegalite_to_svg({**drawn.spec, "width": 480})
    return f'<figure class="picture"><figcaption>{escape_text(drawn.title)}</figcaption>{svg}</figure>'


def _result_row(run_result: RunOutcome, score: RunScore, line: ResultLine) -> str:
    group = f'<th scope="row">{escape_text(score.value or "all")}</th>' if run_result.run.by else ""
    interval = escape_text(_span(line))
    cells = f'<td class="num">{score.rows:,}</td><td class="num">{escape_text(line.text)}</td><td>{interval}</td>'
    return f"<tr>{group}<td><code>{escape_text(line.name)}</code></td>{cells}<td>{_scale(line)}</td></tr>"


def _scale(line: ResultLine) -> str:
    """The number as a dot between the ends of its range, with its interval as a bar."""
    if line.scale is None or not isinstance(line.value, int | float):
        return ""
    bar = ""
    if line.low is not None and line.high is not None:
        bar = f'<line class="range" x1="{line.at(line.low)}%" x2="{line.at(line.high)}%" y1="8" y2="8"/>'
    base, dot = '<line x1="0" x2="100%" y1="8" y2="8"/>', f'<circle cx="{line.at(line.value)}%" cy="8" r="5"/>'
    return f'<svg width="100%" height="16" aria-hidden="true">{base}{bar}{dot}</svg>'


def _lines(score: RunScore) -> list[ResultLine]:
    if score.error:
        return [ResultLine("\N{EN DASH}", score.error)]
    return result_lines(score.metric.kind.card, score.result)


def _span(line: ResultLine) -> str:
    if line.low is None or line.high is None:
        return ""
    return f"{line.low:.4g} to {line.high:.4g}"
