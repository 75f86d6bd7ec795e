"""A password in a ledger's address is shown by no estimator, though copies of it are equal."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import equipoise as eq

WORD = "hunter2secret"
ADDRESS = f"postgresql://officer:{WORD}@localhost/budgets#people"
BAD = (
    *(f"postgresql://u:{WORD}@[bad/db#x", f"postgres://u:{WORD}@h/db", f"postgresql://h/db?pass={WORD}"),
    # Without a host, with what a password must not hold, with one slash or none, or with another scheme.
    *(f"postgresql://u:{WORD}/db#p", f"postgresql://u:{WORD}#p", f"postgresql://u:a#{WORD}"),
    *(f"postgresql:u:{WORD}", f"postgresql:/u:{WORD}@h/d#p", f"u:{WORD}@h", f"people#{WORD}"),
    *(f"sqlite:///u:{WORD}@h:5/x.db#p", f"sqlite:///x/u:{WORD}@h/y.db", f"sqlite:///u:{WORD[:3]}#{WORD}@h/x"),
)


def bound(address: str = ADDRESS) -> eq.Ridge:
    return eq.Ridge(epsilon=1.0, ledger=address)


HOLDERS = {
    "itself": bound,
    "a model of a search": lambda: eq.PrivateGridSearch(bound(), {"alpha": [0.1, 1.0]}),
    "a search": lambda: eq.PrivateGridSearch(eq.Ridge(), {"alpha": [0.1, 1.0]}, ledger=ADDRESS),
    "a pipeline": lambda: make_pipeline(bound()),
    "a pipeline in a search of scikit-learn": lambda: GridSearchCV(make_pipeline(bound()), {"ridge__alpha": [0.1]}),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_neither_a_console_nor_a_page_shows_the_password(name):
    holder = HOLDERS[name]()
    shown = {"repr": repr(holder), "str": str(holder), "page": holder._repr_html_()}
    assert [where for where, text in shown.items() if WORD in text] == []
    assert "officer:***@localhost" in "".join(shown["repr"].split())


@pytest.mark.parametrize("address", BAD)
def test_an_address_that_cannot_be_read_is_not_shown(address):
    for holder in (bound(address), clone(bound(address)), GridSearchCV(make_pipeline(bound(address)), {})):
        assert WORD not in repr(holder) + holder._repr_html_()
    try:
        told = repr(eq.Ledger(address))
    except eq.errors.EquipoiseError as error:
        told = str(error)
    assert WORD not in told


def test_copies_have_the_parameters_as_they_were_given():
    pipeline = make_pipeline(bound())
    assert clone(bound()).ledger == bound().get_params()["ledger"] == ADDRESS
    assert clone(pipeline).get_params()["ridge__ledger"] == ADDRESS
    assert pipeline.set_params(ridge__ledger="people").get_params()["ridge__ledger"] == "people"


def test_names_and_files_are_shown_as_they_are():
    assert "ledger='people'" in repr(bound("people"))
    assert "sqlite:///home/ledger.db#people" in repr(bound("sqlite:///home/ledger.db#people"))
