"""Values to draw every template with: made of the platform's own types wherever there is one."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Thing

from dynabench.benchmark.evaluations.measures import find_measure
from dynabench.benchmark.leaderboards.best_models import BestModel, BoardSummary
from dynabench.benchmark.leaderboards.saturation_plot import sample_plot
from dynabench.benchmark.ranking import DisplayedScore
from dynabench.benchmark.standings import Entrant, ScoreCell
from dynabench.collection.attributions import Overlap
from dynabench.collection.boards import Mine, RoundRank
from dynabench.collection.create_page import SILENT
from dynabench.collection.eligibility import Goal
from dynabench.collection.figure_schemas import BoardPage, BoardRow, FigureRateOut
from dynabench.collection.overview import Excerpt
from dynabench.collection.programs import Board, ProgramComparison, ProgramLine
from dynabench.collection.round_examples import ExampleFilters, ExamplesPage
from dynabench.collection.schemas import ExampleOut, HandoutOut, OutcomeOut, PredictionOut
from dynabench.collection.statistics import ExampleFigures, RoundStatistics
from dynabench.kit.errors import Unavailable
from dynabench.rounds.demo import DemoProgress
from dynabench.rounds.schemas import RoundOut, TargetOut
from dynabench.site.home.continuing import Continuation
from dynabench.site.home.pages import counter_texts, index_values
from dynabench.site.home.saturation_chart import saturation_chart
from dynabench.site.home.task_index import SORTS, TaskFilter, TaskLine
from dynabench.site.home.totals import Totals
from dynabench.stats.rates import (
    UNKNOWN,
    ErrorCounts,
    clustered_error_rates,
    clustered_rate,
    error_rates,
    human_model_gap,
    rate_difference,
    wilson,
)
from dynabench.tasks.shipped import shipped_tasks
from dynabench.web import charts

NOW = datetime.now(UTC)
CONFIGS = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}
NLI, SENTIMENT = CONFIGS["nli"], CONFIGS["sentiment"]
ADA = Thing(id=7, username="ada.lovelace", public_name="ada.lovelace", admin=False, known_languages=["en"])
PREMISE = "Two hikers eat lunch on a bridge while a storm gathers behind them."
HYPOTHESIS = "They finished eating at home."


def _round(task="nli", number=4, state="open"):
    targets = [TargetOut(model=f"{task}-{kind}", version="5f1e0c9a77d2b3e4") for kind in ("minilm", "ngram")]
    opened = NOW - timedelta(days=6, hours=3)
    return RoundOut(task=task, number=number, state=state, targets=targets, ensemble="any", version=1,
                    created_at=opened, opened_at=opened, closed_at=None)  # fmt: skip


def _prediction(model, label, shares, fooled):
    return PredictionOut(model=model, answer={"label": label}, probabilities=shares, fooled=fooled, latency_ms=12.4)


def _outcome(fooled, number=31):
    first = {"entailment": 0.71, "neutral": 0.19, "contradiction": 0.1}
    second = {"entailment": 0.06, "neutral": 0.11, "contradiction": 0.83}
    text = "entailment" if fooled else "contradiction"
    predictions = [_prediction("nli-minilm", text, first if fooled else second, fooled)]
    predictions.append(_prediction("nli-ngram", "contradiction", second, False))
    seconds, attempt = (41.8, 3) if number else (None, None)
    return OutcomeOut(
        id=number, predictions=predictions, fooled=fooled, latency_ms=27.3, attempt=attempt, seconds=seconds
    )


def _try(attempt, text, fooled, verdict="pending", retracted=False):
    outcome = _outcome(fooled).model_dump() | {"attempt": attempt, "id": 20 + attempt}
    return ExampleOut(**outcome, task="nli", round=4, context_id=3, context={"premise": PREMISE},
                      input={"hypothesis": text}, answer={"label": "contradiction"}, made_from=None, source="person",
                      start="blank", verdict=verdict, retracted=retracted, explanation=None, at=NOW)  # fmt: skip


TRIES = [
    _try(3, HYPOTHESIS, True),
    _try(2, "The hikers are swimming below the bridge.", False, retracted=True),
    _try(1, "Nobody is on the bridge.", False),
]
MINE = Mine(
    examples=48,
    fooled=17,
    outcome_known=48,
    validated=9,
    today=12,
    streak=3,
    mer=FigureRateOut(value=17 / 48, low=0.234, high=0.497),
)
CREATE = {
    "task": "nli", "config": NLI, "round": _round(), "sandbox": False, "mine": MINE, "key": "k1", "errors": {},
    "handout": HandoutOut(id=3, values={"premise": PREMISE}, goal={"label": "contradiction"}, start="blank",
                          initial={}),
    "values": {"input": {}, "answer": {}}, "problem": "", "tries": [], "outcome": None, "tried": None, "asks": True,
    "against": ["nli-minilm", "nli-ngram"],
    "explanation": SILENT, "retracted": False, "asked_for": NLI.ask,
    "changes": [], "overlaps": {}, "goals": [], "quota": None, "announcements": [], "checks": 4, "worked": [],
    "place": RoundRank(rank=2, people=7), "progress": {"examples": 312, "validated": 61},
}  # fmt: skip
TRIED = {
    "context_id": 3,
    "context": {"premise": PREMISE},
    "input": {"hypothesis": HYPOTHESIS},
    "answer": {"label": "contradiction"},
}
ANSWERED = CREATE | {
    "values": {"input": {"hypothesis": HYPOTHESIS}, "answer": {}}, "outcome": _outcome(True), "tried": TRIED,
    "tries": TRIES,
}  # fmt: skip
SANDBOX = CREATE | {
    "task": "sentiment", "config": SENTIMENT, "round": _round("sentiment"), "sandbox": True, "mine": None,
    "place": None, "checks": None,
    "handout": HandoutOut(id=9, values={}, goal=None, start="prompt", initial={"statement": "The hotel was quiet."}),
    "values": {"input": {"statement": "The hotel was quiet."}, "answer": {}},
}  # fmt: skip
REFUSED = CREATE | {
    "values": {"input": {"hypothesis": "<b>bold</b> " * 60}, "answer": {}},
    "errors": {"input.hypothesis": "This has 720 characters; the limit is 500."},
}


def figures(*people):
    """Figures of people given as (examples, fooled, validated, resolved)."""
    counts = [ErrorCounts(*person) for person in people]
    total = sum(counts, ErrorCounts())
    return ExampleFigures(total, 3, 0, len(counts), error_rates(total), clustered_error_rates(counts))


def statistics():
    days = [f"{NOW - timedelta(days=back):%Y-%m-%d}" for back in range(5, -1, -1)]
    by_day = {day: figures((30 + 9 * i, 12 + i, max(9 - i, 1), 11), (22, 7, 4, 5)) for i, day in enumerate(days)}
    start = {"blank": figures((160, 41, 24, 33)), "prompt": figures((152, 77, 58, 66))}
    source = {"person": figures((280, 96, 70, 84)), "expert": figures((32, 22, 12, 15))}
    people = human_model_gap([2, 1, 2, 2] * 10, [2, 2, 2, 2] * 10, [1, 0, 1, 0] * 10, [2, 2, 2, 2] * 10)
    total = figures((180, 60, 44, 52), (100, 44, 30, 37), (32, 14, 8, 10))
    return RoundStatistics(
        total,
        people.human,
        people.difference,
        {"day": by_day, "start": start, "source": source},
        model_accuracy=people.model,
    )


def drawn(figures):
    """The charts of a round's page."""
    by = figures.by
    created = [
        charts.rates_per_day(
            *[[(day, element.rates.mer, element.rates.vmer) for day, element in by["day"].items()]] * 2
        ),
        charts.rates_by_condition([(name, item.rates.vmer) for name, item in by["start"].items()]),
        charts.rates_by_condition([(name, this_item.rates.vmer) for name, this_item in by["source"].items()]),
    ]
    return [chart for chart in created if chart]


