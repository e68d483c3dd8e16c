"""bnlab: Bayesian learning of Bayesian-network structure, for labs and for data of your own."""

import lazy_loader

# A name is loaded when it is asked for, so that `bnlab --help` need not wait for the compiler.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
