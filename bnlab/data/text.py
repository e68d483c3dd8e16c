"""The text of a delimited file: options, cells that mean missing, and rows of cells."""

import codecs
import csv
import io
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bnlab.checks import check_counts, conforming
from bnlab.data.discretizing import Discretizer
from bnlab.errors import InputError, Setting
from bnlab.files import packaged, told_briefly, unpacked

WORDS = packaged("data/known/words.toml")
MISSING_MARKERS: tuple[str, ...] = tuple(WORDS["missing"])
"""As pandas, R, Excel (in its languages), SQL, SPSS and C write what is missing."""
_USUAL = frozenset(marker.casefold() for marker in MISSING_MARKERS)
_DOUBTFUL = frozenset(WORDS["perhaps_missing"])
_SIGNS = re.compile(r"[-.*?:#/\\_~!]+")
_BRACKETS = re.compile(r"[(<\[{](.*)[)>\]}]")
_CYRILLIC = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456",
    "abekmhopctyxi",
)
_INVISIBLE = {0xAD: None, 0x200B: None, 0x2060: None, 0xFEFF: None}
_SPACES = dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_PLAIN = {**dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"), 0x2019: "'", 0xB4: "'"}


class Markers(frozenset[str]):
    """Cells that mean missing: those of `MISSING_MARKERS` in any capitals, others as written."""

    @classmethod
    def of(cls, given: Iterable[str], declared: object = None) -> "Markers":
        """The given markers but for those that are declared to be levels, if any are."""
        levels = declared if isinstance(declared, Iterable) else ()
        kept = {str(level).casefold() for level in levels}
        markers = {str(marker) for marker in given if str(marker).casefold() not in kept}
        return cls(markers | {m.casefold() for m in markers if m.casefold() in _USUAL})

    def __contains__(self, cell: object) -> bool:
        if super().__contains__(cell):
            return True
        folded = str(cell).strip().casefold()
        return folded in _USUAL and super().__contains__(folded)


def visible(text: str, /) -> str:
    """Text without what nobody sees: signs of no width, other spaces, accents in two pieces."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate({**_INVISIBLE, **_SPACES}))


def perhaps_missing(label: str, others: Iterable[str], /) -> bool:
    """Whether a label may mean missing, for all the labels beside it."""
    folded = label.strip().casefold().translate(_PLAIN)
    inside = _BRACKETS.fullmatch(folded)
    word = inside[1] if inside else folded
    if _SIGNS.fullmatch(word):
        return all(any(map(str.isalnum, other)) for other in others if other != label)
    if word == "none" and not {*WORDS["scale"]}.isdisjoint(map(str.casefold, others)):
        return False
    return folded in _USUAL or word in _USUAL or word in _DOUBTFUL


def alike(labels: Iterable[str], /) -> list[str]:
    """Groups of labels that look or sound alike, each in words."""
    spelled: dict[str, list[str]] = {}
    for label in sorted(labels):
        spelled.setdefault(_spoken(label), []).append(label)
    groups = [group for group in spelled.values() if len(group) > 1]
    groups += [
        [*spelled[short], *spelled[long]]
        for short, long in WORDS["short"]
        if short in spelled and long in spelled
    ]
    return [" and ".join(map(_shown, group)) for group in groups]


def _spoken(label: str) -> str:
    """A label without what does not sound: capitals, widths, dashes, points and blanks."""
    text = unicodedata.normalize("NFKC", visible(label).translate(_PLAIN))
    text = text.casefold().translate(_CYRILLIC)
    text = re.sub(r"[\s.,;:_'\"`]+(?!\d)|\s+", " ", text)
    return re.sub(r" *- *", "-", text).strip() or label


def _shown(label: str) -> str:
    foreign = label.casefold().translate(_CYRILLIC) != label.casefold()
    return ascii(label) if foreign or label != visible(label).strip() else label


Missing = Literal["error", "drop", "level", "keep"]
Rules = Mapping[str, Discretizer] | Discretizer | None

DEFAULT_MAX_LEVELS = 64
DECIMAL_COMMA = re.compile(r"[+-]?\d*+,\d++([eE][+-]?\d++)?", re.ASCII)
DELIMITERS = (",", ";", "\t", "|")
_SAVED = 'numpy.savetxt("table.csv", numpy.load({path!r}){part}, fmt="%s", delimiter=",")'
_WRITTEN = 'pandas.read_{part}({path!r}).to_csv("table.csv", index=False)'
_OTHERS = {  # how they begin: what they are, and how to make a table of text
    rb"PK\x03\x04.{26}[^\x00]{1,80}\.npy": ("arrays of NumPy", _SAVED, '["NAME"]'),
    rb"\x93NUMPY": ("an array of NumPy", _SAVED, ""),
    rb"PAR1.*PAR1\Z": ("a file of Parquet", _WRITTEN, "parquet"),
    rb"ARROW1\x00": ("a file of Arrow", _WRITTEN, "feather"),
    rb"\x80[\x02-\x05].*\.\Z": ("a pickle of Python", _WRITTEN, "pickle"),
    rb"<stata_dta>": ("a file of Stata", _WRITTEN, "stata"),
    rb"\$FL[23]@": ("a file of SPSS", _WRITTEN, "spss"),
}
_WORKBOOKS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # .xlsx, .ods, .zip; .xls
_PACKED = re.compile(rb"BZh[1-9]1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd")  # by bzip2, xz, zstd


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `read_csv`, with its defaults; `read_table` finds out what is None."""

    delimiter: str | None = None
    decimal: str | None = "."
    skip: int | None = 0
    header: bool | None = True
    names: Sequence[str] | None = None
    letters: Sequence[str] | None = ()
    drop: Sequence[str] | None = ()
    levels: Mapping[str, Sequence[str]] | None = None
    discretize: Rules = None
    continuous: Sequence[str] | None = ()
    count: str | Literal[False] | None = None
    intervention: str | Literal[False] | None = None
    missing: Missing | None = "error"
    missing_markers: Sequence[str] = MISSING_MARKERS
    encoding: str | None = "utf-8-sig"
    max_levels: int = DEFAULT_MAX_LEVELS


def by_column(option: object, /) -> Mapping[str, Any]:
    """What an option says of each column, if it is a mapping from them."""
    return option if isinstance(option, Mapping) else {}


def string_list(option: str, value: Iterable[str]) -> tuple[str, ...]:
    """`value` as a tuple; a bare string, which would fall apart into letters, is refused."""
    return tuple(conforming(option, value, Sequence[object]))


def read_text(path: str | os.PathLike[str], encoding: str) -> str:
    """The text of a file, gzipped or not; ValueError if it is no text."""
    conforming("path", path, str | os.PathLike[str])
    return decoded(unpacked(path), str(path), encoding)


@told_briefly()
def decoded(raw: bytes, path: str, encoding: str, /) -> str:
    """The text that the content of a file at `path` spells; ValueError if it is no text."""
    for start, (what, how, part) in _OTHERS.items():
        if re.match(start, raw, re.DOTALL):
            made = how.format(path=path, part=part)
            raise ValueError(f"{path}: {what}, no text. Make a table of text with {made}")
    if raw.startswith(_WORKBOOKS):
        raise ValueError(
            f"{path}: a workbook of Excel or an archive. Save its sheet as CSV, or unpack it"
        )
    if _PACKED.match(raw):
        raise ValueError(f"{path}: compressed, but not by gzip. Decompress it first")
    try:
        return raw.decode(encoding)
    except LookupError as error:
        unknown = Setting("encoding", encoding)
        raise InputError(unknown, " is unknown; try utf-8 or latin-1") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = "latin-1"
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            guess = "utf-16"
        elif encoding != "cp1252" and re.search(rb"[\x80-\x9f]", raw):  # no letters in Latin-1
            guess = "cp1252"
        raise InputError.of(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not "
            f"{encoding.removesuffix('-sig')}. ",
            f"Save the file as UTF-8, or pass {{encoding={guess!r}}}",
        ) from error


class Rows(NamedTuple):
    """Names of the columns, rows of cells, all of that length, and the line that each ends on."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]

    def with_points(self) -> "Rows":
        """The same with decimal points instead of commas."""
        rows = [
            [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row]
            for row in self.rows
        ]
        return self._replace(rows=rows)


def table_rows(text: str, source: str, options: Options, /) -> Rows:
    """The cells of a table, as they are; a ValueError for what is none."""
    skip, header, decimal = options.skip or 0, bool(options.header), options.decimal
    names = None if options.names is None else list(string_list("names", options.names))
    if decimal not in (".", ","):
        raise ValueError(f'decimal={decimal!r}: choose "." or ","')
    rows, lines = split_cells(text, source, options.delimiter, skip)
    if not rows:
        where = f" below line {skip}" if skip else ""
        raise ValueError(f"{source}: no rows of data{where}; it is empty")
    if header:
        first, *rows = rows
        lines = lines[1:]
        if names is not None and len(names) != len(first):
            raise ValueError(f"{source}: {len(names)} names for {len(first)} columns")
        names = first if names is None else names
        if not rows:
            raise ValueError(f"{source}: no rows of data below the header")
    names = [f"x{v}" for v in range(len(rows[0]))] if names is None else names
    _check_header(names, source, header)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            raise InputError.of(
                f"{source}, line {line}: {len(row)} cell{'s' * (len(row) > 1)} where {len(names)} "
                "are expected. ",
                "Correct the line, or pass {delimiter=}, or {skip=} for lines above the table",
            )
    table = Rows(names, rows, lines)
    return table.with_points() if decimal == "," else table


def split_cells(
    text: str, source: str, delimiter: str | None, skip: int, /
) -> tuple[list[list[str]], list[int]]:
    """The non-blank rows of cells below the first `skip` lines, and the line that each ends on."""
    if "\0" in text:
        raise InputError.of(
            f"{source}: holds null bytes, so it is no text file ", "(or pass {encoding=})"
        )
    text = below(visible(text), skip)
    if delimiter is None:
        delimiter = guess_delimiter(text)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(Setting("delimiter", delimiter), ": one character is needed")
    if delimiter == " ":
        text = text.replace("\t", " ")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if delimiter == " ":
                row = [cell for cell in row if cell]
            if row and row != [""]:
                rows.append(row)
                lines.append(skip + reader.line_num)
    except csv.Error as error:
        hint = ". Is a quotation mark left open?" if '"' in text else ""
        raise ValueError(f"{source}, line {skip + reader.line_num}: {error}{hint}") from error
    return rows, lines


def below(text: str, skip: int, /) -> str:
    """The text below its first `skip` lines."""
    (skip,) = check_counts(least=0, skip=skip)
    lines = min(skip, text.count("\n") + 1)
    return "".join(text.split("\n", lines)[lines:]) if lines else text


def guess_delimiter(text: str, /) -> str:
    """The most frequent of comma, semicolon, tab and bar in the first line; a space without any."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = "".join(first.split('"')[::2])
    best = max(DELIMITERS, key=unquoted.count)
    return best if best in unquoted else " "


def _check_header(names: Sequence[str], source: str, header: bool) -> None:
    hint = ". If the first line is data, pass {header=False}" if header else ""
    for v, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            if v == len(names) - 1:
                hint = ": the lines end with a delimiter. Remove it, or name the column"
            raise InputError.of(f"{source}: column {v + 1} has no name", hint)
    if len(set(names)) < len(names):
        twice = next(name for v, name in enumerate(names) if name in names[:v])
        raise InputError.of(
            f"{source}: two columns are called {twice!r}", f"{hint}; else rename one"
        )
