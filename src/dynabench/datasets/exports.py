"""Reading a task's examples for an export: page after page from one snapshot, with flat memory.

Retracted and hidden examples are left out, votes that were undone too. People are pseudonyms.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson
from sqlalchemy import Connection

from dynabench.datasets import statements
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import Scope
from dynabench.datasets.statements import id_list, written
from dynabench.kit.db import Database
from dynabench.kit.security import pseudonym
from dynabench.kit.settings import Settings
from dynabench.rounds import arms
from dynabench.rounds.tables import Round

PAGE = 2_000  # examples in memory at a time
MOST_KNOWN = 16_000_000  # characters of contexts, and of pseudonyms
NULL = "null"  # what the JSON column of a value that is absent may hold, beside SQL's own null

Record = tuple[Any, ...]
"""The members of a row, by `rows.COLUMNS`, each as JSON: text, or a number."""
Pages = Iterable[list[Record]]
Question = tuple[str, dict[str, Any]]


@contextmanager
def snapshot(db: Database) -> Iterator[Connection]:
    """One read transaction that sees the database as it is now, whatever is written meanwhile."""
    with db.engine.connect() as connection:
        if db.is_sqlite:
            connection.exec_driver_sql("SELECT 1 FROM people LIMIT 1")  # the first read takes the snapshot
        else:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            connection.exec_driver_sql("SET LOCAL enable_hashjoin = off")  # a page is a few thousand index probes,
            connection.exec_driver_sql("SET LOCAL enable_mergejoin = off")  # also before anybody has run ANALYZE
        yield connection


def records(db: Database, settings: Settings, what: Scope) -> Iterator[list[Record]]:
    """The examples of `what`, a list per page, in the order in which they were written, round by round."""
    with snapshot(db) as connection:
        reader = _Reader(connection, db.is_sqlite, settings, what)
        for one in what.rounds:
            yield from reader.round(one)


@dataclass(frozen=True)
class _Found:
    """The database's results for one page; `following` has the examples of the next page, empty at the end."""

    following: list[tuple[Any, ...]]
    rows: list[tuple[Any, ...]]
    people: dict[int, str] = field(default_factory=dict)
    contexts: dict[int, str] = field(default_factory=dict)
    predictions: dict[int, str] = field(default_factory=dict)
    votes: list[tuple[Any, ...]] = field(default_factory=list)
    said: dict[int, str] = field(default_factory=dict)
    helped: dict[int, str] = field(default_factory=dict)
    programs: dict[int, str] = field(default_factory=dict)
    attributions: list[tuple[Any, ...]] = field(default_factory=list)


class _Known:
    """Texts by id, looked for as they are needed, and forgotten when they come to more than `MOST_KNOWN` characters."""

    def __init__(self, look: Callable[[list[int]], Iterable[tuple[int, str]]]) -> None:
        self.look, self.texts, self.size = look, dict[int, str](), 0

    def of(self, ids: set[int]) -> dict[int, str]:
        """The texts of these ids, and maybe others. What was forgotten stays with those who were given it."""
        if self.size > MOST_KNOWN:
            self.texts, self.size = {}, 0
        new = sorted(ids - self.texts.keys())
        for start in range(0, len(new), 10_000):
            found = dict(self.look(new[start : start + 10_000]))
            self.texts |= found
            self.size += sum(map(len, found.values()))
        return self.texts


