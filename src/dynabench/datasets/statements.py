"""The statements of an export, in plain SQL: the drivers' own cursors carry a million rows, the ORM's do not.

Each asks for a page in the order of the examples' ids. JSON columns come as the text that is stored, and the parts of
an example as the JSON that they are in a row.
"""

import re
from collections.abc import Sequence
from typing import Any

from dynabench.people.disclosure import withheld_in_sql

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
  e.edit_distance, e.attempt, e.seconds, e.latency_ms, {moment:e.at}, s.verdict
FROM examples e JOIN standings s ON s.example_id = e.id
JOIN handouts h ON h.id = e.handout_id
WHERE e.round_id = :round AND e.id > :after ORDER BY e.id LIMIT :size
""".replace("{named}", _NAMED).replace("{withheld}", withheld_in_sql("s"))
"""One page of a round: a range of the index of rounds, then a probe of two primary keys each.

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
SELECT v.example_id, v.person_id, u.validation_id, coalesce({json:v.blind_answer}, 'null'), '"vote":"' || v.vote ||
  '","by_owner":' || CASE WHEN v.by_owner THEN 'true' ELSE 'false' END || ',"values":' || {json:v.values} ||
  ',"at":"' || {moment:v.at} || '"}'
FROM validations v LEFT JOIN undos u ON u.validation_id = v.id WHERE {ids:v.example_id} ORDER BY v.example_id, v.id
"""
EXPLANATIONS = """
SELECT example_id, '{"values":' || {json:x.values} || ',"at":"' || {moment:at} || '"}'
FROM explanations x WHERE {ids:example_id} ORDER BY example_id, id
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


def written(statement: str, sqlite: bool, dense: bool = True, whole: bool = False, public: bool = False) -> str:
    """The statement in a database's own words; `dense` asks for a range of examples, else for a list of them, `whole`
    and `public` as in `Scope`."""

    def piece(found: re.Match[str]) -> str:
        kind, column = found[1], found[2].replace(".values", '."values"')
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
