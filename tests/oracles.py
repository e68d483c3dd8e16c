"""Slow, obvious twins of the algorithms: plain Python, no numba, nothing shared with the package.

Every fast function is tested against one of these on cases small enough to enumerate.
"""

import functools
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
from scipy.special import multigammaln


def log_sum(terms):
    """ln of the sum of exp(terms)."""
    terms = list(terms)
    top = max(terms, default=-math.inf)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum(math.exp(t - top) for t in terms))


def members(mask):
    """The set bits of a mask, ascending."""
    return [u for u in range(int(mask).bit_length()) if int(mask) >> u & 1]


# Graphs


def is_acyclic(dag):
    """Take away parentless nodes until none is left."""
    left = set(range(len(dag)))
    while left:
        free = [v for v in left if not left & set(members(dag[v]))]
        if not free:
            return False
        left -= set(free)
    return True


@functools.cache
def _orders_by_dag(n):
    """Each DAG on n nodes with its orders: in every order, all parents from among those before."""
    found = defaultdict(list)
    for order in itertools.permutations(range(n)):
        sets = [
            [m for m in range(1 << n) if set(members(m)) <= set(order[: order.index(v)])]
            for v in range(n)
        ]
        for dag in itertools.product(*sets):
            found[dag].append(order)
    return found


@functools.cache
def all_dags(n):
    """Every DAG on n nodes, as tuples of parent masks."""
    return sorted(_orders_by_dag(n))


def known_dags(n, k, required, forbidden, tiers):
    """The DAGs of up to k parents a node that what is known of edges leaves over."""
    found = []
    for dag in all_dags(n):
        edges = {(u, v) for v in range(n) for u in members(dag[v])}
        back = any(
            u in later and v in earlier
            for u, v in edges
            for earlier, later in itertools.combinations(tiers, 2)
        )
        few = all(len(members(mask)) <= k for mask in dag)
        if few and not back and set(required) <= edges and not set(forbidden) & edges:
            found.append(dag)
    return found


def paths(dag, max_length):
    """Set of (u, v) with a directed path of at most max_length edges from u to v."""
    return _paths(tuple(dag), max_length)


@functools.cache
def _paths(dag, max_length):
    edges = {(u, v) for v in range(len(dag)) for u in members(dag[v])}
    reached = set(edges)
    for _ in range(max_length - 1):
        reached |= {(u, w) for u, v in reached for x, w in edges if v == x}
    return reached


def orders_of(dag):
    """Every node order in which parents come before children."""
    if len(dag) <= 5:
        return _orders_by_dag(len(dag)).get(dag, [])
    return [
        order
        for order in itertools.permutations(range(len(dag)))
        if all(order.index(u) < order.index(v) for v in range(len(dag)) for u in members(dag[v]))
    ]


def robinson(n):
    """Number of labelled DAGs on n nodes, by inclusion and exclusion of parentless nodes."""
    if n == 0:
        return 1
    return sum(
        (-1) ** (k + 1) * math.comb(n, k) * 2 ** (k * (n - k)) * robinson(n - k)
        for k in range(1, n + 1)
    )


# Scores of one family, straight from their definitions


def family_counts(values, v, parents):
    """Counters of the parent configurations j and of the pairs (j, state of v)."""
    configurations = [tuple(row[u] for u in parents) for row in values]
    states = [row[v] for row in values]
    return Counter(configurations), Counter(zip(configurations, states, strict=True))


def dirichlet_score(values, arities, v, parents, cell_count):
    """Marginal likelihood of v given its parents with every Dirichlet parameter `cell_count`."""
    n_j, n_jk = family_counts(values, v, parents)
    a = cell_count * int(arities[v])
    score = math.fsum(math.lgamma(a) - math.lgamma(a + c) for c in n_j.values())
    return score + math.fsum(
        math.lgamma(cell_count + c) - math.lgamma(cell_count) for c in n_jk.values()
    )


def bdeu(values, arities, v, parents, ess=1.0):
    cells = math.prod(int(arities[u]) for u in [*parents, v])
    return dirichlet_score(values, arities, v, parents, ess / cells)


def k2(values, arities, v, parents):
    return dirichlet_score(values, arities, v, parents, 1.0)


