"""How a page looks: its frame, its style, and the few lines of script that sort its tables."""

from collections.abc import Sequence
from html import escape

from bokeh.resources import Resources

STYLE = """
:root { color-scheme: light; --ink: #1a1a1a; --soft: #595959; --rule: #c8c8c8; --blue: #0b5394; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; color: var(--ink); background: #fff;
       font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main, footer { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.2rem 0 .5rem; border-bottom: 2px solid var(--rule); }
h3 { font-size: 1.08rem; margin: 1.4rem 0 .3rem; }
p, ul, dl { max-width: 46rem; overflow-wrap: anywhere; }
dt { font-weight: 600; }
dd { margin: 0 0 .5rem 1.2rem; }
summary { color: var(--blue); cursor: pointer; }
a { color: var(--blue); }
:focus-visible { outline: 3px solid #b45f06; outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: #fff; padding: .3rem .6rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; padding: 0;
         max-width: none; }
.lead { font-size: 1.1rem; }
.warning { border-left: 5px solid #b45f06; background: #fff4e5; padding: .6rem .9rem; }
.scroll { overflow-x: auto; max-width: 100%; }
.tall { max-height: 40rem; width: fit-content; overflow-y: auto;
        border-bottom: 3px solid var(--rule); }
.tall thead th { position: sticky; top: 0; background: #fff; }
table { border-collapse: collapse; min-width: min(100%, 26rem); margin: .8rem 0;
        font-size: .94rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem; max-width: 46rem; }
th, td { border-bottom: 1px solid var(--rule); padding: .28rem 1.1rem .28rem 0; text-align: left;
         vertical-align: top; overflow-wrap: break-word; max-width: 26rem; }
th { font-weight: 600; max-width: 16rem; }
tbody th { min-width: 8rem; }
thead th { border-bottom: 2px solid var(--soft); }
td.number { font-variant-numeric: tabular-nums; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0;
            text-align: left; text-decoration: underline dotted; cursor: pointer; }
th button span { position: absolute; }
th[aria-sort=ascending] button span::before { content: " \\25B2"; }
th[aria-sort=descending] button span::before { content: " \\25BC"; }
.side { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
figure { margin: 1rem 0; max-width: 100%; }
figcaption { color: var(--soft); font-size: .94rem; max-width: 46rem; contain: inline-size; }
pre { background: #f4f4f4; padding: .7rem .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-bottom: 2rem; color: var(--soft); font-size: .94rem; }
@media (max-width: 30rem) {
  header, main, footer { padding: 0 .9rem; }
  th, td { padding-right: .7rem; }
  tbody th { min-width: 5rem; }
  ul { padding-left: 1.2rem; }
  figcaption::before { content: "Swipe the picture sideways to see all of it. "; }
}
@media (scripting: none) {
  figure .scroll { display: none; }
  figcaption { contain: none; }
  figcaption::after { content: " (A picture that needs JavaScript.)"; }
  th button { text-decoration: none; cursor: inherit; }
}
@media print {
  body { font-size: 10.5pt; }
  nav, .skip, .screen { display: none; }
  table { font-size: 9pt; }
  tbody th { min-width: 4rem; }
  .scroll { overflow: visible; max-height: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  tr, figure { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  thead { display: table-header-group; }
  a { color: inherit; text-decoration: none; }
}
"""

SCRIPT = """
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const numeric = body.rows.length > 0 && "value" in body.rows[0].cells[column].dataset;
    const falls = head.getAttribute("aria-sort") === "descending" ||
      (!numeric && head.getAttribute("aria-sort") !== "ascending");
    const sign = falls ? 1 : -1;
    const rows = [...body.rows].sort((a, b) => sign * (numeric ? key(a) - key(b)
      : key(a).localeCompare(key(b), undefined, {numeric: true})));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "ascending" : "descending");
    body.append(...rows);
  });
}
"""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""What the page may load: nothing but what it carries. BokehJS makes functions from text."""


def document(
    title: str,
    *,
    head: Sequence[str],
    contents: Sequence[tuple[str, str]],
    body: str,
    foot: str,
    scripts: Sequence[str] = (),
) -> str:
    """A whole page that loads nothing, with BokehJS in it if there are scripts.

    Parameters
    ----------
    title : text, for the tab and the first heading
    head, body, foot, scripts : HTML
    contents : (anchor, text) of the links at the top

    Examples
    --------
    >>> page = document("a < b", head=[], contents=[("x", "X")], body="", foot="")
    >>> "<h1>a &lt; b</h1>" in page, '<a href="#x">X</a>' in page, "<script" in page
    (True, True, False)
    """
    links = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>' for anchor, text in contents)
    bokeh = Resources(mode="inline", components=["bokeh"]).render_js() if scripts else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the answer</a>
<header>
<h1>{escape(title)}</h1>
{"".join(head)}
<nav aria-label="Contents"><ul>{links}</ul></nav>
</header>
<main id="main">
{body}
</main>
<footer>{foot}</footer>
{bokeh}
{"".join(scripts)}
</body>
</html>
"""
