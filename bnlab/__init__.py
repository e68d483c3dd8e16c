"""bnlab: Bayesian learning of Bayesian-network structure, for labs and for data of your own."""

from importlib import import_module
from importlib.util import find_spec

import lazy_loader

# A name is loaded when it is asked for, so that `bnlab --help` need not wait for the compiler.
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a name of the stub, or else a module of the package: bnlab.reports needs no import."""
    if name in __all__ or name.startswith("_") or find_spec(f"bnlab.{name}") is None:
        globals()[name] = _public(name)  # not every version of lazy_loader keeps it
        return globals()[name]
    return import_module(f"bnlab.{name}")