def log_likelihood(values, arities, v, parents):
    n_j, n_jk = family_counts(values, v, parents)
    return math.fsum(c * math.log(c / n_j[j]) for (j, _), c in n_jk.items())


def free_parameters(arities, v, parents):
    return math.prod(int(arities[u]) for u in parents) * (int(arities[v]) - 1)


def bic(values, arities, v, parents):
    penalty = 0.5 * math.log(len(values)) * free_parameters(arities, v, parents) if values else 0
    return log_likelihood(values, arities, v, parents) - penalty


def aic(values, arities, v, parents):
    return log_likelihood(values, arities, v, parents) - free_parameters(arities, v, parents)


def sequential_bdeu(values, arities, v, parents, ess=1.0):
    """ln of the product of one-step-ahead predictive probabilities: equals the BDeu score."""
    q = math.prod(int(arities[u]) for u in parents)
    r = int(arities[v])
    seen_j, seen_jk, total = Counter(), Counter(), Fraction(1)
    ess = Fraction(ess)
    for row in values:
        j, k = tuple(row[u] for u in parents), row[v]
        total *= (ess / (q * r) + seen_jk[j, k]) / (ess / q + seen_j[j])
        seen_j[j] += 1
        seen_jk[j, k] += 1
    return math.log(total.numerator) - math.log(total.denominator)


def normal_wishart(rows, alpha_mu, degrees, t):
    """ln of the product of one-step-ahead multivariate t densities of rows of measurements.

    Given a mean with prior mean 0 and weight alpha_mu, and a Wishart precision with T = t I.
    """
    c = len(rows[0]) if len(rows) else 0
    mean, scale, total = np.zeros(c), t * np.eye(c), 0.0
    for row in rows:
        share = alpha_mu / (alpha_mu + 1)
        off = np.asarray(row) - mean
        total += math.lgamma((degrees + 1) / 2) - math.lgamma((degrees - c + 1) / 2)
        total += 0.5 * c * math.log(share / math.pi) - 0.5 * np.linalg.slogdet(scale)[1]
        total -= (degrees + 1) / 2 * math.log1p(share * off @ np.linalg.solve(scale, off))
        scale = scale + share * np.outer(off, off)
        mean = mean + off / (alpha_mu + 1)
        alpha_mu, degrees = alpha_mu + 1, degrees + 1
    return total


def bge_marginal(tables, alpha_mu, excess, t):
    """ln p of tables (..., rows, l): Geiger and Heckerman 2002, eq. 18, with T = t I."""
    rows, size = tables.shape[-2:]
    if size == 0:
        return np.zeros(tables.shape[:-2])
    degrees, mean = excess + size, tables.mean(axis=-2)
    off = tables - mean[..., None, :]
    posterior = np.swapaxes(off, -1, -2) @ off + t * np.eye(size)
    shift = rows * alpha_mu / (rows + alpha_mu)
    posterior = posterior + shift * mean[..., :, None] * mean[..., None, :]
    return (
        size / 2 * math.log(alpha_mu / (rows + alpha_mu))
        + multigammaln((rows + degrees) / 2, size)
        - multigammaln(degrees / 2, size)
        - size * rows / 2 * math.log(math.pi)
        + degrees / 2 * size * math.log(t)
        - (rows + degrees) / 2 * np.linalg.slogdet(posterior)[1]
    )


def conditional_gaussian(columns, codes, measured, v, parents, alpha_mu=1.0, excess=None):
    """ln p(measured column v | its parents): a regression for each joint state of some of them.

    columns (n, rows): measurements, which are standardised already; excess: alpha_w less their
    number in the table, by default alpha_mu + 1.
    """
    excess = alpha_mu + 1 if excess is None else excess
    t = alpha_mu * (excess - 1) / (alpha_mu + 1)
    others = [u for u in parents if measured[u]]
    groups = defaultdict(list)
    for i in range(len(columns[0])):
        groups[tuple(codes[i][u] for u in parents if not measured[u])].append(i)

    def joint(variables, rows):
        cells = [[columns[u][i] for u in variables] for i in rows]
        return normal_wishart(cells, alpha_mu, excess + len(variables), t)

    return math.fsum(joint([v, *others], rows) - joint(others, rows) for rows in groups.values())


