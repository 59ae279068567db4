"""What a training table teaches: the steps from its columns to the inputs of a polynomial, scaled, clipped, encoded."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from polyladder.fitted.plan import Feature, feature_names, plan_of
from polyladder.fitted.ramps import Ramps, learn_ramps, within_reach
from polyladder.fitted.steps import Affine, Clip, Cyclic, Fill, IsCategory, IsMissing, Ramp, Step, YeoJohnson
from polyladder.fitted.steps.quantile import quantile_step
from polyladder.tables.table import Table, as_numbers, find_categories, find_dates, is_frame, matrix_table, read_table

Array = np.ndarray[Any, Any]
KINDS = ("standard", "quantile", "yeo-johnson", "piecewise")

RAMPS = 8
"""Ramps per column of ``"piecewise"`` features."""

MOST_LEVELS = 500
"""Columns of text with more different values than this are left out, as names rather than categories: each value would
be an input, in every row."""

SHAPE_ROWS = 3000
"""Rows that the parameters of a Yeo-Johnson transform are found on, at most: a sample tells them well enough."""

STILL = 1e-9
"""A sine that moves by no more than this over all rows is a constant."""

LARGEST = 1e150
"""Numbers beyond this are refused in training: their squares overflow."""

Wave = tuple[int, float, float, float, float]
"""sin(2 pi (x - shift) / period), scaled: (place of x among the numeric columns, period, shift, mean, scale)."""


class Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One transformer for everything between a table and a ladder.

    Numeric columns are clipped to the range seen in training, scaled to mean 0 and variance 1 (after a map to uniform
    quantiles or a Yeo-Johnson transform, if asked for); constant columns are dropped. Dates of a data frame become days
    since 1970. Columns with a period become the sine and the cosine of their phase. Text and categorical columns become
    one column for each category; a category that was not seen in training becomes zeros, with a warning. Columns of
    more than 500 categories are left out, with a warning.

    Clipping matters: outside its data a polynomial grows without bound.

    Parameters
    ----------
    kind : {"standard", "quantile", "yeo-johnson", "piecewise"}, default="standard"
        How numeric columns are scaled. "standard" is affine, so it folds into the polynomial. "piecewise" is "standard"
        with 8 ramps per column.
    clip : bool, default=True
        Hold numeric columns to their training range.
    missing : {"impute", "error"}, default="impute"
        Whether missing numbers are replaced by the median, with an indicator column, or refused.
    ramps : int >= 0, default=0
        For each numeric column of three values or more, at most this many further inputs that each rise over one part
        of its range, from quantile to quantile. The model is then a polynomial on each part.
    margin : float >= 0, default=0
        Share of a column's range that clipping leaves free beyond each end.
    reach : float > 0 or None, default=None
        Columns and ramps that would hold training numbers farther than this from 0 are divided by more than their
        deviation, so that none does: a rare 1 in a column of zeros is otherwise a large number, and a product of
        several a huge one.
    whole : bool, default=False
        Scale all numeric columns by one mean and one deviation, as suits the pixels of an image.
    periods : mapping from names of columns to float > 0, or None, default=None
        Numeric columns that begin anew after a period, such as ``{"hour": 24, "month": 12}``: each becomes two inputs,
        sin and cos of 2 pi x / period, in place of the number itself, so that 23 and 0 are neighbors. They are scaled
        like others and not clipped, since a phase has no range. Columns of an array are called x0, x1, ...

    Attributes
    ----------
    n_features_in_ : int
        Columns of the table.
    categorical_ : tuple of int
        Positions of the columns of categories.
    dates_ : tuple of int
        Positions of the columns of dates.
    feature_names_out_ : list of str
        What each column of the transformed rows is.
    ramps_ : Ramps or None
        The ramps, over the scaled numeric columns.
    waves_ : tuple of (int, float, float, float, float)
        The sines of columns with a period: place among the numeric columns, period, shift, mean, scale.
    mean_ : ndarray of shape (transformed columns,) or None
        The mean of the transformed training rows, by their weights: where explanations start. None where a file of an
        earlier version does not hold it.
    least_, greatest_ : ndarray of shape (numeric columns,) or None
        The range of each numeric column in training; None in files of earlier versions. Clipping holds to ``low_`` and
        ``high_``, which lie a margin beyond.
    integral_ : ndarray of shape (numeric columns,) or None
        Whether all numbers of a column were whole; None in files of earlier versions.
    """

    # What files of earlier versions do not hold.
    ramps: int = 0
    margin: float = 0.0
    reach: float | None = None
    whole: bool = False
    periods: Mapping[str, float] | None = None
    ramps_: Ramps | None = None
    waves_: tuple[Wave, ...] = ()
    dates_: tuple[int, ...] = ()
    mean_: Array | None = None
    least_: Array | None = None
    greatest_: Array | None = None
    integral_: Array | None = None

    def __init__(
        self,
        kind: Literal["standard", "quantile", "yeo-johnson", "piecewise"] = "standard",
        clip: bool = True,
        missing: Literal["error", "impute"] = "impute",
        ramps: int = 0,
        margin: float = 0.0,
        reach: float | None = None,
        whole: bool = False,
        periods: Mapping[str, float] | None = None,
    ) -> None:
        self.kind = kind
        self.clip = clip
        self.missing = missing
        self.ramps = ramps
        self.margin = margin
        self.reach = reach
        self.whole = whole
        self.periods = periods

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn ranges, scales and categories from the training table."""
        return self.fit_table(read_rows(self, X, categorical=None))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn from the training table and transform it."""
        table = read_rows(self, X, categorical=None)
        return self.fit_table(table).transform_table(table)

    def transform(self, X: Any) -> Array:
        """Rows for the polynomial. Shape (n, transformed columns), float64."""
        check_is_fitted(self)
        return self.transform_table(self.check_dates(read_rows(self, X, categorical=self.categorical_)))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the transformed columns."""
        check_is_fitted(self)
        return np.array(self.feature_names_out_, dtype=object)

    def affine(self) -> tuple[Array, Array] | None:
        """(matrix, shift) with transformed = matrix @ original + shift inside the training range, if it is affine.

        Shapes (transformed, original) and (transformed,). None where a step is not affine.
        """
        check_is_fitted(self)
        if not all(isinstance(step, Fill | Clip | Affine) for feature in self.steps for step in feature.steps):
            return None
        matrix = np.zeros((len(self.kept_), len(self.names_in_)))
        matrix[np.arange(len(self.kept_)), self.kept_] = 1.0 / self.scaler_.scale_
        return matrix, -self.scaler_.mean_ / self.scaler_.scale_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags

    def fit_table(self, table: Table, weight: Array | None = None) -> Self:
        """Learn from a table that was read already.

        Rows of weight zero are left out. Mean and variance are weighted; ranges and quantiles take every other row as
        one, and so do the Yeo-Johnson parameters up to 3,000 rows. Of more, so many are drawn, always the same.
        """
        if weight is not None:
            used = np.flatnonzero(weight)
            table, weight = table.take(used), weight[used]
        for name, value, allowed in (("kind", self.kind, KINDS), ("missing", self.missing, ("error", "impute"))):
            if value not in allowed:
                raise ValueError(
                    f"The {name!r} parameter of Features must be a str among {{{', '.join(map(repr, allowed))}}}. "
                    f"Got {value!r} instead."
                )
        numbers, names = table.numbers, table.names
        refuse_extremes(table)
        periods = periods_of(self.periods or {}, table)
        self.names_in_, self.categorical_, self.dates_ = names, tuple(table.categories), table.dates
        gone = np.isnan(numbers)
        self.integral_ = all_whole(numbers)
        # An indicator of a column that is missing throughout would be constant.
        self.flagged_ = np.flatnonzero(gone.any(0) & ~gone.all(0))
        self.imputer_ = None
        if self.missing == "impute" and numbers.shape[1]:
            self.imputer_ = SimpleImputer(strategy="median", keep_empty_features=True).fit(numbers)
            numbers = self.imputer_.transform(numbers)
        self.low_, self.high_ = numbers.min(0, initial=np.inf), numbers.max(0, initial=-np.inf)
        self.least_, self.greatest_ = self.low_.copy(), self.high_.copy()
        varying = np.setdiff1d(np.flatnonzero(self.high_ > self.low_), list(periods))
        self.kept_ = np.array(table.positions, dtype=np.intp)[varying]
        self.varying_ = varying
        shaped = numbers[:, varying]
        beyond = self.margin * (self.high_ - self.low_)[varying]
        self.low_[varying], self.high_[varying] = self.low_[varying] - beyond, self.high_[varying] + beyond
        self.shaper_ = None
        if varying.size and self.kind == "quantile":
            self.shaper_ = QuantileTransformer(n_quantiles=min(1000, len(shaped)), subsample=None).fit(shaped)
        elif varying.size and self.kind == "yeo-johnson":
            self.shaper_ = PowerTransformer(standardize=False).fit(some_rows(shaped, SHAPE_ROWS))
        self.scaler_ = StandardScaler()
        if varying.size:
            shaped = self._reshaped(shaped)
            if not np.isfinite(shaped).all():
                name = names[self.kept_[np.argwhere(~np.isfinite(shaped))[0, 1]]]
                raise ValueError(f"Column {name!r} must stay finite; {self.kind!r} features do not keep it so.")
            self.scaler_.fit(shaped, sample_weight=weight)
            self._widen_scales(shaped)
            shaped = self.scaler_.transform(shaped)
        self._learn_waves(numbers, periods, weight)
        self._learn_ramps(shaped, weight)
        self.encoder_ = None
        self.encoded_ = encoded_columns(table)
        if self.encoded_:
            self.encoder_ = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self.encoder_.fit(np.stack([table.categories[i] for i in self.encoded_], 1))
        self.mean_ = self._mean(shaped, gone[:, self.flagged_], table, weight)
        self.feature_names_out_ = feature_names(names, self.steps)
        if not self.feature_names_out_:
            raise ValueError("X must have a column that varies; every column is constant. Add a feature that differs.")
        return self

    def ramped(self, table: Table, ramps: int, weight: Array | None = None) -> Self:
        """A copy with at most so many ramps per column, learned from the training table. It must have none yet."""
        used = np.arange(len(table.numbers)) if weight is None else np.flatnonzero(weight)
        own = copy(self)
        own.ramps = ramps
        own._learn_ramps(
            self.transform_table(table.take(used))[:, : len(self.kept_)], None if weight is None else weight[used]
        )
        own.feature_names_out_ = feature_names(own.names_in_, own.steps)
        if self.mean_ is not None and own.ramps_ is not None:
            own.mean_ = np.concatenate([self.mean_, np.zeros(len(own.ramps_.column))])
        return own

    def _mean(self, scaled: Array, gone: Array, table: Table, weight: Array | None) -> Array:
        """The mean of the transformed rows, found without transforming them. Shape (transformed columns,)."""
        share = np.ones(len(gone)) if weight is None else weight
        share = share / share.sum()
        parts = [share @ scaled, share @ gone]
        if self.encoder_ is not None:
            for i, values in zip(self.encoded_, self.encoder_.categories_, strict=True):
                place = {value: k for k, value in enumerate(values)}
                parts.append(np.bincount([place[value] for value in table.categories[i]], share, len(values)))
        # Scaled by their own means, so that those are 0.
        parts.append(np.zeros(len(self.waves_)))
        if self.ramps_ is not None:
            parts.append(np.zeros(len(self.ramps_.column)))
        return np.concatenate(parts)

    def _learn_waves(self, numbers: Array, periods: Mapping[int, float], weight: Array | None) -> None:
        """Sine and cosine of columns with periods, from filled numbers (n, numeric columns), and their scales."""
        found: list[Wave] = []
        for place, period in periods.items():
            for shift in (0.0, -period / 4):
                values = Cyclic(period, shift).apply(numbers[:, place])
                mean = float(np.average(values, weights=weight))
                scale = float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))
                if self.reach is not None:
                    scale = max(scale, float(np.abs(values - mean).max()) / self.reach)
                if np.ptp(values) > STILL:
                    found.append((place, period, shift, mean, scale))
        self.waves_ = tuple(found)

    def _learn_ramps(self, scaled: Array, weight: Array | None) -> None:
        """Ramps over scaled columns (n, varying), if any are asked for."""
        parts = RAMPS if self.kind == "piecewise" and not self.ramps else self.ramps
        self.ramps_ = learn_ramps(scaled, parts, weight) if scaled.shape[1] and parts else None
        if self.ramps_ is not None and self.reach is not None:
            self.ramps_ = within_reach(self.ramps_, self.reach)

    def _widen_scales(self, shaped: Array) -> None:
        """Scale columns as a whole, and hold their training numbers (n, d) within reach, where that is asked for."""
        scaler = self.scaler_
        if self.whole:
            squares = scaler.scale_**2 + (scaler.mean_ - scaler.mean_.mean()) ** 2
            scaler.mean_ = np.full_like(scaler.mean_, scaler.mean_.mean())
            scaler.scale_ = np.full_like(scaler.scale_, np.sqrt(squares.mean()))
        if self.reach is not None:
            farthest = np.maximum(shaped.max(0) - scaler.mean_, scaler.mean_ - shaped.min(0))
            scaler.scale_ = np.maximum(scaler.scale_, farthest / self.reach)

    def transform_table(self, table: Table) -> Array:
        """Transform a table that was read already."""
        plan = plan_of(self.steps)
        plan.warn_of(table)
        return np.ascontiguousarray(plan(table))

    @property
    def steps(self) -> tuple[Feature, ...]:
        """The inputs in their order: the column of each, and the steps that its value takes."""
        numeric = [i for i in range(len(self.names_in_)) if i not in self.categorical_]
        mains = [self._main_steps(place, at) for at, place in enumerate(self.varying_.tolist())]
        found = [Feature(numeric[place], steps) for place, steps in zip(self.varying_.tolist(), mains, strict=True)]
        found += [Feature(numeric[place], (IsMissing(),)) for place in self.flagged_.tolist()]
        if self.encoder_ is not None:
            for i, known in zip(self.encoded_, self.encoder_.categories_, strict=True):
                found += [Feature(i, (IsCategory(category),)) for category in known.tolist()]
        for place, period, shift, mean, scale in self.waves_:
            found.append(Feature(numeric[place], (*self._fill(place), Cyclic(period, shift), Affine(mean, scale))))
        if self.ramps_ is not None:
            for at, low, high, mean, scale in self.ramps_.rows():
                found.append(Feature(found[at].column, (*mains[at], Ramp(low, high), Affine(mean, scale))))
        return tuple(found)

    def _main_steps(self, place: int, at: int) -> tuple[Step, ...]:
        """What becomes of a number that varies: filled, held to a range, shaped, scaled.

        Args:
            place: counts among the columns of numbers.
            at: counts among those of them that vary.
        """
        clip = (Clip(float(self.low_[place]), float(self.high_[place])),) if self.clip else ()
        scale = Affine(float(self.scaler_.mean_[at]), float(self.scaler_.scale_[at]))
        return (*self._fill(place), *clip, *self._shape(at), scale)

    def _fill(self, place: int) -> tuple[Step, ...]:
        """What a missing number becomes, if it may be missing; ``place`` counts among the columns of numbers."""
        return () if self.imputer_ is None else (Fill(float(self.imputer_.statistics_[place])),)

    def _shape(self, at: int) -> tuple[Step, ...]:
        """The map to quantiles or by Yeo-Johnson, if there is one; ``at`` counts among the columns that vary."""
        if self.shaper_ is None:
            return ()
        if self.kind == "yeo-johnson":
            return (YeoJohnson(float(self.shaper_.lambdas_[at])),)
        return (quantile_step(self.shaper_.quantiles_[:, at].tolist(), self.shaper_.references_.tolist()),)

    def _reshaped(self, numbers: Array) -> Array:
        """Varying columns (n, varying) after that map, in memory with rows last, as columns of a matrix are taken."""
        if self.shaper_ is None:
            return numbers
        return plan_of([Feature(at, self._shape(at)) for at in range(numbers.shape[1])])(matrix_table(numbers))

    def training_range(self) -> tuple[Array, Array]:
        """The least and greatest number of each numeric column in training. Shapes (numeric columns,)."""
        check_is_fitted(self)
        if self.least_ is not None and self.greatest_ is not None:
            return self.least_, self.greatest_
        # Files of earlier versions hold what clipping holds to.
        beyond = self.margin / (1 + 2 * self.margin) * np.maximum(self.high_ - self.low_, 0.0)
        return self.low_ + beyond, self.high_ - beyond

    def groups(self) -> Array:
        """For each input of the polynomial, the position of its column in the table. Shape (inputs,), int."""
        check_is_fitted(self)
        return np.array([feature.column for feature in self.steps], dtype=np.intp)

    def check_dates(self, table: Table) -> Table:
        """The table itself, refused where it has numbers and training had dates, or the other way round."""
        if table.dates != self.dates_:
            position = min(set(table.dates) ^ set(self.dates_))
            wanted, found = ("dates", "numbers") if position in self.dates_ else ("numbers", "dates")
            raise ValueError(f"Column {self.names_in_[position]!r} must hold {wanted}, as in training; got {found}.")
        return table


def periods_of(periods: Mapping[str, float], table: Table) -> dict[int, float]:
    """The periods by places among the numeric columns, in their order; refused where a column has no such place."""
    found: dict[int, float] = {}
    for name, period in periods.items():
        if name not in table.names:
            known = ", ".join(map(repr, table.names[:6]))
            raise ValueError(f"periods must name columns of the table, such as {known}; got {name!r}.")
        if table.names.index(name) in table.categories:
            raise ValueError(f"periods must name columns of numbers; column {name!r} holds texts. Make it numbers.")
        if not is_period(period):
            raise ValueError(f"The period of column {name!r} must be a finite number above 0; got {period!r}.")
        found[table.positions.index(table.names.index(name))] = float(period)
    return dict(sorted(found.items()))


def is_period(value: object) -> bool:
    """Whether a value is a finite number above 0."""
    return not isinstance(value, bool) and isinstance(value, Real) and 0 < float(value) < np.inf


def encoded_columns(table: Table) -> tuple[int, ...]:
    """Positions of the columns of categories that become inputs; a warning says which have too many."""
    found = []
    for i, column in table.categories.items():
        levels = len(set(column))
        if levels > MOST_LEVELS:
            warnings.warn(
                f"Column {table.names[i]!r} holds {levels:,} different texts, more like names than categories: it is "
                f"left out. Group them into at most {MOST_LEVELS} to have it count.",
                UserWarning,
                stacklevel=5,
            )
        elif levels > 1:
            found.append(i)
    return tuple(found)


def all_whole(numbers: Array) -> Array:
    """Which columns (n, d) hold whole numbers alone, apart from missing ones. Shape (d,), bool."""
    present = ~np.isnan(numbers)
    return np.asarray(((numbers == np.floor(numbers)) | ~present).all(0) & present.any(0))


def some_rows(values: Array, most: int) -> Array:
    """At most so many rows (n, d), drawn at random and always the same."""
    return values if len(values) <= most else values[np.random.default_rng(0).permutation(len(values))[:most]]


def count_inputs(table: Table) -> int:
    """How many inputs a polynomial of a table has, missing numbers imputed, without fitting anything."""
    gone = np.isnan(table.numbers)
    spread = np.nanmax(table.numbers, 0, initial=-np.inf) > np.nanmin(table.numbers, 0, initial=np.inf)
    texts = [len(set(column)) for column in table.categories.values()]
    levels = sum(count for count in texts if 1 < count <= MOST_LEVELS)
    return int(spread.sum() + (gone.any(0) & ~gone.all(0)).sum() + levels)


def refuse_extremes(table: Table) -> None:
    """Refuse columns whose squares are no numbers, or all zero: they could not be scaled."""
    sizes = np.nan_to_num(np.abs(table.numbers)).max(0, initial=0.0)
    spread = np.nanmax(table.numbers, 0, initial=-np.inf) - np.nanmin(table.numbers, 0, initial=np.inf)
    for k, position in enumerate(table.positions):
        if sizes[k] > LARGEST or 0 < spread[k] < 1 / LARGEST:
            found = f"{sizes[k]:g}" if sizes[k] > LARGEST else f"differences of {spread[k]:g}"
            raise ValueError(
                f"Column {table.names[position]!r} must have sizes from {1 / LARGEST:g} to {LARGEST:g}; got {found}. "
                "Multiply it by a constant."
            )


def names_in(estimator: Any) -> Array | None:
    """``feature_names_in_``, which scikit-learn wants to be absent where the columns have no names."""
    try:
        return np.asarray(estimator.feature_names_in_)
    except AttributeError:
        return None


def read_rows(estimator: Any, X: Any, *, categorical: tuple[int, ...] | None) -> Table:
    """Check X as scikit-learn does, on behalf of an estimator with a ``missing`` parameter, and read it.

    Args:
        estimator: its ``n_features_in_`` and ``feature_names_in_`` are set while it is fitted, and compared later.
        X: array, data frame or whatever scikit-learn takes for one.
        categorical: positions of the columns of categories, as training found them; None while fitting.
    """
    X = as_numbers(X)
    reset = categorical is None
    least = 2 if reset else 1
    if categorical and not is_frame(X):
        raise ValueError(
            "X must be a data frame, as in training, where some columns held categories; "
            f"got {type(X).__name__}. Give it the same columns."
        )
    found = categorical or (find_categories(X) if is_frame(X) else ())
    if found or (is_frame(X) and find_dates(X)):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if len(X) < least:
            raise ValueError(
                f"Found array with {len(X)} sample(s) (shape={X.shape}) while a minimum of {least} is required."
            )
        table = read_table(X, found if categorical is None else categorical)
        if np.isinf(table.numbers).any():
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    else:
        matrix = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least
        )
        table = matrix_table(matrix, names_in(estimator))
    if estimator.missing != "impute" and np.isnan(table.numbers).any():
        row, column = (int(i) for i in np.argwhere(np.isnan(table.numbers))[0])
        raise ValueError(
            f"Input X contains NaN, first in row {row + 1} of column {table.names[table.positions[column]]!r}. "
            "Leave missing='impute' to have missing numbers filled in."
        )
    return table
