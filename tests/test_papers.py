"""Pages of papers: how tables and figures are registered, shown and kept."""

import pytest

from bnlab.papers.page import Page, Rows, Table, pairs, stored


@pytest.fixture
def page() -> Page:
    page = Page()

    @page.table("table_{k}", "name", "p", form=".2f", each=[{"k": 1}, {"k": 2}])
    def numbers(k: int, more: int = 0) -> Rows:
        """Table {k}: powers.

        A sentence of its own.
        """
        yield "first", 0.5**k
        yield "second", 0.25**k + more

    @page.figure("figure_{name}", each=[{"name": "TIC-tac"}])
    def figure(name: str) -> str:
        """Figure: {name}.

        It is a text here.
        """
        return name

    return page


def test_docstrings_make_titles(page: Page) -> None:
    assert list(page.parts) == ["table_1", "table_2", "figure_tic_tac"]
    parts = list(page.parts.values())
    assert [part.title for part in parts] == [
        "Table 1: powers",
        "Table 2: powers",
        "Figure: TIC-tac",
    ]
    assert parts[0].about == "A sentence of its own." and parts[2].make() == "TIC-tac"


def test_a_table_is_printed_as_it_is_made(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    page.show("table_2", more=1)
    assert capsys.readouterr().out == "name       p\nfirst   0.25\nsecond  1.06\n"
    assert page.parts["table_2"].make().csv() == "name,p\r\nfirst,0.25\r\nsecond,0.0625\r\n"


def test_headers_stand_above_their_columns() -> None:
    made = Table(("n", "a long head"), ((1000, "x"), (2, "word")))
    assert made.text() == "       a\n       long\n    n  head\n1,000  x\n    2  word"


def test_numbers_of_any_size_have_a_form() -> None:
    _, rows = Table(("v",), ((1234.5,), (1.5e-11,), (0.123456,), (10_000,))).display()
    assert [row[0] for row in rows] == ["1,234.50", "1.5e-11", "0.1235", "10,000"]


def test_a_long_table_is_shown_across() -> None:
    rows = ((10, "run", 3, 4), (10, "mean", "", 5), (10, "mean", "", 6), (20, "run", 1, 2))
    made = Table(("n", "of", "print", "ours"), rows, across="of", cell="{ours} [{print}]")
    assert made.display() == (
        ["n", "run", "mean"],
        [["10", "4 [3]", "5 6"], ["20", "2 [1]", ""]],
    )
    assert made.csv().count("\n") == 5


def test_published_values_stand_beside_ours() -> None:
    assert list(pairs([1, 2], [3, 4])) == [1, 3, 2, 4]


def test_stored_runs_are_read_once_and_cannot_be_replaced() -> None:
    arrays = stored("htw2016")
    assert stored("htw2016") is arrays and arrays["bias"].shape == (4,)
    with pytest.raises(TypeError):
        arrays["bias"] = arrays["bias"]  # type: ignore[index]
