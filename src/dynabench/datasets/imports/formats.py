"""Formats of imported rows: our own exports, SQuAD, and foreign rows translated by a mapping."""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from dynabench.datasets import rows
from dynabench.datasets.formats import GROUPS, JSON, drop_nulls
from dynabench.datasets.rows import MOMENT, ExampleRow
from dynabench.intake.mapping import ColumnMapping, ColumnSource, PredictionColumns, VoteColumns, translate_value
from dynabench.kit import errors
from dynabench.kit.csv_tables import unguarded
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text
from dynabench.tasks.rules.base import ensemble_fooled

JSON_CELLS = ("predictions", "validations", "assistance", "program", "attributions")
NUMBERS = ("task_version", "round", "edit_distance", "attempt", "seconds", "latency_ms")


def is_own_row(values: dict[str, Any]) -> bool:
    """Return whether a row of a file comes from an export of Dynabench."""
    return {"uid", "task_version", "predictions", "validations"} <= values.keys()


def read_own_row(values: dict[str, Any]) -> ExampleRow:
    """The row that a line of one of our files holds. Raises `Invalid`."""
    try:
        plain = _plain(values)
        rows.check_storable(plain)
        return ExampleRow.model_validate(plain)
    except ValidationError as problem:
        raise errors.Invalid(
            {".".join(map(str, error["loc"])): error["msg"] for error in problem.errors()[:5]}
        ) from None
    except orjson.JSONDecodeError as problem:
        raise errors.Invalid(
            {"row": _("A cell that holds JSON cannot be read: %(problem)s.", problem=problem)}
        ) from None
    except KeyError as problem:
        raise errors.Invalid({"row": _("The column %(problem)s is missing.", problem=problem)}) from None
    except (AttributeError, TypeError, ValueError):
        raise errors.Invalid({"row": _("This is not a row of an export: a column has an unexpected value.")}) from None


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(exact := values.get("exact"), str) and exact:
        document = orjson.loads(exact)
        return document if isinstance(document, dict) else {}
    if "condition.start" in values:
        return _from_cells(values)
    if isinstance(values.get("at"), datetime):
        return _from_columns(values)
    return values


def _from_cells(values: dict[str, Any]) -> dict[str, Any]:
    """A record of CSV: texts without their guard, numbers and JSON read."""
    document: dict[str, Any] = {name: _group(values, name) for name in GROUPS}
    document["context"] = {"values": document["context"], "tag": unguarded(values.get("tag", ""))}
    document["goal"] = document["goal"] or None
    explanation, at = document["explanation"], values.get("explanation.at")
    document["explanation"] = {"values": explanation, "at": at} if at else None
    document["condition"] = {
        "start": values["condition.start"],
        "arm": unguarded(values["condition.arm"]),
        "share": orjson.loads(values["condition.share"]) if values["condition.share"] else None,
        "ensemble": values["condition.ensemble"],
        "targets": orjson.loads(values["condition.targets"]),
        "assistant": values.get("condition.assistant") == "true",
        "inspired": values.get("condition.inspired") == "true",
        "model_written": values.get("condition.model_written") == "true",
    }
    document |= {name: orjson.loads(values[name]) for name in JSON_CELLS if values.get(name)}
    document |= {name: orjson.loads(values[name]) for name in NUMBERS if values.get(name)}
    document |= {"uid": unguarded(values["uid"]), "made_from": unguarded(values.get("made_from") or "") or None}
    document["fooled"] = {"true": True, "false": False}.get(values.get("fooled", ""))
    return document | {name: values[name] for name in ("task", "author", "source", "at", "verdict") if values.get(name)}