def gaussian_means(columns, alpha_mu, excess, t):
    """Posterior means (intercept, coefficients, residual variance) of the last column's regression.

    By least squares, with the prior as rows more: alpha_mu of them at 0, and sqrt(t) in one column
    alone, without the intercept, for each column.
    """
    size, rows = columns.shape
    design = np.vstack([np.ones(rows), columns[:-1]]).T
    prior = np.diag([math.sqrt(alpha_mu)] + [math.sqrt(t)] * (size - 1))
    design = np.vstack([design, prior, np.zeros(size)])
    target = np.concatenate([columns[-1], np.zeros(size), [math.sqrt(t)]])
    solution = np.linalg.lstsq(design, target, rcond=None)[0]
    squares = float(((target - design @ solution) ** 2).sum())
    return solution[0], solution[1:], squares / (rows + excess + size - 2)


# Posteriors by enumeration. `log_phi` is a list of dicts: log_phi[v][parent mask], nats.


def families_of(table):
    """The table's families as one dict a node, parent mask -> ln beta."""
    beta = table.log_phi
    return [
        {int(m): float(b) for m, b in zip(table.parents[v], beta[v], strict=True)}
        for v in range(table.n)
    ]


def dag_log_weight(log_phi, dag):
    return sum(log_phi[v].get(int(mask), -math.inf) for v, mask in enumerate(dag))


def order_log_alphas(log_phi, order):
    """ln alpha_v(predecessors of v) along the order, as pairs (v, ln alpha, predecessor mask)."""
    before, out = 0, []
    for v in order:
        out.append((v, log_sum(b for m, b in log_phi[v].items() if not m & ~before), before))
        before |= 1 << v
    return out


def order_modular_over_dags(log_phi):
    """(ln Z, edges, families, DAG probabilities) with every DAG weighed by its number of orders."""
    n = len(log_phi)
    weights = {
        dag: dag_log_weight(log_phi, dag) + math.log(len(orders_of(dag))) for dag in all_dags(n)
    }
    log_z = log_sum(weights.values())
    edges = np.zeros((n, n))
    families = [Counter() for _ in range(n)]
    posterior = {dag: math.exp(w - log_z) for dag, w in weights.items()}
    for dag, p in posterior.items():
        for v in range(n):
            families[v][dag[v]] += p
            for u in members(dag[v]):
                edges[u, v] += p
    return log_z, edges, families, posterior


def order_modular_over_orders(log_phi):
    """(ln Z, edges, order probabilities) by summing over all orders."""
    n = len(log_phi)
    weights = {
        order: sum(alpha for _, alpha, _ in order_log_alphas(log_phi, order))
        for order in itertools.permutations(range(n))
    }
    log_z = log_sum(weights.values())
    posterior = {order: math.exp(w - log_z) for order, w in weights.items()}
    share = np.zeros((n, 1 << n))  # posterior probability of node v having these predecessors
    for order, p in posterior.items():
        before = 0
        for v in order:
            share[v, before] += p
            before |= 1 << v
    edges = np.zeros((n, n))
    for v in range(n):
        for before in np.flatnonzero(share[v]):
            edges[:, v] += share[v, before] * edges_given_predecessors(log_phi[v], int(before), n)
    return log_z, edges, posterior


def edges_given_predecessors(log_phi_v, before, n):
    """p(u is a parent of v | its predecessors), (n,)."""
    inside = {m: b for m, b in log_phi_v.items() if not m & ~before}
    total = log_sum(inside.values())
    out = np.zeros(n)
    for m, b in inside.items():
        for u in members(m):
            out[u] += math.exp(b - total)
    return out


