"""The pages of `docs/` as HTML: read, rendered and sanitised once a process, in the order of mkdocs.yml.

An installed package has the files beside this module; a checkout has them in its own `docs/`.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nh3
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

PACKAGED = Path(__file__).parent / "files"
CHECKOUT = Path(__file__).parents[4]
PICTURES = {".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp"}
GENERATED = {
    f"reference/modules/{kind}s.md": f"/evaluate?kind={kind}" for kind in ("metric", "measurement", "comparison")
}
"""Pages that the documentation site makes of the cards of evaluation modules -> where this site shows those."""
TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "hr", "img", "li", "ol", "p", "pre"),
    *("strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "code": {"class"},
    "ol": {"start"},
    **{f"h{level}": {"id"} for level in range(1, 6)},
}


@dataclass(frozen=True)
class Heading:
    """A heading of a page, with its anchor."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Document:
    """A page: `name` is its address below `/docs`, `text` its plain text for search by heading's anchor."""

    name: str
    title: str
    section: str
    summary: str
    html: Markup
    headings: tuple[Heading, ...]
    passages: tuple[tuple[Heading, str], ...]

    @property
    def address(self) -> str:
        """The address of the page."""
        return address_of(self.name)


@dataclass(frozen=True)
class NavigationEntry:
    """A line of the navigation: a page, an address outside the documents, or a group without an address."""

    title: str
    address: str
    name: str | None
    entries: tuple["NavigationEntry", ...] = ()


def address_of(name: str) -> str:
    """Return the address of a page: `how-to/submit` is at `/docs/how-to/submit`, the first page at `/docs`."""
    return f"/docs/{name}" if name else "/docs"


def folder() -> Path:
    """Return the folder of the Markdown files."""
    return PACKAGED if PACKAGED.is_dir() else CHECKOUT / "docs"


@cache
def _configuration() -> Mapping[str, Any]:
    place = PACKAGED / "mkdocs.yml" if PACKAGED.is_dir() else CHECKOUT / "mkdocs.yml"
    settings: Mapping[str, Any] = yaml.safe_load(place.read_text("utf-8"))
    return settings


@cache
def navigation() -> tuple[NavigationEntry, ...]:
    """Return the navigation of mkdocs.yml."""
    return tuple(_entries(_configuration()["nav"]))


def _entries(lines: list[dict[str, Any]]) -> Iterator[NavigationEntry]:
    for title, target in (pair for line in lines for pair in line.items()):
        if isinstance(target, list):
            yield NavigationEntry(title, "", None, tuple(_entries(target)))
        elif target in GENERATED:
            yield NavigationEntry(title, GENERATED[target], None)
        else:
            yield NavigationEntry(title, address_of(_name(target)), _name(target))


def _name(path: str) -> str:
    """The name of a page for its file: `index.md` of a folder is the folder."""
    return re.sub(r"(^|/)index$", "", path.removesuffix(".md"))


def _files(entries: tuple[NavigationEntry, ...], section: str = "") -> Iterator[tuple[str, str, str]]:
    """Name, title and section of the pages, in the order of the navigation."""
    for entry in entries:
        if entry.name is not None:
            yield entry.name, entry.title, section
        yield from _files(entry.entries, section or entry.title)


@cache
def documents() -> Mapping[str, Document]:
    """Return all pages by name, in the order of the navigation."""
    root = folder()
    pages = {}
    for name, title, section in _files(navigation()):
        source = next(path for path in (root / f"{name}.md", root / name / "index.md") if path.is_file())
        pages[name] = _render(name, title, section, source.read_text("utf-8"), source.relative_to(root).as_posix())
    return pages


def picture(name: str) -> tuple[Path, str] | None:
    """Return file and media type of a picture of the documents; None for anything else."""
    kind = PICTURES.get(posixpath.splitext(name)[1])
    place = (folder() / name).resolve()
    return (place, kind) if kind and place.is_relative_to(folder().resolve()) and place.is_file() else None


def neighbours(name: str) -> tuple[Document | None, Document | None]:
    """Return the pages before and after one."""
    order = list(documents().values())
    at = next(index for index, document in enumerate(order) if document.name == name)
    return (order[at - 1] if at else None), (order[at + 1] if at + 1 < len(order) else None)


def _render(name: str, title: str, section: str, source: str, path: str) -> Document:
    reader = MarkdownIt("js-default", {"linkify": False})
    tokens = reader.parse(source)
    headings = tuple(_anchored(tokens))
    for token in (child for parent in tokens for child in parent.children or ()):
        if token.type == "link_open":
            token.attrs["href"] = _target(str(token.attrs["href"]), path)
        elif token.type == "image":
            token.attrs["src"] = _target(str(token.attrs["src"]), path)
    html = reader.renderer.render(tokens, reader.options, {})
    clean = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, link_rel=None, url_schemes={"http", "https", "mailto"})
    scrolling = clean.replace("<table>", '<div class="table-scroll" tabindex="0"><table>')
    scrolling = scrolling.replace("<pre>", '<pre tabindex="0">')
    passages = tuple(_passages(tokens, headings, title))
    return Document(
        name=name,
        title=headings[0].text if headings else title,
        section=section,
        summary=next((text for _heading, text in passages if text), ""),
        html=Markup(scrolling.replace("</table>", "</table></div>")),  # noqa: S704 - sanitised just now
        headings=headings,
        passages=passages,
    )


def _anchored(tokens: list[Token]) -> Iterator[Heading]:
    """Give headings the anchors that mkdocs gives them."""
    anchors: set[str] = set()
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            text = _plain(content)
            anchor = base = slug(text)
            count = 0
            while anchor in anchors:
                count += 1
                anchor = f"{base}_{count}"
            anchors.add(anchor)
            token.attrs["id"] = anchor
            yield Heading(int(token.tag[1]), text, anchor)


def slug(text: str) -> str:
    """Return the anchor of a heading, as Python-Markdown's table of contents makes it."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def _plain(token: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in token.children or ())


def _passages(tokens: list[Token], headings: tuple[Heading, ...], title: str) -> Iterator[tuple[Heading, str]]:
    """The plain text below each heading, for search and summaries; what stands before the first is the page's."""
    waiting = iter(headings)
    heading = Heading(1, title, "")
    texts: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            if texts:
                yield heading, " ".join(texts)
            heading, texts = next(waiting), []
        elif token.type == "inline" and tokens[at - 1].type != "heading_open":
            texts.append(_plain(token))
        elif token.type == "fence":
            texts.append(token.content)
    yield heading, " ".join(texts)


def _target(address: str, path: str) -> str:
    """The address on this site of what a page links to by the path of its file."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not parts.path:
        return address
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), parts.path))
    if place in GENERATED:
        kind = posixpath.basename(place).removesuffix("s.md")
        return f"/evaluate/{kind}/{parts.fragment}" if parts.fragment else GENERATED[place]
    target = address_of(_name(place)) if place.endswith(".md") else f"/docs/{place}"
    return f"{target}#{parts.fragment}" if parts.fragment else target
