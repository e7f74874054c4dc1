"""Read constituency trees of CoNLL files, and find the minimum span of a phrase."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

NOUN, VERB = frozenset({"NP", "NM", "QP", "NX"}), frozenset({"VP"})
BRACKETS = {"-LRB-", "-RRB-"}
LIGHT = {"CC", "DT", "IN"}  # parts of speech that head nothing: conjunctions, determiners, prepositions
BIT = re.compile(r"\(([^\s()*]+)|(\*)|(\))")


@dataclass
class Node:
    """A phrase with its tag and children, or (tag "") a run of words; `start` and `stop` are places of words."""

    tag: str
    start: int
    stop: int = 0
    children: list["Node"] = field(default_factory=list)

    @property
    def short(self) -> str:
        """The tag without function labels."""
        return self.tag[:2]


def parse_tree(bits: Sequence[str]) -> Node:
    """Return the tree of a sentence from the parse bit of each word. Raises ValueError for unmatched brackets."""
    root = Node("ROOT", 0, len(bits))
    open_nodes = [root]
    for place, bit in enumerate(bits):
        for tag, star, close in BIT.findall(bit):
            if tag:
                node = Node(tag, place)
                open_nodes[-1].children.append(node)
                open_nodes.append(node)
            elif star:
                _add_word(open_nodes[-1], place)
            elif close and len(open_nodes) > 1:
                open_nodes.pop().stop = place + 1
            else:
                raise ValueError(f"word {place} closes a bracket that is not open in its parse {bit!r}")
    if len(open_nodes) > 1:
        raise ValueError(f"the bracket ({open_nodes[-1].tag} of word {open_nodes[-1].start} is not closed")
    return root


def find_phrase(root: Node, start: int, stop: int) -> Node:
    """Return the largest phrase of exactly these words; without one, a noun phrase of all that lies within them."""
    inside: list[Node] = []
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        if node.tag not in ("", "ROOT") and (node.start, node.stop) == (start, stop):
            return node
        if node.start >= start and node.stop <= stop and node.tag != "ROOT":
            inside.append(node)
        elif node.tag:
            waiting.extend(node.children)
        elif node.start < stop and node.stop > start:
            inside.append(Node("", max(node.start, start), min(node.stop, stop)))
    return Node("NP", start, stop, sorted(inside, key=lambda node: node.start))


def minimum_span(root: Node, words: Sequence[str], pos: Sequence[str]) -> frozenset[int]:
    """Return places of the words that identify a mention: the highest words of its noun (or verb) phrases.

    These are words directly under the phrase, else those of each phrase below it (so for "A and B"), else the
    nearest further down; where no word counts, all words of the mention.
    """
    weighty = {place for place in range(root.start, root.stop) if _counts(words[place], pos[place])}
    own = [child for child in root.children if not child.tag and weighty & _places(child)]
    if own:
        return frozenset().union(*map(_places, own))
    tags = _tags(root)
    highest_places: frozenset[int] = frozenset()
    below = [child for child in root.children if child.tag and child.short in tags]
    for start in below or [root]:
        highest_places |= frozenset(_highest(start, tags if below else None, weighty))
    return highest_places or frozenset(range(root.start, root.stop))


def _highest(root: Node, tags: frozenset[str] | None, weighty: set[int]) -> Iterator[int]:
    """Places of the words nearest to the top, going down phrases of these tags only; without tags those of the first
    noun or verb phrase that is met."""
    nearest = float("inf")
    waiting = deque([(root, 0)])
    while waiting:
        node, depth = waiting.popleft()
        if depth > nearest:
            return
        if not node.tag:
            if weighty & _places(node):
                nearest = depth
                yield from _places(node)
            continue
        if tags is None and (node.short in ("NP", "NM") or node.short in VERB):
            tags = VERB if node.short in VERB else NOUN
        if depth == 0 or tags is None or node.short in tags:
            accepted = tags is not None and node.short in tags
            waiting.extend((child, depth + 1) for child in node.children if child.tag or accepted)


def _tags(root: Node) -> frozenset[str]:
    """The tags that a mention's words may stand under: of verbs for a verb phrase, of nouns for all else."""
    if root.short in VERB:
        return VERB
    below = {child.short for child in root.children}
    verbal = root.short not in ("NP", "NM") and not below & {"NP", "NM"} and below & VERB
    return VERB if verbal else NOUN


def _add_word(node: Node, place: int) -> None:
    last = node.children[-1] if node.children else None
    if last and not last.tag and last.stop == place:
        last.stop += 1
    else:
        node.children.append(Node("", place, place + 1))


def _places(node: Node) -> frozenset[int]:
    return frozenset(range(node.start, node.stop))


def _counts(word: str, pos: str) -> bool:
    return (word == "%" or any(map(str.isalnum, word))) and word not in BRACKETS and pos not in LIGHT