HISTORY = [(1, wilson(130, 300)), (2, wilson(90, 280)), (3, wilson(61, 310)), (4, wilson(82, 312))]
TARGETS_OF_ROUNDS = ["nli-ngram", "nli-minilm", "nli-minilm", "nli-pair"]
SPECIMENS = [
    {"task": "nli", "task_name": NLI.name, "round": 4, "context": [Excerpt(NLI.context[0], PREMISE, {})],
     "input": [Excerpt(NLI.input[0], HYPOTHESIS, {})], "answer": "contradiction", "votes": 2,
     "said": [("nli-minilm", "entailment")]},
    {"task": "sentiment", "task_name": "Sentiment", "round": 2, "context": [],
     "input": [Excerpt(SENTIMENT.input[0], "My toaster could have written the plot, and I would see it twice.", {})],
     "answer": "positive", "said": [("sentiment-minilm", "negative"), ("sentiment-ngram", "negative")], "votes": 3},
    {"task": "sentiment", "task_name": "Sentiment", "round": 2, "context": [],
     "input": [Excerpt(SENTIMENT.input[0], "Great service, if you enjoy waiting an hour for a closed kitchen.", {})],
     "answer": "negative", "said": [("sentiment-minilm", "positive")], "votes": 2},
]  # fmt: skip


