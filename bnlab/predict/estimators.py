"""scikit-learn's interface: `pip install bnlab[sklearn]`, then import this module by its name."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Bools, Floats, Ints, Several, check_counts, conforming
from bnlab.data import Data, EqualFrequency
from bnlab.exact import dag_posterior
from bnlab.predict.densities import log_class_posterior
from bnlab.predict.tables import MISSING, Codes
from bnlab.results import Draws
from bnlab.sampling.dags_given_orders import sample_dags
from bnlab.sampling.partition_mcmc import sample_partitions
from bnlab.scores import BDeu, score_families

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "the estimators need scikit-learn 1.6 or later: pip install bnlab[sklearn]"
    ) from error

if TYPE_CHECKING:
    import pandas as pd

EXACT_NODES = 12  # up to which DAGs are drawn from the exact posterior
CHAINS = 4

Column = Any  # an array (rows,), or a column of a frame


class Coding(NamedTuple):
    """How the cells of a column become codes: learned in training, used again for new rows."""

    name: str
    levels: dict[str, int] | None  # of labels; None for numbers
    points: Floats  # where numbers are cut
    gaps: bool  # whether training had missing cells: then they are a state of their own

    @classmethod
    def of(cls, name: str, column: Column, bins: int, /) -> "Coding":
        """Learn a coding: numbers are cut into at most so many intervals."""
        numbers = None if hasattr(column.dtype, "categories") else _numbers(name, column)
        if numbers is not None:
            missing = np.isnan(numbers)
            return cls(name, None, _cut_points(numbers[~missing], bins), bool(missing.any()))
        missing = _missing(column)
        labels = sorted({_label(cell) for cell in np.asarray(column, object)[~missing]})
        levels = {label: code for code, label in enumerate(labels)}
        return cls(name, levels, np.empty(0), bool(missing.any()))

    @property
    def arity(self) -> int:
        """Number of states."""
        return max(1, self.points.size + 1 if self.levels is None else len(self.levels)) + self.gaps

    def codes(self, column: Column, /) -> Codes:
        """Codes of cells; -1 for labels unseen in training, and for gaps if training had none."""
        gap = self.arity - 1 if self.gaps else MISSING
        if self.levels is not None:
            cells = np.asarray(column, object)
            known = [self.levels.get(_label(cell), MISSING) for cell in cells]
            return np.where(_missing(column), gap, known).astype(np.int32)
        numbers = _numbers(self.name, column)
        if numbers is None:
            raise ValueError(f"column {self.name!r} held numbers in training, and now it has text")
        codes = np.searchsorted(self.points, numbers)
        return np.where(np.isnan(numbers), gap, codes).astype(np.int32)


class Part(NamedTuple):
    """What was learned with one number of intervals."""

    codings: dict[int, Coding]  # by number of the column, without those that were constant
    data: Data  # the columns, and the class last
    draws: Draws


@dataclass(kw_only=True, eq=False, repr=False)
class BayesNetClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that averages over DAGs on the columns and the class, for scikit-learn.

    p(class | row) follows from p(class, row | D), averaged over DAGs from the structure-modular
    posterior under BDeu and over their tables, as in `log_class_posterior`: independent draws from
    the exact posterior up to 12 variables, and beyond that draws by partition MCMC. Numbers are cut
    into intervals that hold about equally many training rows, new rows at the same points, and the
    probabilities are the mean over several numbers of intervals.

    X may be an array or a frame, whose text and categorical columns are labels. Where a column had
    missing cells in training, missing is one of its states. Elsewhere missing cells are summed out,
    and so are labels that training has not seen. Constant columns are left out.

    It is a generative model: its structure is learned for all columns, and not for the class alone.
    On breast cancer (scikit-learn's table, 10 folds) its log loss is 0.10 to 0.12 nats a row, that
    of logistic regression 0.07 to 0.08 with standardised columns and 0.11 to 0.12 without.

    Parameters
    ----------
    bins : int, or a sequence of them: numbers of intervals, at least 2
    max_parents : int, largest number of parents of a variable
    ess : float, equivalent sample size of BDeu
    draws : int, number of DAGs for each number of intervals; more than 12 variables: rounded up to
        a multiple of 4, the number of chains
    random_state : int, RandomState, numpy.random.Generator or None

    Attributes
    ----------
    classes_ : (C,) labels of the class, ascending
    n_features_in_ : int; also feature_names_in_ if X was a frame
    parts_ : list of Part, one for each number of intervals: codings, Data, and Draws of DAGs

    Raises
    ------
    ValueError
        By fit: for one class only, more than 62 columns that vary, infinite cells, and options out
        of their range.

    Examples
    --------
    >>> X, y = [[0.1], [0.4], [0.5], [2.0], [2.2], [2.9]], ["low"] * 3 + ["high"] * 3
    >>> model = BayesNetClassifier(bins=2, random_state=1).fit(X, y)
    >>> model.predict([[0.3], [2.5]]).tolist()
    ['low', 'high']
    """

    bins: int | Sequence[int] = (3, 5, 8, 12)
    max_parents: int = 2
    ess: float = 1.0
    draws: int = 200
    random_state: int | np.random.RandomState | np.random.Generator | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def fit(self, X: "ArrayLike | pd.DataFrame", y: ArrayLike) -> "BayesNetClassifier":
        """Learn codings, DAGs and tables from X (rows, columns) and classes y (rows,)."""
        columns, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError("y has 1 class: at least 2 classes are needed")
        given = [self.bins] if isinstance(self.bins, Integral) else self.bins
        sizes = conforming("bins", given, Sequence[Several])
        if not sizes:
            raise ValueError("bins is empty: give numbers of intervals, such as (3, 5, 8, 12)")
        rng = self.random_state
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(check_random_state(rng).randint(2**31 - 1))
        self.parts_ = [self._learned(columns, classes, size, rng) for size in sizes]
        return self

    def predict_proba(self, X: "ArrayLike | pd.DataFrame") -> Floats:
        """Return the probability of each class, (rows, classes), in the order of `classes_`."""
        check_is_fitted(self)
        columns = self._read(X)[0]
        total = np.zeros((len(columns[0]), self.classes_.size))
        for codings, data, draws in self.parts_:
            rows = np.full((len(total), data.n), MISSING, np.int32)
            for v, (u, coding) in enumerate(codings.items()):
                rows[:, v] = coding.codes(columns[u])
            log_p = log_class_posterior(draws, data, data.n - 1, rows, score=BDeu(self.ess))
            total += np.exp(log_p)
        return np.asarray(total / len(self.parts_))

    def predict(self, X: "ArrayLike | pd.DataFrame") -> NDArray[Any]:
        """Return the most probable class of each row, (rows,)."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def _read(self, X: Any, *y: Any) -> tuple[list[Column], Any]:
        """The columns of X, and y in training; a ValueError for what does not fit."""
        if hasattr(X, "iloc"):
            validate_data(self, X, *y, reset=bool(y), skip_check_array=True)
            target = column_or_1d(y[0], warn=True) if y else None
            check_consistent_length(X, target)
            return [X.iloc[:, v] for v in range(X.shape[1])], target
        read = validate_data(self, X, *y, reset=bool(y), dtype=None, ensure_all_finite="allow-nan")
        X, target = read if y else (read, None)
        return list(X.T), target

    def _learned(
        self, columns: list[Column], classes: Ints, bins: int, rng: np.random.Generator
    ) -> Part:
        names = getattr(self, "feature_names_in_", [f"x{v}" for v in range(len(columns))])
        codings, kept = {}, []
        for v, column in enumerate(columns):
            coding = Coding.of(str(names[v]), column, bins)
            codes = coding.codes(column)
            if (codes != codes[0]).any():
                codings[v] = coding
                kept.append(codes)
        if len(kept) > 62:
            raise ValueError(f"X has {len(kept)} columns that vary: give at most 62")
        data = Data.from_arrays(
            np.column_stack([*kept, classes]),
            arities=[*(coding.arity for coding in codings.values()), self.classes_.size],
        )
        table = score_families(data, BDeu(self.ess), max_parents=self.max_parents)
        (draws,) = check_counts(draws=self.draws)
        if data.n <= EXACT_NODES:
            return Part(codings, data, sample_dags(dag_posterior(table), draws=draws, rng=rng))
        each = -(-draws // CHAINS)
        return Part(codings, data, sample_partitions(table, draws=each, chains=CHAINS, rng=rng))


def _numbers(name: str, column: Column) -> Floats | None:
    """The cells as finite floats, nan where they are missing, or None where there is text."""
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} contains infinity: give finite numbers, or nan")
    return numbers


def _missing(column: Column) -> Bools:
    if hasattr(column, "isna"):
        return np.asarray(column.isna(), np.bool_)
    return np.array([cell is None or cell != cell for cell in column], np.bool_)


def _label(cell: object) -> str:
    """One label for 1 and 1.0: a column of whole numbers has floats where cells are missing."""
    return repr(float(cell)) if isinstance(cell, Real) else str(cell)


def _cut_points(numbers: Floats, bins: int) -> Floats:
    """Between all values if they are few; else at quantiles, fewer where ties leave bins empty."""
    distinct = np.unique(numbers)
    if distinct.size <= bins:
        return np.asarray(distinct[:-1] + np.diff(distinct) / 2)
    for size in range(bins, 1, -1):
        with suppress(ValueError):  # of bins that ties leave empty
            return EqualFrequency(size).cut_points(numbers)
    return distinct[:1]
