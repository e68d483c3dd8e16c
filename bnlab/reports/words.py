"""What a report tells a reader who has never seen one: how to read it, and what its words mean."""

from bnlab.reports.markup import bullets, folded, glossary, section

MEANING = (
    "An edge u → v says that v depends on u directly: whatever other variables are known, u still "
    "tells something about v. Its probability is the share of all DAGs with that edge, weighed by "
    "how well each explains the table.",
    "Where both directions of an edge are probable, the data say that the two are joined and not "
    "which way: DAGs that differ in such arrows only (an equivalence class) explain watched rows "
    "equally well. Add up both directions to see whether the two are joined.",
    "An edge is causal only under further assumptions: that nothing unmeasured acts on two of the "
    "variables, that the rows are a random sample, that no loop of influence exists. Rows in "
    "which somebody set a variable (interventions) make directions far more trustworthy; watched "
    "rows alone do not, even if a direction is probable.",
    "A low probability can mean that there is no dependence, or that there are too few rows to "
    "show it. Both look alike here.",
    "The probability itself says how far the rows leave an edge open. An interval, low to high, "
    "says only how exactly that probability was computed; it is not wider for fewer rows.",
    "Probabilities hold under the model: discrete variables, a Dirichlet prior on the tables of "
    "conditional probabilities, a bound on the number of parents, a prior over DAGs. The settings "
    "below name them.",
)
CUT = "Measurements were cut into levels. Other cut points can give other edges: try some."

WORDS = (
    ("DAG", "A network of arrows between variables in which no chain of arrows leads back to its "
     "start (directed acyclic graph)."),
    ("Parent, child", "Of the arrow u → v, u is the parent and v the child. A node is a variable; "
     "a family is a node with its parents."),
    ("Posterior", "Probabilities after seeing the table; the prior is what was assumed before."),
    ("Structure-modular", "Before the data every DAG counts once, times the factor of its prior, "
     "in however many orders its variables can be listed."),
    ("Uniform, Fair", "Priors over DAGs. Uniform: every DAG alike. Fair: every number of parents "
     "of a variable alike."),
    ("BDeu, ess", "The score of a DAG: how well it foretells the table. Its equivalent sample size "
     "(ess) is how many imagined rows, spread evenly, count beside those of the table."),
    ("Nats", "Units of logarithms: 2.3 nats more are ten times as probable."),
    ("Chains, draws, moves", "Where sums over all DAGs take too long, DAGs are drawn at random, by "
     "small moves from one to the next if need be (MCMC). R-hat is near 1 where several such "
     "chains agree; effective draws are how many independent ones they are worth."),
)  # fmt: skip


def meaning(*, cut: bool) -> str:
    """The section on how to read a report, of one whose measurements were `cut` too.

    Examples
    --------
    >>> "cut into levels" in meaning(cut=True), "cut into levels" in meaning(cut=False)
    (True, False)
    """
    return section(
        "meaning",
        "How to read it",
        bullets([*MEANING, *([CUT] if cut else [])]),
        folded("What the words mean", glossary(WORDS)),
    )