def _group(values: dict[str, Any], member: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, cell in values.items():
        field = name.removeprefix(f"{member}.")
        if field == name or not cell or (member, field) == ("explanation", "at"):
            continue
        plain = field.removesuffix(JSON)
        members[plain] = unguarded(cell) if plain == field else orjson.loads(cell)
    return members


def _from_columns(values: dict[str, Any]) -> dict[str, Any]:
    """A record of Parquet: structs without the members that are null, moments as text."""
    document = {name: value for name, value in values.items() if name in rows.COLUMNS}
    for name in ("context", "initial", "goal", "input", "answer", "explanation", "condition"):
        document[name] = drop_nulls(document.get(name))
    if isinstance(values.get("attributions"), str):
        document["attributions"] = orjson.loads(values["attributions"])
    document["predictions"] = [drop_nulls(part) for part in document.get("predictions") or []]
    document["validations"] = [drop_nulls(part) for part in document.get("validations") or []]
    for part in (document, document["explanation"] or {}, *document["validations"]):
        if isinstance(part.get("at"), datetime):
            part["at"] = part["at"].strftime(MOMENT)
    return document


MORE = "Questions with further gold answers; the first is the claim"


def is_squad(values: dict[str, Any]) -> bool:
    """Return whether a row is an article of SQuAD, or one question of its flat form."""
    flat = {"context", "question", "answers"} <= values.keys() and isinstance(values["answers"], dict | list | str)
    return isinstance(values.get("paragraphs"), list) or flat


def spans_field(config: TaskConfig) -> Field | None:
    """The answer that is marked in a text, if the task has one."""
    return next((field for field in config.answer if isinstance(field, Spans)), None)


def squad_fields(config: TaskConfig) -> tuple[str, str, str]:
    """The fields of passage, question and answer. Raises `Invalid` for tasks of another kind."""
    answer = spans_field(config)
    passage = getattr(answer, "of", None)
    question = next((field.name for field in config.input if isinstance(field, Text)), None)
    if answer is None or question is None or passage not in {field.name for field in config.context}:
        raise errors.Invalid({"format": _("SQuAD examples need a task whose answer is marked in its context.")})
    return str(passage), question, answer.name


def passages(article: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of an article, each with the article's title."""
    title = str(article.get("title") or "").replace("_", " ")[:100]
    for paragraph in article.get("paragraphs") or [article]:
        if isinstance(paragraph, dict) and isinstance(paragraph.get("context"), str):
            yield paragraph["context"], title


class SquadQuestion(NamedTuple):
    """A question: its passage, what SQuAD says of it, and its gold answers, each a list with one span."""

    text: str
    question: dict[str, Any]
    golds: list[list[dict[str, Any]]]


def read_questions(article: Mapping[str, Any]) -> Iterator[SquadQuestion | str]:
    """The questions of an article, or why one cannot be used."""
    for paragraph in article.get("paragraphs") or [article]:
        text = paragraph.get("context") if isinstance(paragraph, dict) else None
        for question in paragraph.get("qas", [paragraph]) if isinstance(paragraph, dict) else []:
            if not isinstance(text, str) or not isinstance(question, dict):
                yield _("A paragraph has no context, or a question is not an object.")
                continue
            answers = dict.fromkeys(gold_answers(question))
            if question.get("is_impossible") or not answers:
                number = str(question.get("id", "?"))[:60]
                yield _("Question %(number)s: the passage has no answer, so there is no span.", number=number)
                continue
            yield SquadQuestion(
                text, question, [[{"start": at, "end": at + len(span), "text": span}] for at, span in answers]
            )


def article_title(article: Mapping[str, Any]) -> str:
    """An article's title as a tag."""
    return "".join(
        character for character in str(article.get("title") or "").replace("_", " ")[:100] if character.isprintable()
    )


def question_documents(article: dict[str, Any], config: TaskConfig) -> Iterator[dict[str, Any] | str]:
    """The article's questions as documents of rows, or why one has none; `more` says that there are further golds."""
    passage, question, answer = squad_fields(config)
    for item in read_questions(article):
        if isinstance(item, str):
            yield item
            continue
        document: dict[str, Any] = {
            "context": {"values": {passage: item.text}, "tag": article_title(article)},
            "input": {question: item.question.get("question")},
            "answer": {answer: item.golds[0]},
            "predictions": [], "validations": [], "more": len(item.golds) > 1,
        }  # fmt: skip
        if item.question.get("id"):
            document["uid"] = f"squad-{item.question['id']}"
        yield document


def gold_answers(question: dict[str, Any]) -> list[tuple[int, str]]:
    """The gold answers as (start, text), in the nested form and in the flat one of columns."""
    answers = question.get("answers")
    if isinstance(answers, dict):
        texts, starts = answers.get("text") or [], answers.get("answer_start") or []
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=False)]
    entries = [entry for entry in answers if isinstance(entry, dict)] if isinstance(answers, list) else []
    return [
        (entry["answer_start"], entry["text"])
        for entry in entries
        if isinstance(entry.get("text"), str) and isinstance(entry.get("answer_start"), int)
    ]


