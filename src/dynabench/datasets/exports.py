"""The statements of an export, in plain SQL: the drivers' own cursors carry a million rows, the ORM's do not.

Each asks for a page in the order of the examples' ids. JSON columns come as the text that is stored, and the parts of
an example as the JSON that they are in a row.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson
from sqlalchemy import Connection

from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import ExportScope
from dynabench.kit.db import Database
from dynabench.kit.security import pseudonym
from dynabench.kit.settings import Settings
from dynabench.people.disclosure import withheld_in_sql
from dynabench.rounds import plan
from dynabench.rounds.tables import Round

_NAMED = """NOT t.retracted AND NOT t.hidden AND (NOT {withheld} OR {all} AND o.round_id = e.round_id)
    AND (o.round_id = e.round_id OR NOT {public}
      OR EXISTS (SELECT 1 FROM rounds r WHERE r.id = o.round_id AND r.state = 'released'))""".replace(
    "{withheld}", withheld_in_sql("t")
)
"""SQL that allows a row to show its origin `o`, of the standing `t`; origins of other rounds once released."""

EXAMPLES = """
SELECT e.id, e.author_id, s.retracted OR s.hidden OR {withheld} AND NOT {all}, e.version_id, e.context_id,
  e.start, e.arm, {quote:e.uid},
  CASE WHEN coalesce(e.made_from, h.made_from) IS NOT NULL AND EXISTS (SELECT 1 FROM examples o JOIN standings t
    ON t.example_id = o.id WHERE o.id IN (e.made_from, h.made_from) AND NOT ({named})) THEN '{}'
    ELSE {json:h.initial} END,
  {json:h.goal}, {json:e.input}, {json:e.answer}, s.fooled, e.source,
  CASE WHEN e.made_from IS NULL THEN NULL ELSE (SELECT {quote:o.uid} FROM examples o JOIN standings t
    ON t.example_id = o.id WHERE o.id = e.made_from AND {named}) END,
  e.edit_distance, e.attempt, e.seconds, e.latency_ms, {moment:e.at}, s.verdict,
  EXISTS (SELECT 1 FROM inspirations i WHERE i.handout_id = e.handout_id AND i.at <= e.at)
    OR EXISTS (SELECT 1 FROM writing_facts w WHERE w.example_id = e.id AND w.inspired),
  EXISTS (SELECT 1 FROM writing_facts w WHERE w.example_id = e.id AND w.model_written)
FROM examples e JOIN standings s ON s.example_id = e.id
JOIN handouts h ON h.id = e.handout_id
WHERE e.round_id = :round AND e.id > :after ORDER BY e.id LIMIT :size
""".replace("{named}", _NAMED).replace("{withheld}", withheld_in_sql("s"))
"""One page of a round: a range of the index of rounds, then a probe of three primary keys each.

The text that an example began with goes where its origin does, and where that does which its author was handed.
"""

CONTEXTS = """
SELECT id, '{"values":' || {json:c.values} || ',"tag":' || {quote:c.tag} || '}' FROM contexts c WHERE id IN ({list})
"""
PEOPLE = "SELECT id, imported_as FROM people WHERE id IN ({list})"

PREDICTIONS = """
SELECT example_id, {join:said} FROM (SELECT example_id, position, '{"model":' || {quote:model} || ',"version":' ||
  {quote:version} || ',"answer":' || {json:answer} || ',"probabilities":' || coalesce({json:probabilities}, 'null') ||
  ',"fooled":' || CASE coalesce((SELECT j.fooled FROM judgements j WHERE j.prediction_id = predictions.id
  ORDER BY j.id DESC LIMIT 1), fooled) WHEN true THEN 'true' WHEN false THEN 'false' ELSE 'null' END ||
  ',"latency_ms":' || {float:latency_ms} || '}' AS said
  FROM predictions WHERE {ids:example_id} ORDER BY example_id, id) p GROUP BY example_id
"""
VALIDATIONS = """
SELECT v.example_id, v.person_id, u.validation_id, u.excluded, coalesce({json:v.blind_answer}, 'null'),
  '"vote":"' || v.vote || '","by_owner":' || CASE WHEN v.by_owner THEN 'true' ELSE 'false' END ||
  ',"values":' || {json:v.values} || CASE WHEN v.weight IS NULL THEN '' ELSE ',"weight":' || {float:v.weight} END ||
  ',"at":"' || {moment:v.at} || '"}'
FROM validations v LEFT JOIN undos u ON u.validation_id = v.id WHERE {ids:v.example_id}
  AND NOT EXISTS (SELECT 1 FROM control_answers c WHERE c.validation_id = v.id) ORDER BY v.example_id, v.id
