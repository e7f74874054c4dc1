"""All sample pages: those of `samples`, and those of tasks with passages, seeds, perturbations and warnings."""

from types import SimpleNamespace as Thing

from dynabench.collection.forms import changes
from dynabench.collection.schemas import HandoutOut, OutcomeOut, PredictionOut, SeedOut, StartAnswerOut
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import shipped_tasks
from tests.web import samples
from tests.web.samples import ADA, CONFIGS, CREATE, JUDGE, LAST, SENTIMENT

QA = CONFIGS["qa"]
HATE = next(shipped_task.config for shipped_task in shipped_tasks() if shipped_task.config.id == "hate")
PASSAGE = next(
    item["values"]["passage"]
    for item in next(single for single in shipped_tasks() if single.config.id == "qa").contexts()
)
QUESTION = "What was there before anybody thought of it?"


def span(first: str, last: str = "") -> list[dict[str, object]]:
    """The answer from the word `first` to the word `last` of the passage."""
    start = PASSAGE.index(first)
    end = PASSAGE.index(last or first, start) + len(last or first)
    return [{"start": start, "end": end, "text": PASSAGE[start:end]}]


WORDS = PASSAGE.split()
MINE_SPAN, ITS_SPAN = span(" ".join(WORDS[3:7])), span(" ".join(WORDS[6:9]))


def _prediction(model, answer, shares, fooled):
    return PredictionOut(model=model, answer=answer, probabilities=shares, fooled=fooled, latency_ms=18.2)


def _outcome(predictions, fooled, edit=None, number=31, arm=""):
    return OutcomeOut(id=number, predictions=predictions, fooled=fooled, latency_ms=31.0, attempt=2, seconds=64.0,
                      edit_distance=edit, arm=arm)  # fmt: skip


QA_SAID = _prediction(
    "qa-minilm", {"answer": ITS_SPAN},
    {ITS_SPAN[0]["text"]: 0.62, MINE_SPAN[0]["text"]: 0.21, " ".join(WORDS[10:18]): 0.08, WORDS[0]: 0.01}, True,
)  # fmt: skip
QA_CREATE = CREATE | {
    "task": "qa", "config": QA, "round": samples._round("qa"), "asked_for": QA.ask,
    "handout": HandoutOut(id=4, handout=41, values={"passage": PASSAGE}, goal=None, start="blank", initial={}),
}  # fmt: skip
QA_TRIED = {"context_id": 4, "context": {"passage": PASSAGE}, "input": {"question": QUESTION},
            "answer": {"answer": MINE_SPAN}}  # fmt: skip
QA_ANSWERED = QA_CREATE | {
    "values": {"input": {"question": QUESTION}, "answer": {"answer": MINE_SPAN}}, "tried": QA_TRIED,
    "outcome": _outcome([QA_SAID], True), "overlaps": {"qa-minilm": 0.25},
    "tries": [{"id": 31, "attempt": 2, "input": {"question": QUESTION}, "answer": {"answer": MINE_SPAN}, "fooled": True,
               "asked": True, "made_from": None, "retracted": False, "hidden": False, "verdict": "pending"}],
}  # fmt: skip
QA_REFUSED = QA_CREATE | {
    "values": {"input": {"question": QUESTION}, "answer": {}},
    "errors": {"answer.answer": "Mark at least one word."},
}

SEED = "Our guide knew every stone of the city and made us laugh all day."
EDITED = "Our guide knew every joke of the city and made us yawn all day."
SAYS = [StartAnswerOut(model="sentiment-minilm", answer={"label": "positive"},
                probabilities={"positive": 0.83, "neutral": 0.12, "negative": 0.05}),
        StartAnswerOut(model="sentiment-ngram", answer={"label": "positive"},
                probabilities={"positive": 0.71, "neutral": 0.2, "negative": 0.09})]  # fmt: skip
SEEDED = CREATE | {
    "task": "sentiment", "config": SENTIMENT, "round": samples._round("sentiment"), "asked_for": SENTIMENT.ask,
    "handout": HandoutOut(id=9, handout=92, values={}, goal=None, start="seed", initial={"statement": SEED},
                          seed=SeedOut(input={"statement": SEED}, answer={"label": "positive"}, predictions=SAYS)),
    "values": {"input": {"statement": SEED}, "answer": {}},
}  # fmt: skip
SENTIMENT_SAID = [
    _prediction("sentiment-minilm", {"label": "positive"}, {"positive": 0.64, "neutral": 0.21, "negative": 0.15}, True),
    _prediction("sentiment-ngram", {"label": "negative"}, {"positive": 0.3, "neutral": 0.22, "negative": 0.48}, False),
]
SEED_ANSWERED = SEEDED | {
    "values": {"input": {"statement": EDITED}, "answer": {"label": "negative"}},
    "tried": {"context_id": 9, "context": {}, "input": {"statement": EDITED}, "answer": {"label": "negative"}},
    "outcome": _outcome(SENTIMENT_SAID, True, edit=9),
    "changes": changes(SENTIMENT.input, {"statement": SEED}, {"statement": EDITED}),
}
CONTROL = SEED_ANSWERED | {
    "asks": False, "outcome": _outcome([], False, edit=9, arm="control"),
    "handout": SEEDED["handout"].model_copy(update={"arm": "control", "seed": SeedOut(
        input={"statement": SEED}, answer={"label": "positive"}, predictions=[])}),
}  # fmt: skip