UNASKED = "no-target"  # the arm of examples that come without any model's answer


class SkippedRow(Exception):
    """A row that its mapping says to leave out."""


def translate_row(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig, source: str) -> dict[str, Any]:
    """The document of a `rows.Row`. `source` names the file: people are told apart within it.

    Raises `Passed` for a row to skip, and `Invalid`.
    """
    for column, some in mapping.skip.items():
        if str(values.get(column, "")) in some:
            raise SkippedRow(
                _(
                    "Skipped by the mapping: %(column)s is %(column2)s.",
                    column=column,
                    column2=repr(values.get(column)),
                )
            )
    document = _row_fields(values, mapping, config)
    document["predictions"] = [
        prediction for columns in mapping.predictions if (prediction := _prediction(values, columns, config))
    ]
    document["validations"] = [vote for columns in mapping.votes for vote in _votes(values, columns, config, source)]
    return complete_row(document, config, source)


def complete_row(document: dict[str, Any], config: TaskConfig, source: str) -> dict[str, Any]:
    """Return the document with the members that follow from the others.

    These are: which models were fooled, whether votes agree with the claim, a uid, a pseudonym.
    The uid of a row without one comes from its contents, so that the same file imports nothing twice.
    """
    context, written, answer = document["context"]["values"], document["input"], document["answer"]
    clean = config.clean_answer(answer, context=context, input=written)
    inputs = config.model_inputs(context, written)
    judged = config.fooled.judged_by is not None
    for prediction in document["predictions"]:
        fooled = config.fooled_by(prediction["answer"], clean, inputs, prediction.get("probabilities"))
        prediction["fooled"] = None if judged else fooled
    for vote in document["validations"]:
        if vote.get("blind_answer") is not None:
            blind = config.clean_answer(vote["blind_answer"], context=context, input=written)
            vote["vote"] = "correct" if config.agrees(blind, clean, inputs) else "incorrect"
    flags = [prediction["fooled"] for prediction in document["predictions"]]
    targets = [
        {"model": prediction["model"], "version": prediction["version"]} for prediction in document["predictions"]
    ]
    document["fooled"] = ensemble_fooled("any", flags) if flags else None
    document["condition"] = {"arm": "" if flags else UNASKED, "targets": targets, "share": None if flags else 1}
    document["author"] = f"{source} {document['author']}" if document.get("author") else source
    if not document.get("uid"):
        text = json.dumps([config.id, context, written, answer], sort_keys=True, ensure_ascii=False, default=str)
        document["uid"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return document


def translate_context(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig) -> tuple[dict[str, Any], str]:
    """The context in a row, and its tag."""
    document = _row_fields(values, mapping, config)
    return document["context"]["values"], document["context"]["tag"]


def _row_fields(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig) -> dict[str, Any]:
    document: dict[str, Any] = {"context": {"values": {}, "tag": ""}, "input": {}, "answer": {}}
    explanation: dict[str, Any] = {}
    for target, source in mapping.fields.items():
        value = source.read(values)
        if value is None:
            continue
        group, _, name = target.partition(".")
        if not name:
            _set_single(document, target, value, source)
            continue
        held = find_field(config, group, name)
        if held is None:
            continue
        value = plain_value(translate_value(value, source.values, _options(held)), held)
        if value is not None and value != "":
            place = (
                document["context"]["values"] if group == "context" else explanation if group == "explanation" else None
            )
            (document.setdefault(group, {}) if place is None else place)[held.name] = value
    if explanation:
        document["explanation"] = {"values": explanation}
    return document


def _set_single(document: dict[str, Any], name: str, value: Any, source: ColumnSource) -> None:
    value = translate_value(value, source.values, [])
    if value in (None, ""):
        return
    if name == "tag":
        document["context"]["tag"] = "".join(character for character in str(value)[:100] if character.isprintable())
    elif name in ("round", "edit_distance", "attempt", "seconds"):
        try:
            document[name] = float(value) if name == "seconds" else int(value)
        except (TypeError, ValueError):
            raise errors.Invalid(
                {name: _("%(value)s is not a number; map its values.", value=repr(str(value)[:60]))}
            ) from None
    else:
        document[name] = f"{source.prefix}{value}"


def find_field(config: TaskConfig, group: str, name: str) -> Field | None:
    """A field by its name, or by its place from 1; None for an explanation that the task does not ask for."""
    fields = config.fields("ask" if group == "explanation" else "input" if group == "initial" else group)
    for place, field in enumerate(fields, start=1):
        if name in (field.name, str(place)):
            return field
    if group == "explanation":
        return None
    raise errors.Invalid(
        {
            f"{group}.{name}": _(
                "The task has no such field under %(group)s. Map the column to another field.", group=group
            )
        }
    )


def plain_value(value: Any, field: Field) -> Any:
    """A value with the type that the field wants, where a table's text says it plainly."""
    if isinstance(field, Text | Choice):
        return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict | list) else str(value)
    return field.from_text(value) if isinstance(value, str) else value


