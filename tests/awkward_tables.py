# ruff: noqa: RUF001
"""Tables as programs and people write them, each with what a reader who knows it would say.

`python awkward_tables.py` shows side by side what `read_table` makes of them.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bnlab.reports import Reading, read_table

STUDY = [
    ("fm"[i % 2], ("low", "mid", "high")[i % 3], ("yes", "no", "no", "yes", "no")[i % 5])
    for i in range(30)
]
LEVELS = {"sex": "f m", "dose": "high low mid", "ill": "no yes"}
NAMES = ("sex", "dose", "ill")


@dataclass(frozen=True)
class Awkward:
    """A text, and what is right: levels by name of variable (or their number), rows as "m".

    `note` must be among what is told, `refused` in the error; with `remedy`, which is options or an
    edit of the text, it is then read rightly. A table that is `told` is read otherwise than right.
    """

    text: str | bytes
    right: Mapping[str, Any]
    note: str = ""
    refused: str = ""
    remedy: Mapping[str, Any] | Callable[[str], str] = field(default_factory=dict)
    told: str = ""


def outcome(table: Awkward, folder: Path) -> tuple[str, str]:
    """Right, right with a note, told, refused, or WRONG and why; and what was said."""
    path = folder / "table.csv"
    path.write_bytes(table.text if isinstance(table.text, bytes) else table.text.encode())
    try:
        reading = read_table(path)
    except ValueError as error:
        said = str(error)
        if not table.refused or not re.search(table.refused, said):
            return "WRONG: refused", said
        options: Mapping[str, Any] = {}
        if callable(table.remedy):
            path.write_text(table.remedy(str(table.text)))
        else:
            options = table.remedy
            if missed := [option for option in options if f"{option}=" not in said]:
                return f"WRONG: {missed} is not said", said
        try:
            reading = read_table(path, **options)
        except ValueError as again:
            return f"WRONG: the remedy fails: {again}", said
        wrong = differs(reading, table.right)
        return (f"WRONG: after the remedy {wrong}" if wrong else "refused"), said
    said = " ".join([*reading.notes, *(column.note for column in reading.columns)])
    if table.refused:
        return "WRONG: not refused", said
    for note in (table.note, table.told):
        if not re.search(note, said):
            return f"WRONG: silent about {note}", said
    wrong = differs(reading, table.right)
    if table.told:
        return "told" if wrong else "WRONG: told, but right", said
    return (f"WRONG: {wrong}" if wrong else "right with a note" if table.note else "right"), said


def differs(reading: Reading, right: Mapping[str, Any]) -> str:
    """What is not as it should be, "" if all is."""
    data = reading.data
    expected = {name: levels for name, levels in right.items() if name != "m"}
    if set(data.names) != set(expected):
        return f"variables {data.names}"
    for name, levels in expected.items():
        found = data.levels[data.index(name)]
        same = len(found) == levels if isinstance(levels, int) else found == tuple(levels.split())
        if not same:
            return f"{name} has {found}"
    return "" if data.m == right.get("m", 30) else f"{data.m} rows"


def text_of(names: Any, rows: Any, delimiter: str = ",", end: str = "\n") -> str:
    """Lines of cells."""
    lines = [names, *rows] if names else rows
    return "".join(delimiter.join(map(str, line)) + end for line in lines)


def study(**columns: Any) -> str:
    """The study with more columns behind, each a function of the row's number or its cells."""
    more = [[c(i) if callable(c) else c[i % len(c)] for i in range(30)] for c in columns.values()]
    return text_of((*NAMES, *columns), [(*s, *(c[i] for c in more)) for i, s in enumerate(STUDY)])


def first(name: str, cells: Any) -> str:
    """The study with one more column before."""
    return text_of((name, *NAMES), [(cells[i % len(cells)], *row) for i, row in enumerate(STUDY)])


def without(pattern: str) -> Callable[[str], str]:
    """An edit: remove the lines that hold the pattern."""
    return lambda text: "".join(
        line for line in text.splitlines(keepends=True) if not re.search(pattern, line)
    )


def sub(pattern: str, new: str) -> Callable[[str], str]:
    """An edit: replace the pattern."""
    return lambda text: re.sub(pattern, new, text)


COUNTED = [(s, d, 3 + 5 * i) for i, (s, d) in enumerate((s, d) for s in "fm" for d in "hlm")]
TOTAL = sum(row[2] for row in COUNTED)
PLAIN = text_of(NAMES, STUDY)
MARKED = {**LEVELS, "x": "a b missing"}


def marked(marker: str) -> str:
    """The study with a marker in each third cell of a column of words."""
    return study(x=("a", "b", marker, "a", "b", "b", marker))


MESSY: dict[str, Awkward] = {}

# Counts

for name in ("Anzahl", "Freq", "frequency", "Total", "weight", "cases"):
    MESSY[f"counts called {name} come first"] = Awkward(
        text_of((name, "sex", "dose"), [(c, s, d) for s, d, c in COUNTED]),
        {"m": TOTAL, "sex": "f m", "dose": "h l m"},
        refused=f"does .*'{name}' count rows",
        remedy={"count": name},
    )
