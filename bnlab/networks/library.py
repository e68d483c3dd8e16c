"""Reference networks: `load_network`, `list_networks`, `random_network`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnlab.data.fetching import RemoteFile, fetch
from bnlab.data.reading import read_text
from bnlab.networks.bayesnet import BayesNet, NodeTable, assemble
from bnlab.networks.bif import parse_bif

_YES_NO = ("yes", "no")
_TRUE_FALSE = ("True", "False")
_ONE_TWO = ("1", "2")


def _binary(
    name: str, levels: tuple[str, str], parents: str, first: Sequence[float], /
) -> NodeTable:
    """A two-state node of two-state parents: p(first state) with the last parent fastest."""
    given = tuple(parents.split())
    own = np.reshape(first, (2,) * len(given))
    return NodeTable(name, levels, given, np.stack([own, np.round(1 - own, 12)], axis=-1))


def _node(
    name: str, levels: str, parents: dict[str, int], rows: Sequence[Sequence[float]], /
) -> NodeTable:
    """A node of parents with the given arities, one row a configuration, the last fastest."""
    table = np.reshape(rows, (*parents.values(), len(levels.split())))
    return NodeTable(name, tuple(levels.split()), tuple(parents), table)


# Friedman, Murphy & Russell (1998).
_CANCER = (
    _binary("A", _ONE_TWO, "", [0.1]),
    _binary("B", _ONE_TWO, "A", [0.1, 0.9]),
    _binary("C", _ONE_TWO, "A", [0.1, 0.9]),
    _binary("D", _ONE_TWO, "B C", [0.15, 0.3, 0.7, 0.9]),
    _binary("E", _ONE_TWO, "C", [0.9, 0.1]),
)
# Korb & Nicholson (2004), the network that network repositories call "cancer".
_LUNG_CANCER = (
    _binary("Pollution", ("low", "high"), "", [0.9]),
    _binary("Smoker", _TRUE_FALSE, "", [0.3]),
    _binary("Cancer", _TRUE_FALSE, "Pollution Smoker", [0.03, 0.001, 0.05, 0.02]),
    _binary("Xray", ("positive", "negative"), "Cancer", [0.9, 0.2]),
    _binary("Dyspnoea", _TRUE_FALSE, "Cancer", [0.65, 0.3]),
)
# Lauritzen & Spiegelhalter (1988).
_ASIA = (
    _binary("asia", _YES_NO, "", [0.01]),
    _binary("tub", _YES_NO, "asia", [0.05, 0.01]),
    _binary("smoke", _YES_NO, "", [0.5]),
    _binary("lung", _YES_NO, "smoke", [0.1, 0.01]),
    _binary("bronc", _YES_NO, "smoke", [0.6, 0.3]),
    _binary("either", _YES_NO, "lung tub", [1.0, 1.0, 1.0, 0.0]),
    _binary("xray", _YES_NO, "either", [0.98, 0.05]),
    _binary("dysp", _YES_NO, "bronc either", [0.9, 0.8, 0.7, 0.1]),
)
# Korb & Nicholson (2004), after Pearl (1988).
_EARTHQUAKE = (
    _binary("Burglary", _TRUE_FALSE, "", [0.01]),
    _binary("Earthquake", _TRUE_FALSE, "", [0.02]),
    _binary("Alarm", _TRUE_FALSE, "Burglary Earthquake", [0.95, 0.94, 0.29, 0.001]),
    _binary("JohnCalls", _TRUE_FALSE, "Alarm", [0.9, 0.05]),
    _binary("MaryCalls", _TRUE_FALSE, "Alarm", [0.7, 0.01]),
)
# Scutari & Denis (2014).
_SURVEY = (
    _node("A", "young adult old", {}, [[0.3, 0.5, 0.2]]),
    _node("S", "M F", {}, [[0.6, 0.4]]),
    _node(
        "E",
        "high uni",
        {"A": 3, "S": 2},
        [[0.75, 0.25], [0.64, 0.36], [0.72, 0.28], [0.7, 0.3], [0.88, 0.12], [0.9, 0.1]],
    ),
    _node("O", "emp self", {"E": 2}, [[0.96, 0.04], [0.92, 0.08]]),
    _node("R", "small big", {"E": 2}, [[0.25, 0.75], [0.2, 0.8]]),
    _node(
        "T",
        "car train other",
        {"O": 2, "R": 2},
        [[0.48, 0.42, 0.1], [0.58, 0.24, 0.18], [0.56, 0.36, 0.08], [0.7, 0.21, 0.09]],
    ),
)

# Structures: each node with its number of states and its parents, in the order of the
# repositories' files.
_STRUCTURES = {
    # Spiegelhalter, Dawid, Lauritzen & Cowell (1993).
    "child": """
