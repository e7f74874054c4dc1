"""`dynabench evaluate verify CARD`: whether the results of a card are those that a platform measured and signed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from dynabench.evaluate.cards.tokens import TokenCheck

WORDS = {
    "holds": "holds",
    "differs": "IS ANOTHER RESULT",
    "forged": "IS NOT SIGNED BY THE KEY",
    "unsigned": "no token",
    "unreadable": "UNREADABLE TOKEN",
}


def verify_card(path: Path, server: str, key: str, model: str, as_json: bool) -> int:
    """Print the state of each result's token; return 0 where there are tokens and each of them holds, else 1.

    Keys are `key`, else those of `server`, which is also asked for the records; else those that the tokens name.
    """
    from dynabench.evaluate.cards.files import read_results_file
    from dynabench.evaluate.cards.tokens import check_results
    from dynabench.evaluate.cards.yaml_text import CardError

    try:
        results_file = read_results_file(path)
        keys = [key] if key else _server_keys(server) if server else []
        checks = check_results(results_file.models, keys, model)
        if server:
            checks = _compare_records(checks, server)
    except CardError as error:
        typer.echo(f"{path}: {error}", err=True)
        return 1
    if as_json:
        typer.echo(json.dumps({"given": bool(keys), "results": [_document(check) for check in checks]}, indent=2))
    else:
        for check in checks:
            parts = [check.token.issuer, f"evaluation {check.token.evaluation}"] if check.token else []
            origin = f" ({', '.join(filter(None, parts))})" if parts else ""
            reason = f": {check.reason}" if check.token and check.reason else ""
            value = f"{check.model}, {check.result.title}, {check.result.metric_value}"
            typer.echo(f"{value}: {WORDS[check.state]}{origin}{reason}")
        if not keys and any(check.state == "holds" for check in checks):
            typer.echo("The keys are those that the tokens name: compare them with --server or --key.", err=True)
        if not any(check.token for check in checks):
            typer.echo("No result of this card has a token of a Dynabench platform.", err=True)
    signed = [check for check in checks if check.state != "unsigned"]
    return 0 if signed and all(check.state == "holds" for check in signed) else 1


def _document(check: "TokenCheck") -> dict[str, Any]:
    from dynabench.evaluate.cards.yaml_text import plain_values

    result, token = check.result, check.token
    document: dict[str, Any] = plain_values({
        "model": check.model,
        "dataset": result.dataset_type,
        "metric": result.metric_type,
        "value": result.metric_value,
        "state": check.state,
        "reason": check.reason,
        "evaluation": token.evaluation if token else None,
        "issuer": token.issuer if token else None,
        "key": token.key if token else None,
    })  # fmt: skip
    return document


def _server_keys(server: str) -> list[str]:
    from dynabench.client import ApiError, Client
    from dynabench.evaluate.cards.yaml_text import CardError

    try:
        with Client(server) as client:
            keys = client.request("GET", "/key")
            return [keys["key"], *keys["older"]]
    except (ApiError, OSError, KeyError, TypeError) as error:
        raise CardError(f"{server} gives no keys: {error}.") from None


def _compare_records(checks: Sequence["TokenCheck"], server: str) -> list["TokenCheck"]:
    """Return the checks; a token that holds and names another record than the server's is one of another result."""
    from dynabench.client import ApiError, Client

    signatures: dict[str, str] = {}
    compared = []
    with Client(server) as client:
        for check in checks:
            if check.state == "holds" and check.token and check.token.evaluation is not None:
                number, path = check.token.evaluation, check.token.record_path
                try:
                    if path not in signatures:
                        signatures[path] = client.request("GET", path)["signature"]
                    same = signatures[path] == check.token.claims.get("record")
                    reason = "" if same else f"the record of evaluation {number} was made anew since"
                except (ApiError, OSError, KeyError, TypeError) as error:
                    reason = f"the server gives no record of evaluation {number} ({error})"
                check = replace(check, state="differs", reason=reason) if reason else check
            compared.append(check)
    return compared
