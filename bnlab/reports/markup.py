"""Small pieces of HTML; every text that goes through here is escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Html:
    """Text that is HTML already; everything else is escaped."""

    source: str


Cell = str | int | float | Html

TALL = 20  # rows that a table shows at once, about


def html(value: Cell, /) -> str:
    """A value as HTML: numbers to three decimals, text escaped.

    Examples
    --------
    >>> html("<b>"), html(0.25), html(1841), html(Html("<b>"))
    ('&lt;b&gt;', '0.250', '1,841', '<b>')
    """
    if isinstance(value, Html):
        return value.source
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(f"{value:,}" if isinstance(value, int) else value)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, perhaps of a class such as "warning".

    Examples
    --------
    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p{_class(kind)}>{escape(text)}</p>"


def bullets(items: Sequence[Cell]) -> str:
    """A list of items; nothing when there are none.

    Examples
    --------
    >>> bullets(["a", "b"])
    '<ul><li>a</li><li>b</li></ul>'
    """
    listed = "".join(f"<li>{html(item)}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def section(anchor: str, title: str, *parts: str) -> str:
    """A section with a heading that a link can point to.

    Examples
    --------
    >>> section("edges", "Edges", paragraph("None.")).endswith("<p>None.</p></section>")
    True
    """
    body = "\n".join(parts)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-h">'
        f'<h2 id="{anchor}-h">{escape(title)}</h2>\n{body}</section>'
    )


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell]], *, sortable: bool = False
) -> str:
    """A table whose first column heads its rows; buttons in the header sort it if `sortable`.

    Without rows it is a sentence. Of more than 20 rows, the rest is scrolled to.

    Examples
    --------
    >>> "<th scope=\\"row\\">rain</th>" in table("Edges", ["from", "p"], [["rain", 0.9]])
    True
    """
    if not rows:
        return paragraph(f"{caption} There are none.")
    heads = "".join(
        f'<th scope="col">{_sorter(head) if sortable else escape(head)}</th>' for head in header
    )
    body = "\n".join(f"<tr>{_row(row)}</tr>" for row in rows)
    tall = len(rows) > TALL
    more = f' <span class="screen">{len(rows)} rows: scroll to see all.</span>' if tall else ""
    return (
        f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(caption.split(".")[0])}">'
        f"<table{_class('sortable' if sortable else '')}><caption>{escape(caption)}{more}</caption>"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def folded(summary: str, *parts: str) -> str:
    """Parts behind a line that opens them; on paper they are open.

    Examples
    --------
    >>> folded("More", paragraph("Here."))
    '<details><summary>More</summary><p>Here.</p></details>'
    """
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def glossary(words: Sequence[tuple[str, str]], /) -> str:
    """Words, each with what it means.

    Examples
    --------
    >>> glossary([("DAG", "A network.")])
    '<dl><dt>DAG</dt><dd>A network.</dd></dl>'
    """
    listed = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in words)
    return f"<dl>{listed}</dl>"


def figure(picture: str, caption: str) -> str:
    """A picture with the sentence that says what to see in it.

    Examples
    --------
    >>> figure("<div></div>", "Edges.").endswith("<figcaption>Edges.</figcaption></figure>")
    True
    """
    return (
        f'<figure><div class="scroll" tabindex="0">{picture}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def download(name: str, kind: str, content: str, what: str) -> Html:
    """A link that saves `content`, which the page carries, as a file of this name.

    Examples
    --------
    >>> download("a.csv", "text/csv", "x", "A table").source
    '<a download="a.csv" href="data:text/csv;base64,eA==">a.csv</a>: A table'
    """
    packed = base64.b64encode(content.encode()).decode()
    return Html(
        f'<a download="{escape(name)}" href="data:{kind};base64,{packed}">{escape(name)}</a>: '
        f"{escape(what)}"
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _sorter(head: str) -> str:
    return f'<button type="button">{escape(head)}<span aria-hidden="true"></span></button>'


def _row(row: Sequence[Cell]) -> str:
    first, *rest = row
    return f'<th scope="row">{html(first)}</th>' + "".join(_cell(value) for value in rest)


def _cell(value: Cell) -> str:
    if isinstance(value, (int, float)):
        return f'<td class="number" data-value="{value!r}">{html(value)}</td>'
    return f"<td>{html(value)}</td>"