BirthAsphyxia 2; HypDistrib 2 DuctFlow CardiacMixing; HypoxiaInO2 3 CardiacMixing LungParench;
CO2 3 LungParench; ChestXray 5 LungParench LungFlow; Grunting 2 LungParench Sick; LVHreport 2 LVH;
LowerBodyO2 3 HypDistrib HypoxiaInO2; RUQO2 3 HypoxiaInO2; CO2Report 2 CO2; XrayReport 5 ChestXray;
Disease 6 BirthAsphyxia; GruntingReport 2 Grunting; Age 3 Disease Sick; LVH 2 Disease;
DuctFlow 3 Disease; CardiacMixing 4 Disease; LungParench 3 Disease; LungFlow 3 Disease;
Sick 2 Disease""",
    # Beinlich, Suermondt, Chavez & Cooper (1989).
    "alarm": """
HISTORY 2 LVFAILURE; CVP 3 LVEDVOLUME; PCWP 3 LVEDVOLUME; HYPOVOLEMIA 2;
LVEDVOLUME 3 HYPOVOLEMIA LVFAILURE; LVFAILURE 2; STROKEVOLUME 3 HYPOVOLEMIA LVFAILURE;
ERRLOWOUTPUT 2; HRBP 3 ERRLOWOUTPUT HR; HREKG 3 ERRCAUTER HR; ERRCAUTER 2; HRSAT 3 ERRCAUTER HR;
INSUFFANESTH 2; ANAPHYLAXIS 2; TPR 3 ANAPHYLAXIS; EXPCO2 4 VENTLUNG ARTCO2; KINKEDTUBE 2;
MINVOL 4 INTUBATION VENTLUNG; FIO2 2; PVSAT 3 FIO2 VENTALV; SAO2 3 PVSAT SHUNT; PAP 3 PULMEMBOLUS;
PULMEMBOLUS 2; SHUNT 2 PULMEMBOLUS INTUBATION; INTUBATION 3;
PRESS 4 KINKEDTUBE INTUBATION VENTTUBE; DISCONNECT 2; MINVOLSET 3; VENTMACH 4 MINVOLSET;
VENTTUBE 4 DISCONNECT VENTMACH; VENTLUNG 4 KINKEDTUBE INTUBATION VENTTUBE;
VENTALV 4 INTUBATION VENTLUNG; ARTCO2 3 VENTALV; CATECHOL 2 INSUFFANESTH TPR SAO2 ARTCO2;
HR 3 CATECHOL; CO 3 STROKEVOLUME HR; BP 3 TPR CO""",
    # Binder, Koller, Russell & Kanazawa (1997).
    "insurance": """
