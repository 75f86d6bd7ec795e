"""A planted leak of each sort is found: what the matrix cannot see, it cannot rule out."""

import os
import warnings
from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from observing import Observation, differences, observed

DOMAIN = eq.Domain(1.0, labels=(-1.0, 1.0))
TABLE = np.linspace(-0.5, 0.5, 12).reshape(6, 2)
NEIGHBOUR = np.vstack([TABLE[:5], [[np.nan, 0.5]]])


class Leaking(eq.Ridge):
    """A model that tells, in one way or another, whether a value is missing."""

    def _fit(self, X, y, start, groups):
        model = super()._fit(X, y, start, groups)
        if np.isnan(X).any():
            self.leak()
        return model

    def leak(self):
        """Tell nothing."""


class Raises(Leaking):
    def leak(self):
        raise ValueError("a row holds NaN")


class RaisesWithCause(Leaking):
    def leak(self):
        try:
            raise ValueError("a row holds NaN")
        except ValueError as error:
            raise eq.errors.PrivateFailure from error


class Warns(Leaking):
    def leak(self):
        warnings.warn("a row holds NaN", RuntimeWarning, stacklevel=1)


class Prints(Leaking):
    def leak(self):
        print("a row holds NaN")


class WritesToTheTerminal(Leaking):
    def leak(self):
        os.write(2, b"a row holds NaN")


class KeepsMore(Leaking):
    def leak(self):
        self.n_filled_ = 1


class KeepsAnotherShape(Leaking):
    def leak(self):
        self.coef_ = self.coef_[:1]


class KeepsAnotherType(Leaking):
    def leak(self):
        self.intercept_ = np.float32(self.intercept_)


class KeepsAnotherValue(Leaking):
    def leak(self):
        self.n_features_in_ = 7


class CertifiesOtherwise(Leaking):
    def leak(self):
        self.certificate_ = replace(
            self.certificate_, terms=replace(self.certificate_.terms, public_seed=self.public_seed + 1)
        )


def pair(kind) -> tuple[Observation, Observation]:
    def fit(X):
        return lambda: kind(domain=DOMAIN, alpha=0.1, mechanism="output", random_state=0).fit(X, TABLE[:, 0])

    return observed(fit(TABLE)), observed(fit(NEIGHBOUR))


def sorts(first: Observation, second: Observation) -> set[str]:
    return {found.partition(":")[0] for found in differences(first, second)}


LEAKS = {
    Raises: "text",
    RaisesWithCause: "text",
    Warns: "warned",
    Prints: "printed",
    WritesToTheTerminal: "printed",
    KeepsMore: "attributes",
    KeepsAnotherShape: "attributes",
    KeepsAnotherType: "attributes",
    KeepsAnotherValue: "attributes",
    CertifiesOtherwise: "certificate",
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_planted_leak_is_found(kind):
    assert LEAKS[kind] in sorts(*pair(kind))


def test_another_kind_of_ending_is_found():
    assert "ending" in sorts(*pair(Raises))


def test_a_text_that_depends_on_a_value_is_found():
    def failing(length):
        def act():
            raise ValueError(f"data type <U{length}")

        return observed(act)

    assert sorts(failing(3), failing(4)) == {"text"}


def test_a_model_that_tells_nothing_is_not_accused():
    first, second = pair(Leaking)
    assert first.ending == "answer"
    assert first.attributes
    assert first.certificate
    assert differences(first, second) == []


def test_an_extra_file_is_found(tmp_path):
    def writing(folder, names):
        folder.mkdir()
        return observed(lambda: [(folder / name).write_text("") for name in names] and None, folder)

    plain = writing(tmp_path / "a", ["model.json"])
    assert sorts(plain, writing(tmp_path / "b", ["model.json", "filled"])) == {"files"}
    assert sorts(plain, writing(tmp_path / "c", ["model.json"])) == set()


def test_another_exit_code_is_found():
    assert sorts(observed(lambda: 0), observed(lambda: 4)) == {"exit_code"}
