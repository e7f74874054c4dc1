"""Tweets as statements: without what the platform put around what somebody wrote."""

import html
import re

MENTION = "@user"
_RETWEET = re.compile(r"\bRT\b:?\s*")
_ADDRESS = re.compile(r"https?://\S+|\bhttp\S*$")
_NAME = re.compile(r"@\w+:?")


def plain(text: str) -> str:
    """`text` with entities as characters, mentions as `@user`, and no addresses or retweet marks.

    Entities are undone twice: files hold tweets that were escaped by the platform and again by whoever saved them.
    """
    text = html.unescape(html.unescape(text))
    text = _NAME.sub(MENTION, _ADDRESS.sub("", _RETWEET.sub("", text)))
    return " ".join(text.split())