def order_dp(log_phi):
    """ln Z by the dynamic program over subsets, in log domain throughout.

    Returns (ln Z, edges): the recurrences written out, with no number-range tricks.
    """
    n = len(log_phi)
    full = (1 << n) - 1
    alpha = [np.full(1 << n, -np.inf) for _ in range(n)]
    for v in range(n):
        for mask, b in log_phi[v].items():
            alpha[v][mask] = b
        for u in range(n):
            if u != v:
                step = 1 << u
                shaped = alpha[v].reshape(-1, 2, step)
                shaped[:, 1] = np.logaddexp(shaped[:, 1], shaped[:, 0])
    size_of = np.bitwise_count(np.arange(1 << n))
    layers = [np.flatnonzero(size_of == size) for size in range(n + 1)]
    g, b = np.full(1 << n, -np.inf), np.full(1 << n, -np.inf)
    g[0], b[full] = 0.0, 0.0
    for layer in layers[1:]:
        for i in range(n):
            s = layer[layer >> i & 1 == 1]
            g[s] = np.logaddexp(g[s], alpha[i][s ^ 1 << i] + g[s ^ 1 << i])
    for layer in layers[-2::-1]:
        for i in range(n):
            s = layer[layer >> i & 1 == 0]
            b[s] = np.logaddexp(b[s], alpha[i][s] + b[s | 1 << i])
    edges = np.zeros((n, n))
    for v in range(n):
        free = np.flatnonzero(np.arange(1 << n) >> v & 1 == 0)
        gamma = np.full(1 << n, -np.inf)
        gamma[free] = g[free] + b[free | 1 << v]
        for u in range(n):
            if u != v:
                shaped = gamma.reshape(-1, 2, 1 << u)
                shaped[:, 0] = np.logaddexp(shaped[:, 0], shaped[:, 1])
        for mask, beta in log_phi[v].items():
            p = math.exp(beta + gamma[mask] - g[full])
            for u in members(mask):
                edges[u, v] += p
    return float(g[full]), edges


# Orders


def order_log_weight(log_phi, order):
    """ln of the sum over the DAGs that agree with an order of prior factor times likelihood."""
    return sum(alpha for _, alpha, _ in order_log_alphas(log_phi, order))


def neighbours(order, kind):
    """Every equally likely proposal from an order, repeats included."""
    n = len(order)
    out = []
    for i in range(n):
        for j in range(n):
            if i == j or (kind == "adjacent" and j != i + 1):
                continue
            changed = list(order)
            if kind == "relocate":
                changed.insert(j, changed.pop(i))
            else:
                changed[i], changed[j] = changed[j], changed[i]
            out.append(tuple(changed))
    return out


def transition_matrix(log_phi, n, beta, weights):
    """Metropolis on all orders: (orders, matrix, log weights); `weights` by kind of move."""
    orders = list(itertools.permutations(range(n)))
    number = {order: i for i, order in enumerate(orders)}
    log_weight = [order_log_weight(log_phi, order) for order in orders]
    matrix = np.zeros((len(orders), len(orders)))
    for kind, weight in weights.items():
        for order, i in number.items():
            proposals = neighbours(order, kind)
            for other in proposals:
                j = number[other]
                p = weight / sum(weights.values()) / len(proposals)
                ratio = beta * (log_weight[j] - log_weight[i])
                moved = p * math.exp(min(0.0, ratio))
                matrix[i, j] += moved
                matrix[i, i] += p - moved
    return orders, matrix, np.array(log_weight)


# Linear extensions


def count_linear_extensions(dag):
    """Take away any node whose parents are all gone, in every way, remembering sets of nodes."""

    @functools.cache
    def ways(left):
        if not left:
            return 1
        free = [v for v in left if not left & set(members(dag[v]))]
        return sum(ways(left - {v}) for v in free)

    return ways(frozenset(range(len(dag))))


def structure_modular_over_dags(log_phi):
    """(ln Z, DAG probabilities) with every DAG weighed once."""
    weights = {dag: dag_log_weight(log_phi, dag) for dag in all_dags(len(log_phi))}
    log_z = log_sum(weights.values())
    return log_z, {dag: math.exp(w - log_z) for dag, w in weights.items()}


def expectations_over_dags(posterior, n):
    """(edges, ancestors, families) from DAG probabilities; [u, v]: from u to v."""
    edges, ancestors = np.zeros((n, n)), np.zeros((n, n))
    families = [Counter() for _ in range(n)]
    for dag, p in posterior.items():
        for v in range(n):
            families[v][dag[v]] += p
            edges[members(dag[v]), v] += p
        for u, v in paths(dag, n):
            ancestors[u, v] += p
    return edges, ancestors, families


def subsets_of(mask):
    """All subsets of a mask, itself and the empty set too."""
    return [s for s in range(mask + 1) if not s & ~mask]


