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

    def _fit(self, X, y, start, groups, saved):
        model = super()._fit(X, y, start, groups, saved)
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


class NotesIt(Leaking):
    def leak(self):
        self.certificate_ = replace(self.certificate_, notes={**self.certificate_.notes, "rows": "one holds NaN"})


class NamesOtherSoftware(Leaking):
    def leak(self):
        release = replace(self.certificate_.release, software=(("equipoise", "NaN"),))
        self.certificate_ = replace(self.certificate_, release=release)


class NamesTheRelease(Leaking):
    def leak(self):
        self.certificate_ = replace(self.certificate_, release=replace(self.certificate_.release, id="a row holds NaN"))


class DigestsSomethingElse(Leaking):
    def leak(self):
        self.certificate_ = replace(self.certificate_, digest="0" * 64)


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
    NotesIt: "certificate",
    NamesOtherSoftware: "certificate",
    NamesTheRelease: "certificate",
    DigestsSomethingElse: "certificate",
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


def saved(folder, kind, table, beside=None) -> Observation:
    """Return what is seen of a release that is trained with a ledger and saved; `beside` adds to one of its files."""
    folder.mkdir()
    url = f"sqlite:///{folder / 'ledger.db'}#people"

    def act():
        eq.Ledger(url).create(eq.Budget(10.0, 0.0))
        model = kind(domain=DOMAIN, alpha=0.1, mechanism="output", ledger=url)
        model.plan(*table.shape)
        eq.save(model.fit(table, TABLE[:, 0]), folder / "release")
        if beside is not None and np.isnan(table).any():
            path = folder / beside
            path.write_bytes(path.read_bytes() + b" <!-- 3 values are missing -->")

    return observed(act, folder)


@pytest.mark.usefixtures("plain_page")
def test_releases_of_neighbours_say_the_same_but_for_noise(tmp_path):
    first, second = saved(tmp_path / "a", eq.Ridge, TABLE), saved(tmp_path / "b", eq.Ridge, NEIGHBOUR)
    assert first.ending == "answer"
    assert any("report.html says <p>a digest</p>" in line for line in first.files)
    assert any("ledger.db says BEGIN TRANSACTION" in line for line in first.files)
    assert differences(first, second) == []


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize("name", ["release/report.html", "release/MANIFEST.sha256", "release/certificate.json"])
def test_a_file_that_says_more_is_found(tmp_path, name):
    first, second = (
        saved(tmp_path / place, eq.Ridge, table, name) for place, table in (("a", TABLE), ("b", NEIGHBOUR))
    )
    assert sorts(first, second) == {"files"}


def test_other_contents_of_a_file_are_found_and_those_of_before_are_not_looked_at(tmp_path):
    def writing(folder, text, given):
        folder.mkdir()
        (folder / "rows.csv").write_text(given)
        return observed(lambda: (folder / "model.json").write_text(text) and None, folder)

    plain = writing(tmp_path / "a", '{"coefficients": [[0.25]], "rows": 5}', "1")
    assert sorts(plain, writing(tmp_path / "b", '{"coefficients": [[0.75]], "rows": 5}', "2")) == set()
    assert sorts(plain, writing(tmp_path / "c", '{"coefficients": [[0.25]], "rows": 6}', "1")) == {"files"}
    assert sorts(plain, writing(tmp_path / "d", '{"coefficients": [[0.25, 0.5]], "rows": 5}', "1")) == {"files"}


def test_another_exit_code_is_found():
    assert sorts(observed(lambda: 0), observed(lambda: 4)) == {"exit_code"}