def task_line(config, metric, skill, human, waiting):
    """A task of the indexes with one scored model and people's answers, and a round whose best score rose twice."""
    name = f"{config.id}-minilm"
    entrants = [Entrant(at, name, "installed", name, "1", NOW - timedelta(days=90 - 30 * at)) for at in range(3)]
    records = tuple((entrant, ScoreCell(skill - 0.1 * (2 - entrant.id), None, None, 300)) for entrant in entrants)
    best = BestModel(entrants[-1], DisplayedScore(100 * skill, 100 * skill - 4, 100 * skill + 4), 300)
    board = BoardSummary(find_measure(metric), 3, best, 2, ("en",), {1: records, 2: records[:2]})
    people = wilson(round(200 * human), 200)
    return TaskLine(
        id=config.id, name=config.name, description=config.description, warning=False, trains=False,
        modalities=("text",), round=4, rounds=4, targets=(f"{config.id}-minilm",), examples=312, recent=42,
        waiting=waiting, history=tuple(HISTORY), people=people, people_by_round={1: people, 2: people}, board=board,
    )  # fmt: skip


LINES = [task_line(SENTIMENT, "accuracy", 0.58, 0.94, 4), task_line(NLI, "accuracy", 0.71, 0.92, 0)]
STATEMENT = "The hotel was as quiet as the brochure promised, and so was everybody who tried the buffet."
BOX = {
    "task": "sentiment", "config": SENTIMENT, "context_id": 9, "models": ["sentiment-minilm"], "context": {},
    "context_fields": [], "goal": None, "values": {"input": {}, "answer": {}}, "errors": {},
    "outcome": None, "tried": None,
}  # fmt: skip
BOX_ANSWERED = BOX | {
    "values": {"input": {"statement": STATEMENT}, "answer": {"label": "negative"}},
    "tried": {"context_id": 9, "input": {"statement": STATEMENT}, "answer": {"label": "negative"}},
    "outcome": OutcomeOut(
        id=None, fooled=True, latency_ms=21.0, attempt=None, seconds=None,
        predictions=[_prediction("sentiment-minilm", "positive", {"positive": 0.91, "neutral": 0.06, "negative": 0.03},
                                 True)]),
}  # fmt: skip
TOTALS = Totals(
    open_rounds=2, playing=3, last_at=NOW, examples=552, with_outcome=552, fooled=224, verified=143, votes=611,
    people=31, week_examples=84, week_people=9, models=6, datasets=4,
)  # fmt: skip
TARGETS = [
    ("nli-minilm", figures((180, 40, 30, 36), (132, 20, 12, 15))),
    ("nli-ngram", figures((180, 90, 50, 60), (132, 60, 30, 44))),
]
CHARTS = [chart for line in LINES if (chart := saturation_chart(line))]
HOME = {
    "lines": LINES, "total": 2, "sorts": SORTS, "totals": TOTALS, "counters": counter_texts(TOTALS),
    "specimens": SPECIMENS, "chart": CHARTS[0], "charts": CHARTS, "sample": sample_plot(),
    "box_tasks": LINES, "box": BOX, "progress": None,
    "continuation": None,
}  # fmt: skip
NOTHING = Totals(0, 0, None, *[0] * 10)
INDEX = index_values(LINES, TaskFilter(), "active")
NO_LINES = index_values([], TaskFilter(), "active")