def structure_modular_by_inclusion(beta):
    """(Z, families, ancestors) in whole fractions, by the recurrences of Tian and He (2009).

    beta[v][parent mask]: Fractions. RR sums over the DAGs on S, B over the parents of W given the
    others; gamma is what S, the nodes that do not descend from v, leaves to the rest.
    """
    n = len(beta)
    full = (1 << n) - 1
    alpha = [
        [sum(b for m, b in beta[v].items() if not m & ~s) for s in range(1 << n)] for v in range(n)
    ]

    def product(t, s):
        return (-1) ** t.bit_count() * math.prod((alpha[j][s] for j in members(t)), start=1)

    rr, b = [Fraction(1)], [Fraction(1)]
    for s in range(1, 1 << n):
        parts = subsets_of(s)[1:]
        rr.append(-sum(rr[s ^ t] * product(t, s ^ t) for t in parts))
        b.append(-sum(b[s ^ t] * product(t, full ^ s) for t in parts))
    assert rr[full] == b[full]
    families = [Counter() for _ in range(n)]
    ancestors = [[Fraction(0)] * n for _ in range(n)]
    for v in range(n):
        for s in subsets_of(full ^ 1 << v):
            rest = full ^ s ^ 1 << v
            gamma = sum(product(t, s) * b[rest ^ t] for t in subsets_of(rest))
            weight = rr[s] * gamma / rr[full]
            for m, f in beta[v].items():
                if not m & ~s:
                    families[v][m] += f * weight
            for u in members(rest):
                ancestors[v][u] += weight * alpha[v][s]
    return rr[full], families, ancestors


# Hidden variables: parents are tuples of masks, rows are tuples of codes (None: not seen)


def joint_states(arities, row):
    """Every way to fill in what a row leaves open."""
    choices = [range(r) if x is None else [x] for r, x in zip(arities, row, strict=True)]
    return list(itertools.product(*choices))


def truncated_factorisation(parents, arities, table, do, y):
    """p(y | do) by the sum over all joint states; table(v, state) is p(state[v] | the parents')."""
    p = [0.0] * int(arities[y])
    for state in joint_states(arities, [do.get(v) for v in range(len(arities))]):
        p[state[y]] += math.prod(table(v, state) for v in range(len(arities)) if v not in do)
    return p


def parent_state(parents, v, state):
    """The states of the parents of v, ascending."""
    return tuple(state[u] for u in members(parents[v]))


def log_completed(parents, arities, states, strength):
    """ln p(completed rows), the tables integrated out."""
    total = 0.0
    for v in range(len(arities)):
        counts = Counter((parent_state(parents, v, s), s[v]) for s in states)
        for row in {parent for parent, _ in counts}:
            cells = [counts[row, k] for k in range(arities[v])]
            total += math.lgamma(strength * arities[v])
            total -= math.lgamma(strength * arities[v] + sum(cells))
            total += sum(math.lgamma(strength + c) - math.lgamma(strength) for c in cells)
    return total


def hidden_evidence(parents, arities, rows, strength):
    """ln p(rows) by all completions of all rows."""
    ways = [joint_states(arities, row) for row in rows]
    return log_sum(
        log_completed(parents, arities, states, strength) for states in itertools.product(*ways)
    )


def fillings(values, arities):
    """All tables that have a state in each cell of -1."""
    gaps = np.argwhere(np.asarray(values) < 0)
    for states in itertools.product(*(range(arities[v]) for _, v in gaps)):
        table = np.array(values)
        table[tuple(gaps.T)] = states
        yield table


def families_without(values, arities, score, held):
    """Scores of all families as one dict a node; rows in which held[row, v] leave v's."""
    n = len(arities)
    return [
        {
            mask: score(values[~held[:, v]], arities, v, members(mask))
            for mask in range(1 << n)
            if not mask >> v & 1
        }
        for v in range(n)
    ]


