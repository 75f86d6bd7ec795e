"""A released model for the checks of disclosure control: SACRO-ML's `Target`, which its attacks take (docs/card.md)."""

import os
from typing import Any

import numpy as np

from equipoise.artifact.card import card_of
from equipoise.artifact.folder import load
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter, MissingExtra
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.plain import plain_model


def sacroml_target(folder: str | os.PathLike[str]) -> Any:
    """Return a released classifier as a `sacroml.attacks.target.Target`, without any rows.

    Its model is scikit-learn's, with the released weights, on encoded columns; its classes are numbered from 0 in their
    public order; `features` says which encoded columns belong to which column of the schema; `safemodel` holds the
    card. Whoever checks it, where the rows are, sets `X_train`, `y_train`, `X_test` and `y_test` to encoded rows
    (`equipoise.SchemaEncoder` encodes them) and numbers of classes, and calls SACRO-ML's attacks. What they find is a
    finding about private rows: it stays there.

    Parameters
    ----------
    folder : path
        A released folder; `sacroml` must be installed, which this library does not do.
    """
    try:
        from sacroml.attacks.target import Target  # type: ignore[import-not-found]
    except ImportError:
        how = "pip install sacroml"
        raise MissingExtra("a target of SACRO-ML", "sacroml is not installed", how) from None
    card, model = card_of(folder), load(folder)
    if not isinstance(model, PrivateLinearModel) or card["model"]["task"] != "classification":
        found = f"a {card['model']['name']}, for {card['model']['task']}"
        raise InvalidParameter("a released classifier", found, "SACRO-ML's attacks are about classifiers: use the card")
    weights = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    facts, place, rules = model._public_facts, 0, model._facts
    # Some of its attacks take classes as places in a list. Rows come encoded by a schema, and as they are otherwise.
    places = np.arange(len(model.classes_))
    plain = plain_model(model._plain_class(), *weights, places, rules.domain, directions=rules.directions)
    target = Target(
        model=plain,
        model_name=type(plain).__name__,
        model_params=plain.get_params(),
        dataset_name=card["training"]["ledger"] or "",
        safemodel=[card],
    )
    if isinstance(facts, Schema):
        for column in facts.columns:
            encoding = "onehot" if column.spread else "float"
            target.add_feature(column.name, list(range(place, place + column.width)), encoding)
            place += column.width
        for pair, surface in zip(facts.pairs, facts.surfaces, strict=True):
            target.add_feature(" and ".join(pair.columns), list(range(place, place + surface.width)), "float")
            place += surface.width
    else:
        for place in range(weights[0].shape[1]):
            target.add_feature(f"column {place + 1}", [place], "float")
    return target