MESSY |= {
    "counts in the middle": Awkward(
        text_of(("sex", "n", "dose"), [(s, c, d) for s, d, c in COUNTED]),
        {"m": TOTAL, "sex": "f m", "dose": "h l m"},
        refused="does .*'n' count rows",
        remedy={"count": "n"},
    ),
    "counts of any name": Awkward(
        text_of(("sex", "dose", "effectif"), COUNTED),
        {"m": TOTAL, "sex": "f m", "dose": "h l m"},
        refused="does .*'effectif' count rows",
        remedy={"count": "effectif"},
    ),
    "counts without a header": Awkward(
        text_of((), [(*"pq"[i % 2], "uvw"[i % 3], "kl"[i // 6], i * i % 11) for i in range(12)]),
        {"m": sum(i * i % 11 for i in range(12)), "x0": "p q", "x1": "u v w", "x2": "k l"},
        refused="does .*'x3' count rows",
        remedy={"count": "x3"},
    ),
    "a negative count": Awkward(
        text_of(("sex", "dose", "count"), [*COUNTED[:-1], ("m", "m", -3)]),
        {"m": TOTAL - 28, "sex": "f m", "dose": "h l m"},
        refused="'count' .*-3",
        remedy=without("-3"),
    ),
    "counts with groups of thousands": Awkward(
        text_of(("sex", "dose", "count"), [(s, d, f"1 {c:03}") for s, d, c in COUNTED]),
        {"m": TOTAL + 6000, "sex": "f m", "dose": "h l m"},
        refused="'count' .*1 003",
        remedy=sub("1 0", "10"),
    ),
    "counts and percent": Awkward(
        text_of(("sex", "dose", "n", "share"), [(*r, round(r[2] / TOTAL, 3)) for r in COUNTED]),
        {"m": TOTAL, "sex": "f m", "dose": "h l m", "share": 3},
        refused="does .*'n' count rows",
        remedy={"count": "n"},
    ),
    "two columns of counts": Awkward(
        text_of(("sex", "dose", "count", "freq"), [(*r, r[2] % 4) for r in COUNTED]),
        {"m": TOTAL, "sex": "f m", "dose": "h l m", "freq": "0 1 2 3"},
        refused="do .*'count'.*'freq' count",
        remedy={"count": "count"},
    ),
    "counts with a gap": Awkward(
        text_of(("sex", "dose", "count"), [*COUNTED[:-1], ("m", "m", "")]),
        {"m": TOTAL - 28, "sex": "f m", "dose": "h l m"},
        refused="'count'",
        remedy=sub("m,m,\n", "m,m,0\n"),
    ),
    "weights of a survey": Awkward(
        study(weight=lambda i: 0.5 + i * 7 % 30 / 10),
        {**LEVELS, "weight": 3},
        note="weight .* not .*weights? of (the )?rows",
    ),
    "a total of points is no count": Awkward(
        study(Total=lambda i: i * 7 % 30),
        {**LEVELS, "Total": 3},
        refused="does .*'Total' count rows",
        remedy={"count": False},
    ),
    "a row of totals below counts": Awkward(
        text_of(("sex", "dose", "count"), [*COUNTED, ("Total", "", TOTAL)]),
        {"m": TOTAL, "sex": "f m", "dose": "h l m"},
        refused="line 8.*Total",
        remedy=without("Total"),
    ),
    "margins of a pivot table": Awkward(
        text_of(
            ("sex", "dose", "count"),
            [
                row
                for s in "fm"
                for row in [
                    *(r for r in COUNTED if r[0] == s),
                    (s, "Sum", sum(r[2] for r in COUNTED if r[0] == s)),
                ]
            ],
        ),
        {"m": TOTAL, "sex": "f m", "dose": "h l m"},
        refused="'dose'.*Sum",
        remedy=without("Sum"),
    ),
}

# Lines that are no rows

MESSY |= {
    "a row of totals below numbers": Awkward(
        PLAIN.replace("sex", "code,sex").replace("\nf", "\n3,f").replace("\nm", "\n4,m")
        + "105,,,\n",
        {**LEVELS, "code": "3 4"},
        refused="line 32.*sum",
        remedy=without("105"),
    ),
    "means below measurements": Awkward(
        text_of(
            ("plot", *NAMES[:2], "cm"),
            [
                *((f"p{i}", *r[:2], i * 7 % 30 + 0.5) for i, r in enumerate(STUDY)),
                ("Mean", "", "", 15.0),
            ],
        ),
        {"sex": "f m", "dose": "high low mid", "cm": 3},
        refused="line 32.*Mean",
        remedy=without("Mean"),
    ),
    "Insgesamt": Awkward(
        PLAIN + "Insgesamt,,\n", LEVELS, refused="Insgesamt", remedy=without("Insgesamt")
    ),
    "units below the header": Awkward(
        study(cm=lambda i: i * 7 % 30 + 0.5, kg=lambda i: i * 11 % 30 + 0.5).replace(
            "cm,kg\n", "cm,kg\n-,-,-,[cm],[kg]\n"
        ),
        {**LEVELS, "cm": 3, "kg": 3},
        refused="line 2.*units",
        remedy=without(r"\[cm"),
    ),
    "units below the header, few numbers": Awkward(
        study(mg=(5, 10), h=(1, 2, 4)).replace("mg,h\n", "mg,h\n,,,(mg),(h)\n"),
        {**LEVELS, "mg": "5 10", "h": "1 2 4"},
        refused=r"line 2.*\(mg\)",
        remedy=without(r"\(mg"),
    ),
    "descriptions below the header": Awkward(
        PLAIN.replace("ill\n", "ill\nSex of patient,Dose given,Fell ill?\n"),
        LEVELS,
        refused="line 2.*Sex of patient",
        remedy=without("Sex of"),
    ),
    "three lines of header, as of Qualtrics": Awkward(
        PLAIN.replace(
            "ill\n",
            "ill\nWhat is your sex?,How much?,Are you ill?\n"
            + ",".join(f'"{{""ImportId"":""QID{i}""}}"' for i in range(3))
            + "\n",
        ),
        LEVELS,
        refused="line 2.*What is your sex",
        remedy=without(r"QID|\?"),
    ),
    "types below the header": Awkward(
        PLAIN.replace("ill\n", "ill\nstring,category,bool\n"),
        LEVELS,
        refused="line 2.*string",
        remedy=without("string"),
    ),
    "a rule below the header, as of Markdown": Awkward(
        "|"
        + PLAIN.replace(",", "|").replace("\n", "|\n|").replace("|f", "|---|---|---|\n|f", 1)[:-1],
        LEVELS,
        refused="---",
        remedy=without("---"),
    ),
    "a rule below the header, as of psql": Awkward(
        PLAIN.replace(",", " | ").replace("ill\n", "ill\n-----+------+----\n") + "(30 rows)\n",
        LEVELS,
        refused="line 2",
        remedy=without(r"---|rows\)"),
    ),
    "groups of columns above the header": Awkward(
        "Person,,Result\n" + PLAIN,
        LEVELS,
        refused="line 1.*skip=",
        remedy={"skip": 1},
    ),
    "groups of columns above numbers": Awkward(
        "Dose,,\n" + text_of(("a", "b", "c"), [(i % 2, i % 3, i % 5) for i in range(30)]),
        {"a": "0 1", "b": "0 1 2", "c": "0 1 2 3 4"},
        note="first line is not part",
    ),
    "a title as wide as the table": Awkward(
        "My study,,\n" + PLAIN, LEVELS, note="first line is not part"
    ),
    "a title and an empty line as wide as the table": Awkward(
        "My study,,\n,,\n" + PLAIN, LEVELS, note="first 2 lines are not part"
    ),
    "empty lines as wide as the table": Awkward(
        PLAIN + ",,\n,,\n,,\n", LEVELS, refused="lines? 32.*empty", remedy=without("^,,$")
    ),
    "a footnote": Awkward(
        PLAIN + "Source: own data\n", LEVELS, refused="line 32", remedy=without("Source")
    ),
    "a footnote as wide as the table": Awkward(
        PLAIN + "Source: own data,,\n", LEVELS, refused="line 32.*Source", remedy=without("Source")
    ),
    "a footnote with a star": Awkward(
        PLAIN + "* estimated,,\n** as of 2020,,\n",
        LEVELS,
        refused=r"line 32.*\* estimated",
        remedy=without(r"\*"),
    ),
    "number of rows below": Awkward(
        PLAIN + "N = 30,,\n", LEVELS, refused="line 32.*N = 30", remedy=without("N =")
    ),
    "comments between the rows": Awkward(
        PLAIN.replace("f,low,no\n", "f,low,no\n# logger was restarted\n", 1),
        LEVELS,
        refused=r"line \d+: 1 cell",
        remedy=without("#"),
    ),
    "a comment as wide as the table": Awkward(
        "# made, by, nobody\n" + PLAIN, LEVELS, refused="line 2.*sex", remedy={"skip": 1}
    ),
    "the header once more": Awkward(
        PLAIN + PLAIN,
        {**LEVELS, "m": 60},
        refused="header once more",
        remedy=lambda t: PLAIN * 1 + PLAIN.split("\n", 1)[1],
    ),
    "the header once more in capitals": Awkward(
        PLAIN + PLAIN.split("\n", 1)[1].join(["SEX,DOSE,ILL\n", ""]),
        {**LEVELS, "m": 60},
        refused="line 32.*(SEX|header)",
        remedy=without("SEX"),
    ),
    "a second table below": Awkward(
        PLAIN
        + "\nage,place,score\n"
        + text_of((), [("old", "town", "good"), ("young", "land", "bad")] * 4),
        LEVELS,
        refused="line 33.*age",
        remedy=lambda text: text.split("\nage")[0],
    ),
    "Excel's formula errors": Awkward(
        study(x=(1, 2, "#DIV/0!", "#REF!", 1, 2, 2)),
        {**LEVELS, "x": "1 2 missing"},
        note="#DIV/0!",
    ),
}

# Headers

MESSY |= {
    "years as names": Awkward(
        text_of((2001, 2002, 2003), [(i % 2, i % 3, i % 5) for i in range(30)]),
        {"2001": "0 1", "2002": "0 1 2", "2003": "0 1 2 3 4"},
        refused="names or data",
        remedy={"header": True},
    ),
    "years as names of measurements": Awkward(
        text_of((2001, 2002), [(i * 7 % 30 + 0.5, i * 11 % 30 + 0.5) for i in range(30)]),
        {"2001": 3, "2002": 3},
        refused="names or data",
        remedy={"header": True},
    ),
    "numbers as names": Awkward(
        text_of(range(4), [(i % 2, i % 3, i % 5 % 2, i % 7 % 2) for i in range(30)]),
        {"0": "0 1", "1": "0 1 2", "2": "0 1", "3": "0 1"},
        refused="names or data",
        remedy={"header": True},
    ),
    "items of a questionnaire": Awkward(
        text_of(("sex", 1, 2, 3), [("fm"[i % 2], i % 2, i % 3, i % 5) for i in range(30)]),
        {"sex": "f m", "1": "0 1", "2": "0 1 2", "3": "0 1 2 3 4"},
        refused="names or data",
        remedy={"header": True},
    ),
    "no header, words": Awkward(
        text_of((), STUDY), {"x0": "f m", "x1": "high low mid", "x2": "no yes"}, note="holds data"
    ),
    "no header, numbers": Awkward(
        text_of((), [(i % 2, i % 3, i % 5) for i in range(30)]),
        {"x0": "0 1", "x1": "0 1 2", "x2": "0 1 2 3 4"},
        note="holds data",
    ),
    "no header, and a first row like no other": Awkward(
        text_of((), [("x", "none of it", "maybe"), *STUDY[:29]]),
        {"x": "f m", "none of it": "high low mid", "maybe": "no yes", "m": 29},
        note="first line holds names",
    ),
    "a name is missing in the middle": Awkward(
        PLAIN.replace("sex,dose,ill", "sex,,ill"),
        {"sex": "f m", "column 2": "high low mid", "ill": "no yes"},
        refused="column 2 has no name|names or data",
        remedy=sub("sex,,ill", "sex,column 2,ill"),
    ),
    "two names alike": Awkward(
        PLAIN.replace("ill", "sex"),
        LEVELS,
        refused="two columns",
        remedy=sub("dose,sex", "dose,ill"),
    ),
    "names with blanks around": Awkward(PLAIN.replace("sex,dose", " sex ,  dose "), LEVELS),
    "names with no-break spaces": Awkward(PLAIN.replace("sex,dose", "sex\xa0,\xa0dose"), LEVELS),
    "a mark inside, of joined files": Awkward(
        PLAIN + "\ufeff" + text_of((), STUDY), {**LEVELS, "m": 60}, note="invisible"
    ),
    "a count in a comment, then tabs": Awkward("# n=30\n" + PLAIN.replace(",", "\t"), LEVELS),
}
MESSY["a header of Eurostat"] = Awkward(
    "sex\\TIME\tx2001 \tx2002 \n"
    + "".join(
        f"{'fm'[i % 2]}\t{i * 7 % 30}.5 \t{'12.3 e' if i % 9 == 0 else i % 3 or ':'} \n"
        for i in range(30)
    ),
    {"sex\\TIME": "f m", "x2001": 3},
    refused="'x2002' mixes numbers with text",
    remedy={"drop": ["x2002"]},
)

# Missing cells

for marker in (
    "NaT",
    "(null)",
    "\\N",
    "Null",
    "n.a.",
    "N.A.",
    "<na>",
    "#VALUE!",
    "#REF!",
    "#NV",
    "#NULL!",
    "-nan",
    "1.#QNAN",
    "[NULL]",
    "NAN",
    "n/A",
):
    MESSY[f"{marker} in words"] = Awkward(marked(marker), MARKED, note=re.escape(repr(marker)))
for marker in (
    "-",
    "--",
    "*",
    ".",
    "..",
    "unknown",
    "Unknown",
    "none",
    "None",
    "NIL",
    "not available",
    "k.A.",
    "keine Angabe",
    "n.d.",
    "refused",
    "Don't know",
    "—",
    "???",
    "xxx",
    "(blank)",
    "no answer",
    "(missing)",
    "not applicable",
    "undefined",
):
    MESSY[f"{marker} in words"] = Awkward(
        marked(marker),
        MARKED,
        told=re.escape(f"{marker!r}") + ".*missing_markers=",
    )
for marker in (".", "-", "None", "unknown", ":", "n.d."):
    MESSY[f"{marker} in numbers"] = Awkward(
        study(x=(1, 2, marker, 1, 2, 2, marker), y=(3, 4, 5, 3, marker, 4, 4)),
        {**LEVELS, "x": "1 2 missing", "y": "3 4 5 missing"},
        refused=re.escape(repr(marker)),
        remedy={"missing_markers": ["", marker]},
    )
MESSY |= {
    "none of few": Awkward(
        study(pets=("none", "one", "two", "one", "none")), {**LEVELS, "pets": "none one two"}
    ),
    "Namibia": Awkward(
        study(country=("NA", "DE", "DE", "ZA", "DE", "NA", "ZA")),
        {**LEVELS, "country": "DE NA ZA"},
        told="'NA'.*levels=",
    ),
    "-1 for missing": Awkward(
        study(x=(1, 2, 3, -1, 2, 2, 4)),
        {**LEVELS, "x": "1 2 3 4 missing"},
        told="x holds -1 .*missing_markers=",
    ),
    "9 for missing": Awkward(
        study(x=(1, 2, 3, 9, 2, 2, 4)),
        {**LEVELS, "x": "1 2 3 4 missing"},
        told="x holds 9 .*missing_markers=",
    ),
    "88 for missing": Awkward(
        study(x=(1, 2, 3, 88, 2, 2, 4)),
        {**LEVELS, "x": "1 2 3 4 missing"},
        refused="holds 88",
        remedy={"missing_markers": ["", "88"]},
    ),
    "merged cells": Awkward(
        study(ward=lambda i: f"ward {'ABC'[i // 10]}" if i % 10 == 0 else ""),
        LEVELS,
        refused="'ward'.*merged",
        remedy={"drop": ["ward"]},
    ),
    "merged cells, labels again": Awkward(
        study(ward=lambda i: "AB"[i // 5 % 2] if i % 5 == 0 else ""),
        LEVELS,
        refused="'ward'.*merged",
        remedy={"drop": ["ward"]},
    ),
    "crosses in a questionnaire": Awkward(
        study(red=("X", "", "", "X", ""), blue=("", "X", "")),
        {**LEVELS, "red": "X missing", "blue": "X missing"},
        note='"missing" is a level',
    ),
}

# Labels that are not what they seem

MESSY |= {
    "zero-width spaces": Awkward(
        study(x=("Wien", "Wien\u200b", "Graz")), {**LEVELS, "x": "Graz Wien"}, note="invisible"
    ),
    "soft hyphens": Awkward(
        study(x=("Donau\xadstadt", "Donaustadt", "Graz")),
        {**LEVELS, "x": "Donaustadt Graz"},
        note="invisible",
    ),
    "composed and decomposed accents": Awkward(
        study(x=("Köln", "Ko\u0308ln", "Graz")), {**LEVELS, "x": "Graz Köln"}, note="accents"
    ),
    "no-break spaces inside": Awkward(
        study(x=("New\xa0York", "New York", "Graz")), {**LEVELS, "x": 2}, note="spaces"
    ),
    "two blanks inside": Awkward(
        study(x=("New  York", "New York", "Graz")), {**LEVELS, "x": 2}, told="New  York"
    ),
    "full-width letters": Awkward(study(x=("Ａ", "A", "B")), {**LEVELS, "x": "A B"}, told="Ａ"),
    "Yes, yes, Y": Awkward(
        study(x=("Yes", "yes", "No", "no")), {**LEVELS, "x": "no yes"}, told="Yes and yes"
    ),
    "yes and y": Awkward(study(x=("yes", "y", "no")), {**LEVELS, "x": "no yes"}, told="y and yes"),
    "male and M": Awkward(
        study(x=("male", "M", "female", "F")), {**LEVELS, "x": "female male"}, told="M and male"
    ),
    "TRUE and 1": Awkward(
        study(x=("TRUE", "1", "0", "FALSE")),
        {**LEVELS, "x": "FALSE TRUE"},
        refused="'x' mixes",
        remedy=lambda t: sub(",1\n", ",TRUE\n")(sub(",0\n", ",FALSE\n")(t)),
    ),
    "TRUE and T": Awkward(
        study(x=("TRUE", "T", "FALSE")), {**LEVELS, "x": "FALSE TRUE"}, told="T and TRUE"
    ),
    "St. and St": Awkward(
        study(x=("St. Pölten", "St Pölten", "Graz")), {**LEVELS, "x": 2}, told="St Pölten"
    ),
    "dashes": Awkward(
        study(x=("18-25", "18–25", "26-35")), {**LEVELS, "x": "18-25 26-35"}, told="18–25"
    ),
    "blanks at the end": Awkward(study(x=("a ", "a", " b")), {**LEVELS, "x": "a b"}),
    "codes with and without zeros": Awkward(
        study(x=("01", "1", "2")), {**LEVELS, "x": "1 2"}, note="01 and 1"
    ),
    "quoted with apostrophes": Awkward(study(x=("'a'", "'b'")), {**LEVELS, "x": "'a' 'b'"}),
}

# Numbers

MESSY |= {
    "German thousands": Awkward(
        study(x=lambda i: f"{i * 7 % 30 + 20}.{i * 37 % 1000:03}"),
        {**LEVELS, "x": 3},
        refused="'x'.*points.*group thousands",
        remedy=sub(r"\.", ""),
    ),
    "three decimals": Awkward(
        study(x=lambda i: f"{i * 7 % 30 + 20}.{i * 37 % 1000:03}"),
        {**LEVELS, "x": 3},
        refused="'x'.*points.*group thousands",
        remedy={"decimal": "."},
    ),
    "three decimals below one": Awkward(
        study(x=lambda i: f"{i % 2}.{i * 37 % 1000:03}"), {**LEVELS, "x": 3}
    ),
    "German thousands and millions": Awkward(
        study(x=lambda i: f"{i % 3 + 1}.{i * 7 % 30 + 200}.{i * 37 % 1000:03}"),
        {**LEVELS, "x": 3},
        refused="as 1200000",
        remedy=sub(r"\.", ""),
    ),
    "German thousands and decimals": Awkward(
        text_of(
            (*NAMES, "x"),
            [(*r, f"{i * 7 % 30 + 1}.{i * 37 % 1000:03},25") for i, r in enumerate(STUDY)],
            ";",
        ),
        {**LEVELS, "x": 3},
        refused=r"Write them as 1000\.25",
        remedy=lambda t: sub(r",", ".")(sub(r"\.", "")(t)),
    ),
    "Swiss thousands": Awkward(
        study(x=lambda i: f"{i * 7 % 30 + 20}'{i * 37 % 1000:03}"),
        {**LEVELS, "x": 3},
        refused="Write them as 20000",
        remedy=sub("'", ""),
    ),
    "thin spaces as thousands": Awkward(
        study(x=lambda i: f"{i * 7 % 30 + 20}\u202f{i * 37 % 1000:03}"),
        {**LEVELS, "x": 3},
        refused="Write them as 20000",
        remedy=sub("\u202f", ""),
    ),
    "percent": Awkward(
        study(x=lambda i: f"{i * 7 % 30}%"), {**LEVELS, "x": 3}, refused="as 0", remedy=sub("%", "")
    ),
    "percent in one cell": Awkward(
        study(x=lambda i: f"{i * 7 % 30}{'%' * (i == 4)}"),
        {**LEVELS, "x": 3},
        refused="28%",
        remedy=sub("%", ""),
    ),
    "minus signs of a typesetter": Awkward(
        study(x=lambda i: str(i * 7 % 30 - 15).replace("-", "−")),
        {**LEVELS, "x": 3},
        refused="−15",
        remedy=sub("−", "-"),
    ),
    "full-width digits": Awkward(
        study(x=("１２", "12", "13")),
        {**LEVELS, "x": "12 13"},
        refused="１２",
        remedy=sub("１２", "12"),
    ),
    "accounting": Awkward(
        study(x=lambda i: i * 7 % 30 - 15 if i % 7 * 7 > 15 else f"({i + 1}.5)"),
        {**LEVELS, "x": 3},
        refused=r"\(1\.5\)",
        remedy=lambda t: sub(r"\((.*)\)", r"-\1")(t),
    ),
    "below a limit of detection": Awkward(
        study(x=lambda i: "<0.5" if i % 3 == 0 else i + 0.5),
        {**LEVELS, "x": 4},
        refused="<0.5",
        remedy={"missing_markers": ["<0.5"]},
    ),
    "flags behind numbers": Awkward(
        study(x=lambda i: f"{i + 0.5}{' e' * (i % 3 == 0)}"),
        {**LEVELS, "x": 3},
        refused="0.5 e",
        remedy=sub(" e", ""),
    ),
    "infinite": Awkward(
        study(x=lambda i: "Inf" if i == 7 else i + 0.5),
        {**LEVELS, "x": 3, "m": 29},
        refused="Inf",
        remedy={"missing_markers": ["Inf"]},
    ),
    "postal codes": Awkward(
        study(plz=lambda i: 1010 + i % 26 * 10),
        {**LEVELS, "plz": 26},
        told="plz holds 26 different numbers",
    ),
    "postal codes with zeros": Awkward(
        study(zip=lambda i: f"{i % 26 * 370 + 17:05}"),
        {**LEVELS},
        refused="'zip'.*00017",
        remedy={"drop": ["zip"]},
    ),
    "telephone numbers": Awkward(
        study(phone=lambda i: f"+43 1 {i * 37 + 1234}"),
        LEVELS,
        refused="'phone'",
        remedy={"drop": ["phone"]},
    ),
    "dates": Awkward(
        study(day=lambda i: f"2024-01-{i + 1:02}"),
        LEVELS,
        refused="'day'",
        remedy={"drop": ["day"]},
    ),
    "dates as numbers": Awkward(
        study(day=lambda i: 20240101 + i),
        LEVELS,
        refused="'day'.*names rows",
        remedy={"drop": ["day"]},
    ),
    "few dates": Awkward(study(day=("1.2.2024", "2.2.2024", "3.2.2024")), {**LEVELS, "day": 3}),
    "seconds of a logger": Awkward(
        study(t=lambda i: i / 10), {**LEVELS, "t": 3}, note="t rises from row to row"
    ),
    "row numbers at the end": Awkward(
        study(nr=lambda i: i + 1),
        LEVELS,
        refused="'nr'.*names rows",
        remedy={"drop": ["nr"]},
    ),
    "row numbers with holes": Awkward(
        first("VAR1", [i + i // 4 for i in range(30)]),
        {**LEVELS, "VAR1": 3},
        note="VAR1 rises from row to row",
    ),
    "row numbers without a name": Awkward(first("", range(1, 31)), LEVELS, note="row is left out"),
    "identifiers of REDCap": Awkward(
        first("record_id", range(101, 131)), LEVELS, note="record_id is left out"
    ),
    "identifiers of persons seen twice": Awkward(
        first("patient_id", [i // 2 * 7 % 97 for i in range(30)]),
        {**LEVELS, "patient_id": 3},
        note="patient_id .*(names rows|several rows)",
    ),
    "wells of a plate": Awkward(
        first("well", [f"{'ABCDE'[i // 6]}{i % 6 + 1}" for i in range(30)]),
        LEVELS,
        note="well is left out",
    ),
    "rows twice": Awkward(
        text_of((*NAMES, "x"), [(*r, i * 7 % 30 + 0.5) for i, r in enumerate(STUDY)] * 2),
        {**LEVELS, "x": 3, "m": 60},
        note="30 rows .*copies",
    ),
    "durations": Awkward(study(t=lambda i: f"{i % 5}:{i % 3 * 15:02}"), {**LEVELS, "t": 15}),
    "scientific": Awkward(study(x=lambda i: f"{i * 7 % 30 + 1:.3E}"), {**LEVELS, "x": 3}),
    "scientific with commas": Awkward(
        text_of(
            (*NAMES, "x"),
            [(*r, f"{i * 7 % 30 + 1:.3E}".replace(".", ",")) for i, r in enumerate(STUDY)],
            ";",
        ),
        {**LEVELS, "x": 3},
        note="decimal commas",
    ),
}

MESSY |= {
    "shares of rows": Awkward(
        text_of(("sex", "dose", "freq"), [(s, d, c / TOTAL) for s, d, c in COUNTED]),
        {"sex": "f m", "dose": "h l m", "m": TOTAL},
        refused="does .*'freq' count rows.*0.03",
        remedy=lambda t: text_of(("sex", "dose", "freq"), COUNTED),
    ),
    "all of them on top": Awkward(
        text_of(("sex", "dose", "count"), [("all", "all", TOTAL), *COUNTED]),
        {"sex": "f m", "dose": "h l m", "m": TOTAL},
        refused="line 2.*'all'",
        remedy=without("all"),
    ),
    "German thousands, few": Awkward(
        study(x=("1.000", "2.000", "500")),
        {**LEVELS, "x": "500 1000 2000"},
        refused="'x'.*points.*group thousands",
        remedy=sub(r"\.", ""),
    ),
    "-1 below measurements": Awkward(
        study(x=lambda i: -1 if i % 10 == 0 else i * 1.5),
        {**LEVELS, "x": 4},
        told="x holds -1 .*missing_markers=",
    ),
    "0 below measurements": Awkward(
        study(x=lambda i: 0 if i % 10 == 0 else 50 + i * 7 % 40),
        {**LEVELS, "x": 4},
        told="x holds 0 .*missing_markers=",
    ),
    "1e30 above measurements": Awkward(
        study(x=lambda i: 1e30 if i == 7 else i * 1.5),
        {**LEVELS, "x": 4},
        told=r"x holds 1e\+30 .*missing_markers=",
    ),
    "a letter of another alphabet": Awkward(
        study(x=("A", "\u0410", "B")), {**LEVELS, "x": "A B"}, told=r"A and '\\u0410'"
    ),
    "a matrix of correlations": Awkward(
        text_of(
            ("", "a", "b", "c"),
            [(n, *(1 / (abs(i - j) + 1) for j in range(3))) for i, n in enumerate("abc")],
        ),
        LEVELS,
        refused="matrix",
        remedy=lambda t: PLAIN,
    ),
    "measures of the device above": Awkward(
        "Device,X100\nSerial,S123\nStation,Graz\n\n"
        + text_of(("sex", "dose"), [r[:2] for r in STUDY]),
        {"sex": "f m", "dose": "high low mid"},
        told="Line 4 is empty",
    ),
    "measures of the device above a wide table": Awkward(
        "Device,X100\nSerial,S123\n\n" + PLAIN,
        LEVELS,
        refused="3 cells where 2.*skip=",
        remedy={"skip": 3},
    ),
    "two groups": Awkward(
        PLAIN + "\n" + text_of((), STUDY), {**LEVELS, "m": 60}, note="Line 32 is empty"
    ),
    "codes of labels below the header": Awkward(
        study(a="pqq", b="xyzz").replace("a,b\n", "a,b\n,,,(code),(code2)\n"),
        {**LEVELS, "a": "p q", "b": "x y z"},
        refused="line 2.*code",
        remedy=without("code"),
    ),
    "more variables than rows": Awkward(
        "a,b,c\n1,2,3\n2,1,1\n",
        {"a": "1 2", "b": "1 2", "c": "1 3", "m": 2},
        note="each row is a case",
    ),
    "a table cut short by pandas": Awkward(
        "   sex dose ill\n"
        + "".join(f"{i}  {' '.join(r)}\n" for i, r in enumerate(STUDY[:15]))
        + "..  ... ... ...\n"
        + "".join(f"{i}  {' '.join(r)}\n" for i, r in enumerate(STUDY[15:], start=80)),
        LEVELS,
        refused=r"line 17.*\.\.\.",
        remedy=without(r"\.\."),
    ),
    "a cell of crosses": Awkward(
        study(x=("1", "2", "########")),
        {**LEVELS, "x": "1 2 missing"},
        refused="####",
        remedy={"missing_markers": ["", "########"]},
    ),
}

# Other forms

MESSY |= {
    "divided by colons": Awkward(
        PLAIN.replace(",", ":"), LEVELS, refused="one column.*delimiter=", remedy={"delimiter": ":"}
    ),
    "divided by carets": Awkward(
        PLAIN.replace(",", "^"), LEVELS, refused="one column.*delimiter=", remedy={"delimiter": "^"}
    ),
    "divided by two colons": Awkward(
        PLAIN.replace(",", "::"), LEVELS, refused="one column.*delimiter=", remedy=sub("::", ",")
    ),
    "every line in quotation marks": Awkward(
        "".join(f'"{line}"\n' for line in PLAIN.splitlines()),
        LEVELS,
        refused="one column",
        remedy=sub('"', ""),
    ),
    "decimal commas between commas": Awkward(
        text_of((), [(f"{i * 7 % 30},5", "ab"[i % 2]) for i in range(30)]).join(["x,y\n", ""]),
        {"x": 3, "y": "a b"},
        refused="line 2.*3 cells where 2|line 2",
        remedy=lambda t: sub(r"(\d),5", r"\1.5")(t),
    ),
    "fixed width": Awkward("".join(f"{a:6}{b:7}{c:5}\n" for a, b, c in [NAMES, *STUDY]), LEVELS),
    "fixed width with a gap": Awkward(
        "".join(f"{a:6}{b:7}{c:5}\n" for a, b, c in [NAMES, *STUDY[:-1], ("f", "", "no")]),
        {**LEVELS, "m": 29},
        refused="line 31.*2 cells",
        remedy=lambda t: "\n".join(t.split("\n")[:30]),
    ),
    "aligned with tabs and blanks": Awkward(PLAIN.replace(",", " \t "), LEVELS),
    "mixed line ends": Awkward(
        PLAIN.replace("yes\n", "yes\r\n").replace("f,mid,no\n", "f,mid,no\r"), LEVELS
    ),
    "line breaks in cells": Awkward(study(x=('"two\nlines"', "b")), {**LEVELS, "x": 2}),
    "quotation marks left open": Awkward(
        PLAIN.replace("high", '"high', 1), LEVELS, refused="quotation mark", remedy=sub('"', "")
    ),
    "lines of JSON": Awkward(
        "".join(f'{{"sex": "{a}", "dose": "{b}", "ill": "{c}"}}\n' for a, b, c in STUDY),
        LEVELS,
        refused="JSON",
        remedy=lambda t: PLAIN,
    ),
    "a page of HTML": Awkward(
        "<html><body><table>\n" + "".join(f"<tr><td>{a}<td>{b}\n" for a, b, _ in STUDY),
        LEVELS,
        refused="HTML",
        remedy=lambda t: PLAIN,
    ),
    "ARFF": Awkward(
        "@relation study\n@attribute sex {f,m}\n@attribute dose {low,mid,high}\n"
        "@attribute ill {yes,no}\n@data\n" + text_of((), STUDY),
        LEVELS,
        refused="ARFF",
        remedy=lambda t: PLAIN,
    ),
    "a dump of SQL": Awkward(
        "".join(f"INSERT INTO study VALUES ('{a}', '{b}', '{c}');\n" for a, b, c in STUDY),
        LEVELS,
        refused="SQL",
        remedy=lambda t: PLAIN,
    ),
    "transposed": Awkward(
        text_of((), [(n, *(r[v] for r in STUDY)) for v, n in enumerate(NAMES)]),
        LEVELS,
        refused="Transpose",
        remedy=lambda t: PLAIN,
    ),
    "transposed, with names of rows": Awkward(
        text_of(
            ("", *(f"p{i}" for i in range(30))),
            [(n, *(r[v] for r in STUDY)) for v, n in enumerate(NAMES)],
        ),
        LEVELS,
        refused="Transpose",
        remedy=lambda t: PLAIN,
    ),
    "UTF-16 without a mark": Awkward(
        PLAIN.encode("utf-16-le"),
        LEVELS,
        refused="null bytes.*encoding=",
        remedy={"encoding": "utf-16-le"},
    ),
    "Latin-1": Awkward(
        study(x=("süß", "sauer")).encode("latin-1"),
        {**LEVELS, "x": "sauer süß"},
        refused="not utf-8",
        remedy={"encoding": "latin-1"},
    ),
    "UTF-8 taken for Latin-1 before": Awkward(
        study(x=("sÃ¼ÃŸ", "sauer")), {**LEVELS, "x": "sauer sÃ¼ÃŸ"}
    ),
    "one line of data": Awkward("a,b\n1,2\n", LEVELS, refused="constant", remedy=lambda t: PLAIN),
}


def main() -> None:
    """Print a line for each table, and the sums."""
    sums: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, table in MESSY.items():
            found, said = outcome(table, Path(folder))
            sums[found.split(":")[0]] += 1
            print(f"{name:45} {found}\n        {said.replace(folder, '')[:600]}")
    print(dict(sums), sums.total())


if __name__ == "__main__":
    main()