def posterior_with_gaps(values, arities, score, held, allowed=lambda dag: True):
    """(edges, mean state of each missing cell), over all fillings and all DAGs allowed."""
    n, log_weight, edges, states = len(arities), [], [], []
    dags = [dag for dag in all_dags(n) if allowed(dag)]
    adjacency = np.array([[[dag[v] >> u & 1 for v in range(n)] for u in range(n)] for dag in dags])
    for table in fillings(values, arities):
        log_phi = families_without(table, arities, score, held)
        weights = np.array([dag_log_weight(log_phi, dag) for dag in dags])
        log_weight.append(log_sum(weights))
        edges.append(np.tensordot(np.exp(weights - log_weight[-1]), adjacency, 1))
        states.append(table[np.asarray(values) < 0])
    shares = np.exp(np.array(log_weight) - log_sum(log_weight))
    return np.tensordot(shares, edges, 1), shares @ np.array(states)


def rank_cuts(column, bins):
    """The distinct ways to cut a column into so many intervals of equal frequency: cut points."""
    ordered, found = sorted(column), []
    for number in bins:
        places = [math.ceil(len(column) * i / number) - 1 for i in range(1, number)]
        points = sorted({ordered[place] for place in places} - {ordered[-1]})
        if points and points not in found:
            found.append(points)
    return found or [[max(x for x in column if x < ordered[-1])]]


def log_rank_density(ranks, borders, dag, score, held=None):
    """ln of the density of rows of ranks: uniform in each cell, whose borders are 0, ..., 1.

    Where borders[v] is a number, column v holds states, so many of them.
    """
    within, log_score = rank_parts(ranks, borders, score, held)
    return within + sum(log_score(v, parents) for v, parents in enumerate(dag))


def rank_parts(ranks, borders, score, held=None):
    """What that is a sum of: ln density within cells, and (v, parents) -> ln score of a family."""
    measured = [v for v, border in enumerate(borders) if not isinstance(border, int)]
    arities = [len(b) - 1 if v in measured else b for v, b in enumerate(borders)]
    states = np.array(ranks, dtype=int)
    held = np.zeros(states.shape, bool) if held is None else held
    within = 0.0
    for v in measured:
        states[:, v] = [sum(b < row[v] for b in borders[v]) - 1 for row in ranks]
        widths = [high - low for low, high in itertools.pairwise(borders[v])]
        within -= sum(math.log(widths[k]) for k in states[~held[:, v], v])

    @functools.cache
    def log_score(v, parents):
        return score(states[~held[:, v]], arities, v, members(parents))

    return within, log_score


def posterior_over_cuts(table, arities, bins, score, held=None):
    """(edges, p of each of the cuts [v][c]) over all cuts of measured columns and all DAGs.

    A column is measured where arities[v] is 0.
    """
    m, n = table.shape
    ranks, borders = table.astype(float), []
    for v in range(n):
        column = table[:, v].tolist()
        borders.append([int(arities[v])])
        if not arities[v]:
            share = {x: sum(y <= x for y in column) / m for x in column}
            ranks[:, v] = [share[x] for x in column]
            cuts = rank_cuts(column, bins)
            borders[v] = [[0.0, *(share[x] for x in points), 1.0] for points in cuts]
    ways = list(itertools.product(*(range(len(each)) for each in borders)))
    log_weight, dags = {}, all_dags(n)
    for way in ways:
        chosen = [each[c] for each, c in zip(borders, way, strict=True)]
        within, log_score = rank_parts(ranks, chosen, score, held)
        for dag in dags:
            log_weight[way, dag] = within + sum(itertools.starmap(log_score, enumerate(dag)))
    total = log_sum(log_weight.values())
    edges, shares = np.zeros((n, n)), [[0.0] * len(each) for each in borders]
    for (way, dag), weight in log_weight.items():
        p = math.exp(weight - total)
        for v in range(n):
            edges[members(dag[v]), v] += p
            shares[v][way[v]] += p
    return edges, shares


def row_posterior(parents, arities, tables, row):
    """(p(row), {completion: share}), tables[v][parent state][k]."""
    shares = {}
    for state in joint_states(arities, row):
        shares[state] = math.prod(
            tables[v][parent_state(parents, v, state)][state[v]] for v in range(len(arities))
        )
    total = math.fsum(shares.values())
    return total, {state: share / total for state, share in shares.items()}


def expected_counts(parents, arities, tables, rows):
    """(sum of ln p(row), expected counts [v][parent state][k])."""
    counts = [
        {row: [0.0] * arities[v] for row in itertools.product(*parent_ranges(parents, arities, v))}
        for v in range(len(arities))
    ]
    log_likelihood = 0.0
    for row in rows:
        total, shares = row_posterior(parents, arities, tables, row)
        log_likelihood += math.log(total)
        for state, share in shares.items():
            for v in range(len(arities)):
                counts[v][parent_state(parents, v, state)][state[v]] += share
    return log_likelihood, counts


