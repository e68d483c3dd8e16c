"""Copies of the files that bnlab downloads, in the folders in which BNLAB_DATA_DIR wants them.

`python .github/mirror.py bnlab-data.zip` fetches each file, checks it by SHA-256 and packs it.
"""

import os
import sys
import zipfile
from pathlib import Path

import pooch

import bnlab as bn

# No licence that allows a copy is known of the cells of Sachs et al. (2005).
LEFT_OUT = {"sachs"}

ABOUT = """Data sets and networks of others that bnlab.load_dataset and bnlab.load_network download.
Unpack, and name the folder in the environment variable BNLAB_DATA_DIR.

Data sets: UCI Machine Learning Repository, CC BY 4.0, https://archive.ics.uci.edu/dataset/NUMBER
Networks: as distributed by pgmpy, MIT licence; please cite their authors

"""


def mirror(target: Path) -> None:
    """Fetch what may be copied, and write one archive of it with a page on what is what."""
    said = []
    for known, load in (
        (bn.list_datasets(), bn.load_dataset),
        (bn.list_networks(), bn.load_network),
    ):
        for name, about in known.items():
            if load is bn.load_network or name not in LEFT_OUT:
                load(name)
                said.append(f"{name}: {about}")
    folder = Path(os.environ.get("BNLAB_DATA_DIR") or pooch.os_cache("bnlab"))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((folder / "raw").rglob("*")):
            if path.is_file() and path.parent.name not in LEFT_OUT:
                archive.write(path, path.relative_to(folder))
        archive.writestr("README.txt", ABOUT + "\n".join(said) + "\n")


if __name__ == "__main__":
    mirror(Path(sys.argv[1]))