GoodStudent 2 Age SocioEcon; Age 3; SocioEcon 4 Age; RiskAversion 4 Age SocioEcon;
VehicleYear 2 SocioEcon RiskAversion; ThisCarDam 4 RuggedAuto Accident;
RuggedAuto 3 VehicleYear MakeModel; Accident 4 DrivQuality Mileage Antilock;
MakeModel 5 SocioEcon RiskAversion; DrivQuality 3 RiskAversion DrivingSkill; Mileage 4;
Antilock 2 VehicleYear MakeModel; DrivingSkill 3 Age SeniorTrain; SeniorTrain 2 Age RiskAversion;
ThisCarCost 4 ThisCarDam Theft CarValue; Theft 2 CarValue HomeBase AntiTheft;
CarValue 5 VehicleYear MakeModel Mileage; HomeBase 4 SocioEcon RiskAversion;
AntiTheft 2 SocioEcon RiskAversion; PropCost 4 ThisCarCost OtherCarCost;
OtherCarCost 4 RuggedAuto Accident; OtherCar 2 SocioEcon; MedCost 4 Age Accident Cushioning;
Cushioning 4 RuggedAuto Airbag; Airbag 2 VehicleYear MakeModel; ILiCost 4 Accident;
DrivHist 3 RiskAversion DrivingSkill""",
}

_REPOSITORY = (
    "https://raw.githubusercontent.com/pgmpy/pgmpy/94105f10d4177e4420e2fa6766d819c19aa6b66e"
    "/pgmpy/utils/example_models"
)


@dataclass(frozen=True, slots=True)
class _Network:
    """A description, and either the tables themselves or the hash of the file that has them."""

    description: str
    nodes: tuple[NodeTable, ...] = ()
    sha256: str = ""


_NETWORKS = {
    "cancer": _Network("5 nodes: metastatic cancer [Friedman, Murphy & Russell 1998]", _CANCER),
    "lung_cancer": _Network(
        "5 nodes: smoking and lung cancer [Korb & Nicholson 2004]", _LUNG_CANCER
    ),
    "asia": _Network("8 nodes: dyspnoea after a trip [Lauritzen & Spiegelhalter 1988]", _ASIA),
    "earthquake": _Network("5 nodes: burglar alarm [Korb & Nicholson 2004]", _EARTHQUAKE),
    "survey": _Network("6 nodes: travel survey [Scutari & Denis 2014]", _SURVEY),
    "alarm": _Network(
        "37 nodes: monitoring in intensive care [Beinlich et al. 1989]",
        sha256="f5860caa7137b5817e0c4f169cce0f1451ce6c246b96f5ce4fb4a8167993be29",
    ),
    "child": _Network(
        "20 nodes: congenital heart disease [Spiegelhalter et al. 1993]",
        sha256="2bc3236dcbdbf9c9f1bbdeb060aa93c0bdee389d23a549b7248b9d89ed8a980c",
    ),
    "insurance": _Network(
        "27 nodes: car insurance risk [Binder et al. 1997]",
        sha256="92bcecd1b85387726af564bf1b50cd400ddbbea1b017303cc54d4654e50a8971",
    ),
    "hailfinder": _Network(
        "56 nodes: severe summer hail [Abramson et al. 1996]",
        sha256="efa122a88c4b550569ec821c7879bed9007f2b1e012e1ea52ea26069c7f26099",
    ),
    "sachs": _Network(
        "11 nodes: protein signalling [Sachs et al. 2005]",
        sha256="ed1830fbde101ed50cce3c7a3c8cbf1d2f5225531cf35ff09fb3cec0af101bce",
    ),
}


def list_networks() -> dict[str, str]:
    """The names that `load_network` knows, each with a line on content and source.

    Examples
    --------
    >>> list_networks()["asia"]
    '8 nodes: dyspnoea after a trip [Lauritzen & Spiegelhalter 1988]'
    """
    return {name: network.description for name, network in _NETWORKS.items()}


def load_network(name: str, /) -> BayesNet:
    """A reference network with its published tables; `list_networks()` names them all.

    cancer, lung_cancer, asia, earthquake and survey are part of the package. The others are
    downloaded once into `pooch.os_cache("bnlab")` and checked by SHA-256, unless the folder named
    by the environment variable BNLAB_DATA_DIR has them. "cancer" is the network of Friedman,
    Murphy & Russell (1998); what network repositories call so is "lung_cancer" here. Some rows of
    alarm and sachs are published with 7 digits and sum to 1 only within 1e-7: they are divided by
    their sums.

    Raises
    ------
    ValueError
        For an unknown name, or a file with other bytes than expected.
    FileNotFoundError
        When a file has to be downloaded and cannot be; the message says where to put it.
    ModuleNotFoundError
        When a download is needed without pooch: `pip install bnlab[data]`.

    Examples
    --------
    >>> load_network("asia")
    BayesNet: 8 nodes, 8 edges, 18 free parameters
    """
    if name not in _NETWORKS:
        raise ValueError(f"no network {name!r}; there are {', '.join(_NETWORKS)}")
    network = _NETWORKS[name]
    if network.nodes:
        return assemble(network.nodes)
    file = RemoteFile(f"raw/networks/{name}.bif.gz", f"{_REPOSITORY}/{name}.bif.gz", network.sha256)
    path = fetch(file)
    net, _ = parse_bif(read_text(path, "utf-8"), str(path))
    return net


def random_network(
    name: str, /, rng: np.random.Generator, *, concentration: float = 1.0
) -> BayesNet:
    """The structure of child, alarm or insurance with random tables; needs no download.

    Nodes, arities and edges are those of the published network, states are labelled 0, 1, ...,
    and rows are drawn from a symmetric Dirichlet distribution with parameter `concentration`.

    Raises
    ------
    ValueError
        For any other name.

    Examples
    --------
    >>> random_network("child", np.random.default_rng(1))
    BayesNet: 20 nodes, 25 edges, 230 free parameters
    """
    if name not in _STRUCTURES:
        raise ValueError(f"no structure {name!r}; there are {', '.join(_STRUCTURES)}")
    rows = [row.split() for row in _STRUCTURES[name].split(";")]
    number = {row[0]: v for v, row in enumerate(rows)}
    return BayesNet.random_tables(
        [sum(1 << number[parent] for parent in row[2:]) for row in rows],
        [int(row[1]) for row in rows],
        rng,
        concentration=concentration,
        names=list(number),
    )