def _options(field: Field) -> list[str]:
    return list(field.values) if isinstance(field, Choice) else []


def _model_answer(values: dict[str, Any], sources: dict[str, ColumnSource], config: TaskConfig) -> dict[str, Any]:
    """A model's answer by field; a name that is no field stands for the first one, as in files of other tasks."""
    answer: dict[str, Any] = {}
    for name, source in sources.items():
        field = next((candidate for candidate in config.answer if candidate.name == name), config.answer[0])
        value = source.read(values)
        if value is not None:
            answer[field.name] = plain_value(translate_value(value, source.values, _options(field)), field)
    return answer


def _prediction(values: dict[str, Any], columns: PredictionColumns, config: TaskConfig) -> dict[str, Any] | None:
    answer = _model_answer(values, columns.answer, config)
    if not answer:
        return None
    probabilities = _object(columns.probabilities.read(values)) if columns.probabilities else None
    return {"model": columns.model, "version": columns.version, "answer": answer, "probabilities": probabilities}


def _object(value: Any) -> Any:
    """A list or an object that a table holds as text, in JSON or as Python prints it (read, never run)."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _votes(values: dict[str, Any], votes: VoteColumns, config: TaskConfig, source: str) -> list[dict[str, Any]]:
    raw = _object(ColumnSource(column=votes.column).read(values))
    field = spans_field(config) or config.answer[0]
    cast: list[tuple[str, Any]] = []
    if votes.kind == "labels" and isinstance(raw, list):
        cast = [(f"{source} validator {place}", label) for place, label in enumerate(raw, start=1)]
    elif isinstance(raw, dict):
        for label, voters in raw.items():
            several = [str(voter) for voter in voters] if isinstance(voters, list) else []
            if isinstance(voters, int) and votes.kind == "counts":
                several = [f"validator {len(cast) + place}" for place in range(1, min(voters, 100) + 1)]
            cast += [(f"{source} {voter}", label) for voter in several]
    return [
        {"validator": voters[:200], "blind_answer": {field.name: translate_value(label, votes.values, _options(field))},
         "blind": True, "vote": "correct"}
        for voters, label in cast
    ]  # fmt: skip
