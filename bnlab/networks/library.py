"""Reference networks: `load_network`, `list_networks`, `random_network`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bnlab.checks import checked
from bnlab.data.text import read_text
from bnlab.files import RemoteFile, fetch, packaged
from bnlab.networks.bayesnet import BayesNet
from bnlab.networks.bif import parse_bif

KNOWN, NETWORKS = Path(__file__).with_name("known"), "networks/known/networks.toml"


@checked
def list_networks() -> dict[str, str]:
    """Return the names that `load_network` knows, each with a line on content and source.

    Examples
    --------
    >>> list_networks()["asia"]
    '8 nodes: dyspnoea after a trip [Lauritzen & Spiegelhalter 1988]'
    """
    return {name: known["about"] for name, known in packaged(NETWORKS)["networks"].items()}


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
    networks, path = packaged(NETWORKS)["networks"], KNOWN / f"{name}.bif"
    if name not in networks:
        raise ValueError(f"no network {name!r}; there are {', '.join(networks)}")
    if sha256 := networks[name].get("sha256"):
        gzipped = f"{name}.bif.gz"
        url = f"{packaged(NETWORKS)['repository']}/{gzipped}"
        path = fetch(RemoteFile(f"raw/networks/{gzipped}", url, sha256))
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
    structures = packaged(NETWORKS)["structures"]
    if name not in structures:
        raise ValueError(f"no structure {name!r}; there are {', '.join(structures)}")
    rows = [row.split() for row in structures[name].split(";")]
    number = {row[0]: v for v, row in enumerate(rows)}
    return BayesNet.random_tables(
        [sum(1 << number[parent] for parent in row[2:]) for row in rows],
        [int(row[1]) for row in rows],
        rng,
        concentration=concentration,
        names=list(number),
    )