"""
EXPLANATIONS = """
SELECT example_id, '{"values":' || {json:x.values} || ',"at":"' || {moment:at} || '"}'
FROM explanations x WHERE complete AND {ids:example_id} ORDER BY example_id, id
"""
ASSISTANCES = """
SELECT example_id, '{"shown":' || shown || ',"outcome":"' || outcome || '","distance":' ||
  coalesce(CAST(distance AS text), 'null') || ',"provider":' || {quote:provider} || ',"model":' || {quote:model} ||
  ',"version":' || {quote:version} || ',"text":' || {quote:a.text} || '}'
FROM assistances a WHERE {ids:example_id} ORDER BY example_id
"""
PROGRAMS = """
SELECT example_id, '{"name":' || {quote:name} || ',"version":' || {quote:version} || ',"queries":' || queries ||
  ',"cost":' || {float:cost} || '}'
FROM proposed WHERE {ids:example_id} ORDER BY example_id
"""
ATTRIBUTIONS = """
SELECT example_id, '{"model":' || {quote:model} || ',"method":' || {quote:method} || ',"label":' || {quote:label} ||
  ',"fields":' || {json:fields} || ',"completeness_error":' || coalesce({float:completeness_error}, 'null') || '}'
FROM attributions WHERE {ids:example_id} ORDER BY example_id, id
"""
"""Parts of an example as JSON: the range of an index on examples. Predictions are written in their order."""

_PIECE = re.compile(r"\{(json|join|quote|float|moment|ids):([\w.]+)\}")


def render_statement(
    statement: str, sqlite: bool, dense: bool = True, whole: bool = False, public: bool = False
) -> str:
    """The statement in a database's own words; `dense` asks for a range of examples, else for a list of them, `whole`
    and `public` as in `Scope`."""

    def piece(match: re.Match[str]) -> str:
        kind, column = match[1], match[2].replace(".values", '."values"')
        if kind == "json":
            return f"CAST({column} AS text)"
        if kind == "ids":
            some = f"{column} IN (SELECT value FROM json_each(:ids))" if sqlite else f"{column} = ANY(:ids)"  # noqa: S608
            return f"{column} BETWEEN :first AND :last" if dense else some
        if kind == "quote":
            return f"json_quote({column})" if sqlite else f"CAST(to_json({column}) AS text)"
        if kind == "join":  # in the order of the rows within
            return f"group_concat({column})" if sqlite else f"string_agg({column}, ',' ORDER BY position)"
        if kind == "float":  # all digits: the value that is read is the value that is stored
            return f"printf('%!.17g', {column})" if sqlite else f"CAST({column} AS text)"
        if sqlite:
            return f"replace({column}, ' ', 'T') || 'Z'"
        return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""

    statement = statement.replace("{all}", str(whole).lower()).replace("{public}", str(public).lower())
    text = _PIECE.sub(piece, statement)
    return text if sqlite else re.sub(r"(?<![:\w]):([a-z]+)", r"%(\1)s", text)


def id_list(ids: Sequence[int], sqlite: bool) -> Any:
    """A list of ids as a parameter."""
    return "[" + ",".join(map(str, ids)) + "]" if sqlite else list(ids)


PAGE_EXAMPLES = 2_000  # examples in memory at a time
MOST_KNOWN = 16_000_000  # characters of contexts, and of pseudonyms
NULL = "null"  # what the JSON column of a value that is absent may hold, beside SQL's own null

Record = tuple[Any, ...]
"""The members of a row, by `rows.COLUMNS`, each as JSON: text, or a number."""
Pages = Iterable[list[Record]]
Question = tuple[str, dict[str, Any]]


@contextmanager
def open_snapshot(db: Database) -> Iterator[Connection]:
    """One read transaction that sees the database as it is now, whatever is written meanwhile."""
    with db.engine.connect() as connection:
        if db.is_sqlite:
            connection.exec_driver_sql("SELECT 1 FROM people LIMIT 1")  # the first read takes the snapshot
        else:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            connection.exec_driver_sql("SET LOCAL enable_hashjoin = off")  # a page is a few thousand index probes,
            connection.exec_driver_sql("SET LOCAL enable_mergejoin = off")  # also before anybody has run ANALYZE
        yield connection


def read_records(db: Database, settings: Settings, scope: ExportScope) -> Iterator[list[Record]]:
    """The examples of `what`, a list per page, in the order in which they were written, round by round."""
    with open_snapshot(db) as connection:
        reader = _Reader(connection, db.is_sqlite, settings, scope)
        for round_ in scope.rounds:
            yield from reader.round(round_)


@dataclass(frozen=True)
class _PageParts:
    """The database's results for one page; `following` has the examples of the next page, empty at the end."""

    following: list[tuple[Any, ...]]
    rows: list[tuple[Any, ...]]
    people: dict[int, str] = field(default_factory=dict)
    contexts: dict[int, str] = field(default_factory=dict)
    predictions: dict[int, str] = field(default_factory=dict)
    votes: list[tuple[Any, ...]] = field(default_factory=list)
    explanations: dict[int, str] = field(default_factory=dict)
    helped: dict[int, str] = field(default_factory=dict)
    programs: dict[int, str] = field(default_factory=dict)
    attributions: list[tuple[Any, ...]] = field(default_factory=list)


