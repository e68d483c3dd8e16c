"""Reference networks: `load_network`, `list_networks`, `random_network`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bnlab.checks import checked
from bnlab.data.text import read_text
from bnlab.files import RemoteFile, fetch
from bnlab.networks.bayesnet import BayesNet
from bnlab.networks.bif import parse_bif

KNOWN = Path(__file__).with_name("known")

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
    # [BeinlichEtAl1989]
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
    # [BinderEtAl1997]
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


# What each is, and the hash of its file where the package does not have it. Survey is from
# [ScutariDenis2014], hailfinder from [AbramsonEtAl1996]; lung_cancer and earthquake stand in
# [KorbNicholson2010] too.
_NETWORKS = {
    "cancer": ("5 nodes: metastatic cancer [Friedman, Murphy & Russell 1998]", ""),
    "lung_cancer": ("5 nodes: smoking and lung cancer [Korb & Nicholson 2004]", ""),
    "asia": ("8 nodes: dyspnoea after a trip [Lauritzen & Spiegelhalter 1988]", ""),
    "earthquake": ("5 nodes: burglar alarm [Korb & Nicholson 2004]", ""),
    "survey": ("6 nodes: travel survey [Scutari & Denis 2014]", ""),
    "alarm": (
        "37 nodes: monitoring in intensive care [Beinlich et al. 1989]",
        "f5860caa7137b5817e0c4f169cce0f1451ce6c246b96f5ce4fb4a8167993be29",
    ),
    "child": (
        "20 nodes: congenital heart disease [Spiegelhalter et al. 1993]",
        "2bc3236dcbdbf9c9f1bbdeb060aa93c0bdee389d23a549b7248b9d89ed8a980c",
    ),
    "insurance": (
        "27 nodes: car insurance risk [Binder et al. 1997]",
        "92bcecd1b85387726af564bf1b50cd400ddbbea1b017303cc54d4654e50a8971",
    ),
    "hailfinder": (
        "56 nodes: severe summer hail [Abramson et al. 1996]",
        "efa122a88c4b550569ec821c7879bed9007f2b1e012e1ea52ea26069c7f26099",
    ),
    "sachs": (
        "11 nodes: protein signalling [Sachs et al. 2005]",
        "ed1830fbde101ed50cce3c7a3c8cbf1d2f5225531cf35ff09fb3cec0af101bce",
    ),
}


@checked
def list_networks() -> dict[str, str]:
    """Return the names that `load_network` knows, each with a line on content and source.

    Examples
    --------
    >>> list_networks()["asia"]
    '8 nodes: dyspnoea after a trip [Lauritzen & Spiegelhalter 1988]'
    """
    return {name: description for name, (description, _) in _NETWORKS.items()}


@checked
def load_network(name: str, /) -> BayesNet:
    """Load a reference network with its published tables; `list_networks()` names them all.

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
    _, sha256 = _NETWORKS[name]
    path = KNOWN / f"{name}.bif"
    if sha256:
        gzipped = f"{name}.bif.gz"
        path = fetch(RemoteFile(f"raw/networks/{gzipped}", f"{_REPOSITORY}/{gzipped}", sha256))
    net, _ = parse_bif(read_text(path, "utf-8"), str(path))
    return net


@checked
def random_network(
    name: str, /, rng: np.random.Generator, *, concentration: float = 1.0
) -> BayesNet:
    """Draw a network with the DAG of child, alarm or insurance and random tables; no download.

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