def _item(config, mode, context, text, answer):
    field = config.input[0].name
    return Thing(example_id=31, mode=mode, context=context, input={field: text}, answer=answer, config=config,
                 round=_round(config.id), model_answers=[], expires_at=NOW + timedelta(minutes=10))  # fmt: skip


JUDGE = {
    "task": "nli", "config": NLI, "outcome": None, "voted_context": {}, "today": 12, "checks": 4,
    "problem": "", "errors": {}, "values": {},
    "item": _item(NLI, "judge", {"premise": PREMISE}, HYPOTHESIS, {"label": "contradiction"}),
}  # fmt: skip


def stored_predictions(predictions):
    """Predictions as the database has them: with what holds of them now."""
    return [Thing(**prediction.model_dump(), errs=prediction.fooled) for prediction in predictions]


LAST = Thing(
    id=5, vote="correct", verdict="pending", votes=1, config=NLI,
    predictions=stored_predictions(_outcome(True).predictions),
    example_id=30,
    content=Thing(context={}, input={"hypothesis": "Nobody is near the water."}, answer={"label": "contradiction"}),
)  # fmt: skip
BLIND = JUDGE | {
    "task": "sentiment", "config": SENTIMENT, "outcome": None,
    "item": _item(SENTIMENT, "answer", {"prompt": "x"}, SPECIMENS[2]["input"][0].value, None),
}  # fmt: skip
BOARD = BoardPage(
    items=[
        BoardRow(rank=rank, name=name, source=source, examples=n, fooled=f, validated=v, resolved=v + 1, unknown=0,
                 mine=mine, mer=FigureRateOut(value=wilson(f, n).value, low=wilson(f, n).low, high=wilson(f, n).high))
        for rank, name, source, n, f, v, mine in [
            (1, "grace", "person", 61, 31, 22, False), (2, "quiet-heron", "expert", 40, 22, 12, False),
            (3, "ada.lovelace", "person", 48, 17, 9, True), (4, "emmy", "person", 12, 3, 1, False),
            (5, "ein-sehr-langer-name-ohne-ende-40-zeichen", "owner", 3, 0, 0, False)]
    ],
    next="50",
)  # fmt: skip
FIGURES = statistics()
PROGRAM = ErrorCounts(examples=320, fooled=121, validated=74, resolved=90)
PROGRAMS = Board(
    [ProgramLine("textfooler", "2", 1, PROGRAM, error_rates(PROGRAM), 41_200, 0.0),
     ProgramLine("language-model", "zero-shot", 2, PROGRAM, error_rates(PROGRAM), 640, 1.92)],
    mer=ProgramComparison(
        FIGURES.total.clustered.mer, wilson(242, 640), rate_difference(FIGURES.total.clustered.mer, wilson(242, 640))
    ),
    vmer=ProgramComparison(
        FIGURES.total.clustered.vmer, wilson(148, 640), rate_difference(FIGURES.total.clustered.vmer, wilson(148, 640))
    ),
)  # fmt: skip
ROUND = {
    "task": "nli", "config": NLI, "round": _round(), "numbers": [4, 3, 2, 1], "statistics": FIGURES,
    "charts": drawn(FIGURES), "waiting": 21, "targets": TARGETS, "lower_bound": True,
    "programs": PROGRAMS, "overlap": Overlap(marked=61, shared=24, chance=9.5), "goals": [Goal("verified", 400, 61)],
    "writers": BOARD, "findings": [("artifacts", "Artifacts", "No word tells")],
    "written": 312, "verified_count": 61, "filters": ExampleFilters(tag="rain", fooled="yes"),
    "page": ExamplesPage([card | {"fooled": True, "verdict": "correct", "writer": "ada"} for card in SPECIMENS], 12),
    "no_examples": "", "wrong": "", "tags": ["rain", "snow"], "writers_named": ["ada"], "after": None,
}  # fmt: skip
NO_PROGRAMS = Board([], ProgramComparison(UNKNOWN, UNKNOWN, UNKNOWN), ProgramComparison(UNKNOWN, UNKNOWN, UNKNOWN))
NO_FIGURES = RoundStatistics(figures(), clustered_rate([], []), clustered_rate([], []), {})
TASK = {
    "task": "nli", "config": NLI, "round": _round(), "numbers": [4, 3, 2, 1], "owners": ["grace"],
    "statistics": FIGURES, "chart": charts.rate_over_rounds(HISTORY, TARGETS_OF_ROUNDS), "examples": SPECIMENS[:1],
    "targets": TARGETS, "lower_bound": True,
}  # fmt: skip
NO_ROUND = {**dict.fromkeys(("round", "statistics", "chart")), "numbers": [], "examples": [], "owners": [],
            "targets": [], "lower_bound": False}  # fmt: skip

