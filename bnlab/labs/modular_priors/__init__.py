"""The views and the checks of notebooks/01_modular_priors.ipynb.

Priors on all DAGs of five variables, one by one: which they favour, what data can do about it, and
what the number of orders of a DAG can.
"""

from bnlab.labs.board import setup
from bnlab.labs.modular_priors.checks import check_corrected, check_count, check_pair
from bnlab.labs.modular_priors.space import count_orders, log_factor, space
from bnlab.labs.modular_priors.view import PriorExplorer, Washout, cancer
from bnlab.papers.em2007.cases import PRIORS
from bnlab.papers.store import normalised