def parent_ranges(parents, arities, v):
    """The states of each parent of v."""
    return [range(arities[u]) for u in members(parents[v])]


# Sums of priors


def robinson_by_size(n, q):
    """Sum over DAGs of the product of q[number of parents], a Fraction, by sets of sinks."""
    c = [sum(math.comb(j, i) * q[i] for i in range(min(j, len(q) - 1) + 1)) for j in range(n)]
    a = [Fraction(1)]
    for j in range(1, n + 1):
        terms = [math.comb(j, s) * c[j - s] ** s * a[j - s] for s in range(1, j + 1)]
        a.append(sum(terms[::2]) - sum(terms[1::2]))
    return a[n]


# Frequencies


def chi_square_tail(statistic, degrees):
    """Upper tail by the Wilson-Hilferty normal approximation, good to 1e-3 from 10 degrees on."""
    spread = 2 / (9 * degrees)
    z = ((statistic / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2))


def chi_square(counts, expected):
    """p-value of counts against expected counts; cells below 5 are pooled."""
    small = expected < 5
    counts = np.append(counts[~small], counts[small].sum())
    expected = np.append(expected[~small], expected[small].sum())
    keep = expected > 0
    statistic = ((counts - expected)[keep] ** 2 / expected[keep]).sum()
    return chi_square_tail(statistic, keep.sum() - 1)


# Markov equivalence


def skeleton(dag):
    """The pairs u < v that an edge of either direction joins."""
    return frozenset((min(u, v), max(u, v)) for v in range(len(dag)) for u in members(dag[v]))


def v_structures(dag):
    """The (u, v, w), u < w, with u -> v <- w and no edge between u and w."""
    joined = skeleton(dag)
    return frozenset(
        (u, v, w)
        for v in range(len(dag))
        for u, w in itertools.combinations(members(dag[v]), 2)
        if (u, w) not in joined
    )


def equivalence_class(dag):
    """What DAGs share exactly when they are Markov equivalent [Verma & Pearl 1990]."""
    return skeleton(dag), v_structures(dag)


@functools.cache
def equivalence_classes(n):
    """Every class of DAGs on n nodes: its key and its members."""
    classes = {}
    for dag in all_dags(n):
        classes.setdefault(equivalence_class(dag), []).append(dag)
    return classes


def union_of_edges(dags):
    """Adjacency rows: [u][v] is true when one of the DAGs has u -> v. Of a class, its CPDAG."""
    n = len(dags[0])
    return [[any(dag[v] >> u & 1 for dag in dags) for v in range(n)] for u in range(n)]


# Searches over DAGs


def one_edge_away(dag):
    """((kind, u, v), DAG) of all changes of one edge: 0 adds u -> v, 1 deletes it, 2 reverses."""
    n = len(dag)
    for a, b in itertools.permutations(range(n), 2):
        other = list(dag)
        kind = 2 if dag[a] >> b & 1 else dag[b] >> a & 1
        other[b] ^= 1 << a
        if kind == 2:
            other[a] ^= 1 << b
        if is_acyclic(other):
            yield (kind, a, b), tuple(other)


def occams_window(log_phi, dag, gap, reach):
    """DAGs at most `gap` nats below the best met; neighbours of all within `reach` are met."""
    score = {dag: dag_log_weight(log_phi, dag)}
    expanded = set()
    while True:
        least = max(score.values()) - reach
        rows = [d for d in score if d not in expanded and score[d] >= least]
        if not rows:
            break
        expanded.update(rows)
        for _, other in itertools.chain.from_iterable(map(one_edge_away, rows)):
            weight = dag_log_weight(log_phi, other)
            if weight >= least:
                score[other] = weight
    best = max(score.values())
    return {d for d in score if score[d] >= best - gap}


def mutual_information(x, y):
    """Of two columns, nats."""
    m, pairs, left, right = len(x), Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return sum(c / m * math.log(c * m / (left[a] * right[b])) for (a, b), c in pairs.items())