class _TextCache:
    """Texts by id, looked for as they are needed, and forgotten when they come to more than `MOST_KNOWN` characters."""

    def __init__(self, look: Callable[[list[int]], Iterable[tuple[int, str]]]) -> None:
        self.look, self.texts, self.size = look, dict[int, str](), 0

    def look_up(self, ids: set[int]) -> dict[int, str]:
        """The texts of these ids, and maybe others. What was forgotten stays with those who were given it."""
        if self.size > MOST_KNOWN:
            self.texts, self.size = {}, 0
        new = sorted(ids - self.texts.keys())
        for start in range(0, len(new), 10_000):
            texts = dict(self.look(new[start : start + 10_000]))
            self.texts |= texts
            self.size += sum(map(len, texts.values()))
        return self.texts


class _Reader:
    """Reads pages over one connection; remembers what people are called, and contexts, which many examples share."""

    def __init__(self, connection: Connection, sqlite: bool, settings: Settings, scope: ExportScope) -> None:
        self.task = f'"{scope.task}"'
        self.driver, self.sqlite, self.settings, self.scope = connection.connection, sqlite, settings, scope
        self.people = _TextCache(self._names)
        self.contexts = _TextCache(lambda ids: self._among(CONTEXTS, ids))
        self.texts: dict[tuple[str, bool], str] = {}
        self.conditions: dict[tuple[str, str, bool, bool], str] = {}

    def round(self, round_: Round) -> Iterator[list[Record]]:
        """The round's examples. PostgreSQL looks for the next page while this one is put together."""
        self.conditions = {}
        if self.sqlite:  # its driver holds on to the interpreter: a second thread would only wait
            parts = self._fetch(round_, None)
            while parts:
                if parts.rows:
                    yield self._page(round_, parts)
                parts = self._fetch(round_, parts)
            return
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._fetch, round_, None)
            while parts := coming.result():
                coming = ahead.submit(self._fetch, round_, parts)
                if parts.rows:
                    yield self._page(round_, parts)

    def _fetch(self, round_: Round, before: "_PageParts | None") -> "_PageParts | None":
        """The page after another one; the examples of the next are asked for with what belongs to these."""
        page = before.following if before else self._ask(self._examples(round_, 0))[0]
        if not page:
            return None
        rows = [row for row in page if not row[2]]
        ids = [row[0] for row in rows]
        parts = [VALIDATIONS, PREDICTIONS, EXPLANATIONS, ASSISTANCES]
        parts.append(PROGRAMS)
        parts += [ATTRIBUTIONS] if self.scope.attributions else []
        questions = [self._about(part, ids) for part in parts] if ids else []
        *results, following = self._ask(*questions, self._examples(round_, page[-1][0]))
        votes, predictions, explanations, helped, programs, *attributions = results or ([], [], [], [], [])
        for version in {row[3] for row in rows} - self.scope.versions.keys():
            self._number(version)
        return _PageParts(
            following,
            rows,
            self.people.look_up({row[1] for row in rows} | {vote[1] for vote in votes}),
            self.contexts.look_up({row[4] for row in rows}),
            dict(predictions),
            votes,
            dict(explanations),
            dict(helped),
            dict(programs),
            attributions[0] if attributions else [],
        )

    def _ask(self, *questions: Question) -> list[list[tuple[Any, ...]]]:
        """The rows of several statements, which PostgreSQL is told at once, so that it need not wait for the next."""
        if self.sqlite:
            return [list(self.driver.cursor().execute(*question).fetchall()) for question in questions]
        with self.driver.pipeline():
            cursors = [self.driver.cursor().execute(*question) for question in questions]
        return [list(cursor.fetchall()) for cursor in cursors]

    def _question(self, statement: str, dense: bool = True, **values: Any) -> Question:
        text = self.texts.get((statement, dense))
        if text is None:
            text = self.texts[statement, dense] = render_statement(
                statement, self.sqlite, dense, self.scope.whole, self.scope.public
            )
        return text, values

    def _examples(self, round_: Round, after: int) -> Question:
        return self._question(EXAMPLES, round=round_.id, after=after, size=PAGE_EXAMPLES)

    def _about(self, statement: str, ids: list[int]) -> Question:
        """Rows that belong to the page's examples: the range of ids, or a list where others lie between them."""
        if ids[-1] - ids[0] < 4 * len(ids):
            return self._question(statement, first=ids[0], last=ids[-1])
        return self._question(statement, dense=False, ids=id_list(ids, self.sqlite))

    def _page(self, round_: Round, parts: "_PageParts") -> list[Record]:
        validations = self._validations(parts.votes, parts.people)
        records = [self._record(round_, row, parts, validations) for row in parts.rows]
        if not self.scope.attributions:
            return records
        words: dict[int, list[str]] = defaultdict(list)
        for example, text in parts.attributions:
            words[example].append(text)
        return [
            (*record, f"[{','.join(words.get(row[0], ()))}]") for record, row in zip(records, parts.rows, strict=True)
        ]

    def _record(self, round_: Round, row: tuple[Any, ...], parts: "_PageParts", validations: dict[int, str]) -> Record:
        (key, author, _, version, context, start, arm, uid, initial, goal, written, answer, fooled, source, origin,
         distance, attempt, seconds, latency, at, verdict, inspired,
         declared) = row  # fmt: skip
        return (
            uid,
            self.task,
            self.scope.versions[version],
            round_.number,
            parts.contexts[context],
            initial,
            goal or NULL,
            written,
            answer,
            NULL if fooled is None else "true" if fooled else "false",
            f'"{parts.people[author]}"',
            f'"{source}"',
            self._condition(round_, start, arm, bool(inspired), bool(declared)),
            origin or NULL,
            NULL if distance is None else distance,
            attempt,
            seconds,
            latency,
            f'"{at}"',
            f"[{parts.predictions.get(key, '')}]",
            f"[{validations[key]}]" if key in validations else "[]",
            f'"{verdict}"',
            parts.explanations.get(key, NULL),
            parts.helped.get(key, NULL),
            parts.programs.get(key, NULL),
        )

    def _condition(self, round_: Round, start: str, arm: str, inspired: bool, declared: bool) -> str:
        """Return the condition of an arm's examples as JSON; its targets are the models that the arm asks."""
        if text := self.conditions.get((start, arm, inspired, declared)):
            return text
        drawn: dict[str, Any] = next((candidate for candidate in round_.arms if candidate["name"] == arm), {})
        targets = [{"model": model, "version": version} for model, version in plan.targets_of_arm(round_, arm)]
        document = {
            "start": start,
            "arm": arm,
            "share": drawn.get("share"),
            "ensemble": round_.fooled_when,
            "targets": targets,
            "assistant": drawn.get("assistant", False),
            "inspired": inspired,
            "model_written": declared,
        }
        self.conditions[start, arm, inspired, declared] = text = orjson.dumps(document).decode()
        return text

    def _number(self, version_id: int) -> None:
        """Look for the number of a version that no exported round stands on."""
        statement = "SELECT number FROM task_versions WHERE id = :version"
        ((number,),) = self._ask(self._question(statement, version=version_id))[0]
        self.scope.versions[version_id] = int(number)

    def _names(self, ids: list[int]) -> Iterator[tuple[int, str]]:
        for person, imported_as in self._among(PEOPLE, ids):
            yield person, imported_as or pseudonym(self.scope.key or self.settings.key, "person", person)

    def _among(self, statement: str, ids: list[int]) -> list[tuple[Any, ...]]:
        """The rows of a table with these ids."""
        text = render_statement(statement, self.sqlite).replace("{list}", ",".join(map(str, ids)))
        return list(self.driver.cursor().execute(text).fetchall())

    def _validations(self, votes: list[tuple[Any, ...]], people: dict[int, str]) -> dict[int, str]:
        """The votes that stand, by example. Blind is the first answer that a validator gave, before any undo.

        Where the scope has them, excluded votes are there too, and say so.
        """
        texts: dict[int, str] = {}
        voted: set[tuple[int, int]] = set()
        for example, person, undone, excluded, blind_answer, text in votes:
            voter = (example, person)
            blind = "true" if blind_answer != NULL and voter not in voted else "false"
            voted.add(voter)
            marked = bool(excluded) and self.scope.excluded_votes
            if undone is None or marked:
                text = text[:-1] + ',"excluded":true}' if marked else text
                vote = f'{{"validator":"{people[person]}","blind_answer":{blind_answer},"blind":{blind},{text}'
                texts[example] = f"{texts[example]},{vote}" if example in texts else vote
        return texts


def json_lines(page: list[Record]) -> bytes:
    """A page as JSON lines."""
    template = line_template(len(page[0]))
    return "".join([template % record for record in page]).encode()


def json_line(record: Record) -> str:
    """One record as JSON."""
    return (line_template(len(record)) % record).rstrip("\n")


@cache
def line_template(members: int) -> str:
    """Return the template of a record's line: a JSON object with a placeholder for each member."""
    names = (*COLUMNS, "attributions")[:members]
    return "{" + ",".join(f'"{name}":%s' for name in names) + "}\n"
