"""Fooling rules and metrics, which both older dialects write nearly alike."""

from dataclasses import dataclass
from typing import Any

from dynabench.kit.language import _, joined
from dynabench.tasks.reading import NoteKind
from dynabench_older_dialects.draft import Draft
from dynabench_older_dialects.notes import Part, becomes

PERF_KEYS = ("perf_metric", "delta_metrics", "aggregation_metric", "train_file_metric")
_NO_METRIC = _("A config's metrics cannot include it; the board uses accuracy instead.")
_DATAPERF = _("It scores submitted training sets, which no config asks for.")


@dataclass(frozen=True)
class Metric:
    """Conversion of an older metric; without a name it has no counterpart."""

    becomes: str
    kind: NoteKind = "same"
    note: str = ""


METRICS = {
    "accuracy": Metric("accuracy", note=_("one of several accepted answers is enough, as before")),
    "new_accuracy": Metric("accuracy"),
    "macro_f1": Metric("f1", "changed", _("for choices it is the macro average, from 0 to 1")),
    "f1": Metric("f1", "changed", _("for choices it is the macro average, not that of one label")),
    "squad_f1": Metric(
        "f1", "changed", _("for texts and spans it is the F1 of shared words, the best over the answers")
    ),
    "bleu": Metric("sacrebleu"),
    "sp_bleu": Metric(
        "sacrebleu", "changed", _("spBLEU needs an extra file: compute it from exports with the library")
    ),
    "chrf": Metric("chrf"),
    "chrf_pp": Metric("chrf_plus_plus"),
    "vqa_accuracy": Metric("vqa_accuracy"),
    "matthews_correlation": Metric("matthews_correlation"),
    "kullback_leibler_divergence": Metric("", "dropped", _NO_METRIC),
    "dataperf_f1": Metric("", "dropped", _DATAPERF),
    "dataperf_auc": Metric("", "dropped", _DATAPERF),
    "dataperf_balanced_accuracy": Metric("", "dropped", _DATAPERF),
    "dataperf_fraction_of_fixes": Metric("", "dropped", _DATAPERF),
}


def fooling(draft: Draft, part: Part, kind: str, arguments: Part) -> None:
    """The fooling rule of a metric of old: its type stands under `kind`, its arguments in `arguments`."""
    message = part[kind]
    line = part.notes.lines.get(part.path)
    rule: dict[str, Any]
    if message.text == "exact_match":
        rule = {"rule": "differs"}
        message.say("same", _("%(rule)s. Case and spacing of texts are ignored.", rule="fooled: differs"))
    elif message.text == "string_f1":
        rule = {"rule": "f1_below"}
        message.say("same", "fooled: f1_below")
        threshold = arguments.take("threshold", becomes("fooled.threshold"))
        if threshold is not None:
            rule["threshold"] = threshold
    elif message.text == "ask_user":
        rule = {"rule": "judged_by_annotator"}
        message.say("same", _("%(rule)s. Validators answer the same question.", rule="fooled: judged_by_annotator"))
    else:
        entries = "exact_match, string_f1, ask_user"
        text = _(
            "“%(name)s” is not a rule of the older dialects. Known: %(known)s.", name=message.text[:60], known=entries
        )
        message.say("wrong", text)
        return
    if draft.chats:
        message.say(
            "dropped", _("Chat models are fooled according to the annotator's claim; see the reference of chat.")
        )
        return
    draft.put("fooled", rule, line)


def fooling_fields(draft: Draft, part: Part) -> None:
    """`reference_names` or `reference_name`: the answers that count. Read once all fields are known."""
    for key in ("reference_names", "reference_name"):
        if key not in part:
            continue
        request = [item.text for item in part.items(key)]
        answers = [item["name"] for item in draft.fields["answer"]]
        named = [draft.names.get(name, name) for name in request]
        if missing := [name for name in named if name not in answers]:
            text = _("There is no answer %(names)s: name fields that models return.", names=", ".join(missing)[:100])
            part[key].say("wrong", text)
        elif set(named) == set(answers) or "fooled" not in draft.parts:
            part[key].say("same", _("all answers count"))
        else:
            part[key].say("same", becomes("fooled.fields"))
            draft.parts["fooled"]["fields"] = named


def scoring(draft: Draft, source: Part) -> None:
    """`perf_metric` and what belongs to it: the metrics of boards."""
    metrics: dict[str, Any] = {}
    for part in source.items("perf_metric"):
        _perf(metrics, part)
    perturbed = []
    for part in source.items("delta_metrics"):
        if part["type"].text in ("fairness", "robustness"):
            perturbed.append(part["type"].text)
            key = f"metrics.perturb: {part['type'].text}"
            part.say("same", _("%(key)s. Perturbed copies of datasets can be made here.", key=key))
        else:
            part.say("dropped", _("Only fairness and robustness are supported."))
    if perturbed:
        metrics["perturb"] = list(dict.fromkeys(perturbed))
    if metrics:
        draft.put("metrics", metrics, source.notes.lines.get(("perf_metric",)))
    _aggregated(source)
    source.drop({"train_file_metric": _DATAPERF})


def _perf(metrics: dict[str, Any], part: Part) -> None:
    text = part["type"] if part.keys() else part
    entries = METRICS.get(
        text.text, Metric("", "dropped", joined(" ", (_("There is no metric of this name."), _NO_METRIC)))
    )
    if not entries.becomes:
        text.say(entries.kind, entries.note)
    else:
        place = "report" if "primary" in metrics else "primary"
        answer = f"metrics.{place}: {entries.becomes}"
        text.say(entries.kind, joined("; ", (answer, entries.note)) if entries.note else answer)
        if place == "primary":
            metrics["primary"] = entries.becomes
        elif entries.becomes not in (metrics["primary"], *metrics.get("report", ())):
            metrics.setdefault("report", []).append(entries.becomes)
    part.take("reference_name", _("metrics use the answer; nothing to configure"))


def _aggregated(source: Part) -> None:
    part = source["aggregation_metric"]
    if "aggregation_metric" not in source:
        return
    text = part["type"] if part.keys() else part
    if text.text == "dynascore":
        text.say("same", _("every board has the Dynascore"))
    else:
        text.say("dropped", _("Boards only have the Dynascore."))
    part.drop({"default_weights": _("Weights belong to boards, not tasks: set them there and keep the link.")})
