"""Which cells mean missing, which labels perhaps do, and which labels are perhaps one."""

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

MISSING_MARKERS = (
    *("", "?", "NA", "N/A", "N.A.", "n.a", "n. a.", "<NA>", "NaN", "-NaN", "NaT"),
    *("null", "(null)", "<null>", "[null]", "\\N"),
    *("1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"),
    *("#N/A", "#NA", "#N/A N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"),
    *("#SPILL!", "#CALC!", "#GETTING_DATA"),
    *("#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOMBRE!", "#NOM?"),
    *("#N/D", "#VALORE!", "#RIF!", "#¡REF!", "#¡VALOR!", "#¡DIV/0!", "#¡NUM!", "#¿NOMBRE?"),
)
"""As pandas, R, Excel (in its languages), SQL, SPSS and C write what is missing."""
_USUAL = frozenset(marker.casefold() for marker in MISSING_MARKERS)
_DOUBTFUL = frozenset(
    "none|nil|unknown|unkn|unk|missing|miss|undefined|undetermined|unspecified|invalid|void|error"
    "|blank|empty|xx|xxx|tbd|refused|prefer not to say|no answer|no response|no data|no value"
    "|don't know|dont know|do not know|dk|not available|not applicable|not known|not reported"
    "|not stated|not specified|not given|not recorded|not measured|not determined|not asked"
    "|n.d.|nd|n/d|n.r.|n.k.|n/k|k.a.|keine angabe|weiß nicht|weiss nicht|unbekannt|fehlt|fehlend"
    "|inconnu|non disponible|desconocido|sin datos|ns/nc|s/d|onbekend|n.v.t.|okänd".split("|")
)
_SIGNS = re.compile(r"[-.*?:#/\\_~!]+")
_BRACKETS = re.compile(r"[(<\[{](.*)[)>\]}]")
_SCALE = frozenset(
    "one two few some several many most all low high weak strong slight mild moderate severe light"
    " heavy minor major little partial rare".split()
)
"""Beside these, none is an answer."""
_CYRILLIC = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456",
    "abekmhopctyxi",
)
_INVISIBLE = {0xAD: None, 0x200B: None, 0x2060: None, 0xFEFF: None}
_SPACES = dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_PLAIN = {**dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"), 0x2019: "'", 0xB4: "'"}
_SHORT = (
    *(("y", "yes"), ("n", "no"), ("t", "true"), ("f", "false"), ("m", "male"), ("f", "female")),
    *(("j", "ja"), ("n", "nein"), ("w", "weiblich"), ("m", "männlich")),
)


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

    def missing(self, cells: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the cells are among them."""
        return np.array([cell in self for cell in cells], np.bool_)


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
    if word == "none" and not _SCALE.isdisjoint(other.casefold() for other in others):
        return False
    return folded in _USUAL or word in _DOUBTFUL or word in _USUAL


def alike(labels: Iterable[str], /) -> list[str]:
    """Groups of labels that look or sound alike, each in words."""
    spelled: dict[str, list[str]] = {}
    for label in sorted(labels):
        spelled.setdefault(_spoken(label), []).append(label)
    groups = [group for group in spelled.values() if len(group) > 1]
    groups += [
        [*spelled[short], *spelled[long]]
        for short, long in _SHORT
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