# Harmless words stand in for what people would write in this task.
PLAIN = "They serve dumplings on Mondays and noodles on every other day."
TURNED = "They serve dumplings on Mondays and good advice on every other day."


def _hate_said(label, share, fooled):
    shares = {label: share, "hateful" if label == "not-hateful" else "not-hateful": 1 - share}
    return _prediction("hate-minilm", {"label": label}, shares, fooled)


def _try(number, text, label, origin=None, verdict="pending"):
    return {"id": number, "attempt": number - 29, "input": {"statement": text}, "answer": {"label": label},
            "fooled": True, "asked": True, "made_from": origin, "retracted": False, "hidden": number == 30,
            "verdict": verdict}  # fmt: skip


PERTURB = CREATE | {
    "task": "hate", "config": HATE, "round": samples._round("hate"), "asked_for": HATE.ask,
    "handout": HandoutOut(
        id=2, handout=77, values={}, goal={"label": "hateful"}, start="perturb", initial={"statement": PLAIN},
        made_from=31, seed=SeedOut(input={"statement": PLAIN}, answer={"label": "not-hateful"}, predictions=[
            StartAnswerOut(model="hate-minilm", answer={"label": "not-hateful"},
                    probabilities={"not-hateful": 0.97, "hateful": 0.03})])),
    "values": {"input": {"statement": PLAIN}, "answer": {}},
    "tries": [_try(31, PLAIN, "not-hateful", verdict="correct"), _try(30, "Another plain sentence.", "not-hateful")],
}  # fmt: skip
PERTURBED = PERTURB | {
    "values": {"input": {"statement": TURNED}, "answer": {}},
    "tried": {"context_id": 2, "context": {}, "input": {"statement": TURNED}, "answer": {"label": "hateful"}},
    "outcome": _outcome([_hate_said("not-hateful", 0.91, True)], True, edit=11, number=32),
    "changes": changes(HATE.input, {"statement": PLAIN}, {"statement": TURNED}),
    "tries": [_try(32, TURNED, "hateful", origin=31), *PERTURB["tries"]],
}

QA_JUDGE = JUDGE | {
    "task": "qa", "config": QA,
    "item": Thing(example_id=31, mode="judge", context={"passage": PASSAGE}, input={"question": QUESTION},
                  answer={"answer": MINE_SPAN}, model_answers=[], config=QA, round=samples._round("qa"),
                  expires_at=samples.NOW),
}  # fmt: skip
QA_LAST = Thing(
    id=6, vote="incorrect", verdict="pending", votes=1, config=QA, predictions=samples.stored_predictions([QA_SAID]),
    example_id=29, content=Thing(context={}, input={"question": QUESTION}, answer={"answer": MINE_SPAN}),
)  # fmt: skip
HATE_JUDGE = JUDGE | {
    "task": "hate", "config": HATE,
    "item": Thing(example_id=33, mode="judge", context={}, input={"statement": PLAIN}, answer={"label": "not-hateful"},
                  config=HATE, model_answers=[], round=samples._round("hate"), expires_at=samples.NOW),
}  # fmt: skip


def _render(template: str, values: dict[str, object]) -> tuple[str, dict[str, object], object]:
    assert isinstance(values["config"], TaskConfig)
    return template, values, ADA


PAGES = samples.PAGES | {
    "qa-create": _render("collection/create.html", QA_CREATE),
    "qa-answered": _render("collection/create.html", QA_ANSWERED),
    "qa-refused": _render("collection/create.html", QA_REFUSED),
    "qa-validate": _render("validation/validate.html", QA_JUDGE),
    "qa-voted": _render("validation/validate.html", QA_JUDGE | {"outcome": QA_LAST, "voted_context": {
        "passage": PASSAGE}}),
    "qa-blind": _render("validation/validate.html", QA_JUDGE | {"item": Thing(**{
        **vars(QA_JUDGE["item"]), "mode": "answer", "answer": None})}),
    "seed": _render("collection/create.html", SEEDED),
    "seed-answered": _render("collection/create.html", SEED_ANSWERED),
    "control": _render("collection/create.html", CONTROL),
    "perturb": _render("collection/create.html", PERTURB),
    "perturbed": _render("collection/create.html", PERTURBED),
    "hate-validate": _render("validation/validate.html", HATE_JUDGE | {"outcome": LAST}),
    "warning": _render("collection/warning.html", {
        "task": "hate", "config": HATE, "next": "/tasks/hate/create", "days": 30}),
}  # fmt: skip
