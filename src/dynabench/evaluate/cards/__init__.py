"""Cards and logs of evaluations: the hub's front matter and result files, and the logs of other evaluation programs.

Every reader is bounded, because the files come from anybody. `CardError` says in one sentence what is wrong.
"""

from dynabench.evaluate.cards.card_text import CardText, split_card
from dynabench.evaluate.cards.model_index import CardResult, merge_results, read_model_index
from dynabench.evaluate.cards.yaml_text import CardError, dump_yaml, read_yaml

__all__ = [
    "CardError",
    "CardResult",
    "CardText",
    "dump_yaml",
    "merge_results",
    "read_model_index",
    "read_yaml",
    "split_card",
]