class _Reader:
    """Reads pages over one connection; remembers what people are called, and contexts, which many examples share."""

    def __init__(self, connection: Connection, sqlite: bool, settings: Settings, what: Scope) -> None:
        self.task = f'"{what.task}"'
        self.driver, self.sqlite, self.settings, self.what = connection.connection, sqlite, settings, what
        self.people = _Known(self._names)
        self.contexts = _Known(lambda ids: self._among(statements.CONTEXTS, ids))
        self.texts: dict[tuple[str, bool], str] = {}
        self.conditions: dict[tuple[str, str], str] = {}

    def round(self, one: Round) -> Iterator[list[Record]]:
        """The round's examples. PostgreSQL looks for the next page while this one is put together."""
        self.conditions = {}
        if self.sqlite:  # its driver holds on to the interpreter: a second thread would only wait
            found = self._fetch(one, None)
            while found:
                if found.rows:
                    yield self._page(one, found)
                found = self._fetch(one, found)
            return
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._fetch, one, None)
            while found := coming.result():
                coming = ahead.submit(self._fetch, one, found)
                if found.rows:
                    yield self._page(one, found)

    def _fetch(self, one: Round, before: "_Found | None") -> "_Found | None":
        """The page after another one; the examples of the next are asked for with what belongs to these."""
        page = before.following if before else self._ask(self._examples(one, 0))[0]
        if not page:
            return None
        rows = [row for row in page if not row[2]]
        ids = [row[0] for row in rows]
        parts = [statements.VALIDATIONS, statements.PREDICTIONS, statements.EXPLANATIONS, statements.ASSISTANCES]
        parts.append(statements.PROGRAMS)
        parts += [statements.ATTRIBUTIONS] if self.what.attributions else []
        wanted = [self._about(part, ids) for part in parts] if ids else []
        *found, following = self._ask(*wanted, self._examples(one, page[-1][0]))
        votes, predictions, said, helped, programs, *attributions = found or ([], [], [], [], [])
        for version in {row[3] for row in rows} - self.what.versions.keys():
            self._number(version)
        return _Found(
            following,
            rows,
            self.people.of({row[1] for row in rows} | {vote[1] for vote in votes}),
            self.contexts.of({row[4] for row in rows}),
            dict(predictions),
            votes,
            dict(said),
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
            text = self.texts[statement, dense] = written(
                statement, self.sqlite, dense, self.what.whole, self.what.public
            )
        return text, values

    def _examples(self, one: Round, after: int) -> Question:
        return self._question(statements.EXAMPLES, round=one.id, after=after, size=PAGE)

    def _about(self, statement: str, ids: list[int]) -> Question:
        """Rows that belong to the page's examples: the range of ids, or a list where others lie between them."""
        if ids[-1] - ids[0] < 4 * len(ids):
            return self._question(statement, first=ids[0], last=ids[-1])
        return self._question(statement, dense=False, ids=id_list(ids, self.sqlite))

    def _page(self, one: Round, found: "_Found") -> list[Record]:
        validations = self._validations(found.votes, found.people)
        made = [self._record(one, row, found, validations) for row in found.rows]
        if not self.what.attributions:
            return made
        words: dict[int, list[str]] = defaultdict(list)
        for example, text in found.attributions:
            words[example].append(text)
        return [(*record, f"[{','.join(words.get(row[0], ()))}]") for record, row in zip(made, found.rows, strict=True)]

    def _record(self, one: Round, row: tuple[Any, ...], found: "_Found", validations: dict[int, str]) -> Record:
        (key, author, _, version, context, start, arm, uid, initial, goal, given, answer, fooled, source, origin,
         distance, attempt, seconds, latency, at, verdict) = row  # fmt: skip
        return (
            uid,
            self.task,
            self.what.versions[version],
            one.number,
            found.contexts[context],
            initial,
            goal or NULL,
            given,
            answer,
            NULL if fooled is None else "true" if fooled else "false",
            f'"{found.people[author]}"',
            f'"{source}"',
            self.conditions.get((start, arm)) or self._condition(one, start, arm),
            origin or NULL,
            NULL if distance is None else distance,
            attempt,
            seconds,
            latency,
            f'"{at}"',
            f"[{found.predictions.get(key, '')}]",
            f"[{validations[key]}]" if key in validations else "[]",
            f'"{verdict}"',
            found.said.get(key, NULL),
            found.helped.get(key, NULL),
            found.programs.get(key, NULL),
        )

    def _condition(self, one: Round, start: str, arm: str) -> str:
        """Return the condition of an arm's examples as JSON; its targets are the models that the arm asks."""
        drawn: dict[str, Any] = next((each for each in one.arms if each["name"] == arm), {})
        targets = [{"model": model, "version": version} for model, version in arms.targets_of(one, arm)]
        document = {
            "start": start,
            "arm": arm,
            "share": drawn.get("share"),
            "ensemble": one.fooled_when,
            "targets": targets,
            "assistant": drawn.get("assistant", False),
        }
        self.conditions[start, arm] = text = orjson.dumps(document).decode()
        return text

    def _number(self, version_id: int) -> None:
        """Look for the number of a version that no exported round stands on."""
        statement = "SELECT number FROM task_versions WHERE id = :version"
        ((number,),) = self._ask(self._question(statement, version=version_id))[0]
        self.what.versions[version_id] = int(number)

    def _names(self, ids: list[int]) -> Iterator[tuple[int, str]]:
        for person, imported_as in self._among(statements.PEOPLE, ids):
            yield person, imported_as or pseudonym(self.what.key or self.settings.key, "person", person)

    def _among(self, statement: str, ids: list[int]) -> list[tuple[Any, ...]]:
        """The rows of a table with these ids."""
        text = written(statement, self.sqlite).replace("{list}", ",".join(map(str, ids)))
        return list(self.driver.cursor().execute(text).fetchall())

    def _validations(self, votes: list[tuple[Any, ...]], people: dict[int, str]) -> dict[int, str]:
        """The votes that stand, by example. Blind is the first answer that somebody gave, before any undo."""
        found: dict[int, str] = {}
        voted: set[tuple[int, int]] = set()
        for example, person, undone, blind_answer, text in votes:
            who = (example, person)
            blind = "true" if blind_answer != NULL and who not in voted else "false"
            voted.add(who)
            if undone is None:
                made = f'{{"validator":"{people[person]}","blind_answer":{blind_answer},"blind":{blind},{text}'
                found[example] = f"{found[example]},{made}" if example in found else made
        return found


def lines(page: list[Record]) -> bytes:
    """A page as JSON lines."""
    template = template_of(len(page[0]))
    return "".join([template % record for record in page]).encode()


def line(record: Record) -> str:
    """One record as JSON."""
    return (template_of(len(record)) % record).rstrip("\n")


@cache
def template_of(members: int) -> str:
    """Return the template of a record's line: a JSON object with a placeholder for each member."""
    names = (*COLUMNS, "attributions")[:members]
    return "{" + ",".join(f'"{name}":%s' for name in names) + "}\n"