PAGES = {
    "home": ("home/home.html", HOME, None),
    "home-new": ("home/home.html", HOME | {"continuation": Continuation(LINES[0], new=True, check=LINES[0])}, ADA),
    "home-continued": (
        "home/home.html",
        HOME | {"continuation": Continuation(LINES[1], False, 6, 3, 12, 2, 31, LINES[0])},
        ADA,
    ),
    "home-answered": ("home/home.html", HOME | {"box": BOX_ANSWERED}, ADA),
    "home-empty": (
        "home/home.html",
        HOME | {"lines": [], "total": 0, "totals": NOTHING, "counters": counter_texts(NOTHING), "specimens": [],
                "chart": None, "charts": [], "box": None, "box_tasks": []},
        None,
    ),
    "home-starting": ("home/home.html", HOME | {
        "lines": LINES[:1], "box": None, "progress": DemoProgress(1, 4, frozenset({"qa", "nli", "vqa"}))}, None),
    "tasks": ("home/tasks.html", INDEX, None),
    "tasks-empty": ("home/tasks.html", NO_LINES, None),
    "leaderboards": ("home/leaderboards.html", INDEX, None),
    "task": ("rounds/task.html", TASK, ADA),
    "task-empty": ("rounds/task.html", TASK | NO_ROUND, None),
    "round": ("rounds/round.html", ROUND, ADA),
    "round-empty": (
        "rounds/round.html",
        ROUND | {"statistics": NO_FIGURES, "charts": [], "programs": NO_PROGRAMS, "overlap": Overlap(0, 0, 0.0)},
        None,
    ),
    "create": ("collection/create.html", CREATE | {"worked": SPECIMENS[:2]}, ADA),
    "create-answered": ("collection/create.html", ANSWERED, ADA),
    "create-not-fooled": ("collection/create.html", ANSWERED | {"outcome": _outcome(False)}, ADA),
    "create-sandbox": ("collection/create.html", SANDBOX, None),
    "create-refused": ("collection/create.html", REFUSED, ADA),
    "create-closed": ("collection/create.html", CREATE | {"round": None}, ADA),
    "board": ("collection/board.html", TASK | {"rounds": [4, 3], "board": BOARD, "mine": MINE, "after": ""}, ADA),
    "validate": ("validation/validate.html", JUDGE | {"outcome": LAST}, ADA),
    "validate-refused": ("validation/validate.html", JUDGE | {
        "values": {"vote": "incorrect"}, "errors": {"validation.reason": "Say what is wrong."}}, ADA),
    "validate-blind": ("validation/validate.html", BLIND, ADA),
    "validate-done": ("validation/validate.html", JUDGE | {"item": None, "outcome": LAST}, ADA),
    "error": ("web/error.html", {"problem": Unavailable("The model host has not answered for 2 s.")}, None),
}  # fmt: skip
STRIP = {
    "method": "gradient", "closer": "layer_integrated_gradients", "label": "entailment", "completeness_error": None,
    "fields": {
        "premise": [("Two", 0.1), ("hikers", -0.22), ("eat", 0.61), ("lunch", 0.8), ("on", 0.05), ("a", 0.0),
                    ("bridge", -0.35)],
        "hypothesis": [("They", 0.12), ("finished", -0.6), ("eating", 1.0), ("at", 0.02), ("home", -0.42),
                       (".", 0.03)]},
}  # fmt: skip
