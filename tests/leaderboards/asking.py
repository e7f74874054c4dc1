"""Requests for the board of the task sentiment."""

BOARD = "/api/v1/tasks/sentiment/leaderboard"
PAGE = "/tasks/sentiment/leaderboard"


def board(client, query="", **how):
    answer = client.get(f"{BOARD}{query}", **how)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ranks(result):
    return {row["name"]: (row["rank"]["low"], row["rank"]["high"]) for row in result["rows"] if row["rank"]}
