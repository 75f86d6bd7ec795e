"""A public map for small grey images, as a step of a scikit-learn pipeline: pixels in, rows of norm at most 1 out."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from equipoise.data.drawn_images import BLOCK, EvenMap, even_map
from equipoise.data.scattering import SMALLEST_SIDE, Scattering, width_of
from equipoise.data.scattering_jax import TOGETHER, DeviceMap, device_of, gpu_may_be_here
from equipoise.data.tables import feature_table
from equipoise.data.unread import Unread
from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter
from equipoise.estimators.intake import note_columns
from equipoise.estimators.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from equipoise.estimators.unknown_arguments import KnownParameters, known_arguments
from equipoise.vocabulary.numbers import plain, require_count, require_number

Single = NDArray[np.float32]

# The map of larger images would take more than a gigabyte and several minutes to make.
MOST_NUMBERS = width_of(32, 32)

# With fewer images a GPU is not worth its start: a core maps them in the seconds that compiling the program takes.
WORTH_A_GPU = 10_000
BACKENDS = ("auto", "cpu", "gpu")


class ImageFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KnownParameters):
    """Turns images into features for linear models, by a map that was fixed before any image was seen (N8).

    An image's scattering (what oriented waves find in it, averaged over cells of 4 by 4 pixels) is centred and turned
    into the directions in which images vary that were drawn by public coins, scaled so that they vary more evenly,
    and divided by its norm. `fit` looks at the number of columns alone (docs/feature-maps.md).

    Parameters
    ----------
    height, width : int
        The size of the images in pixels, at least 8 by 8. A row of the table is an image, line by line.
    brightest : float
        The value of a white pixel; black is 0. Values are clipped into this range, and a missing one is black.
    directions : int, optional
        How many features there are, at most; None for all that there can be: 3,969 for 28 by 28 pixels.
    public_seed : int
        Draws the images. Part of the map, to be published with the model.
    backend : "auto", "cpu" or "gpu"
        Where features are computed, by the same sums: no part of the map, and they differ by rounding only. "auto"
        takes a GPU for 10,000 images or more where JAX (`equipoise[lab]`) finds one; "gpu" is refused without one.

    Attributes
    ----------
    n_features_in_ : int
        The number of pixels.
    centre_, directions_ : arrays of shape (n_numbers,) and (n_numbers, n_features)
        What is taken from an image's scattering, and what it is multiplied with. Copied and pickled with the map, since
        another machine would find the same only up to rounding.

    Examples
    --------
    >>> import equipoise as eq
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_digits(return_X_y=True)
    >>> features = eq.ImageFeatures(height=8, width=8, brightest=16.0, directions=100)
    >>> domain = eq.Domain(row_norm=1.0, classes=tuple(range(10)))
    >>> private = eq.LogisticRegression(epsilon=3.0, delta=1e-5, domain=domain, fit_intercept=False, random_state=0)
    >>> model = make_pipeline(features, private).fit(X[:1500], y[:1500])
    >>> bool(model.score(X[1500:], y[1500:]) > 0.5)
    True
    """

    @known_arguments
    def __init__(
        self,
        height: int = 28,
        width: int = 28,
        brightest: float = 255.0,
        directions: int | None = 1500,
        public_seed: int = 0,
        backend: str = "auto",
    ) -> None:
        self.height = height
        self.width = width
        self.brightest = brightest
        self.directions = directions
        self.public_seed = public_seed
        self.backend = backend

    @known_arguments
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the map; of the images no more is looked at than how many pixels they have, and no row is read."""
        height, width, _ = self._size()
        numbers = width_of(height, width)
        given = plain(self.directions)
        count = numbers if given is None else require_count("directions", given, "pass directions=1500")
        if count > numbers:
            found = f"directions={count}, and images of {height} by {width} have {numbers}"
            raise InvalidParameter(f"at most {numbers} directions", found, "pass directions=None to have all of them")
        seed = plain(self.public_seed)
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InvalidParameter("public_seed, a whole number >= 0", f"public_seed={seed!r}", "pass public_seed=0")
        self._device(0)
        shape = self._table(X).shape
        self.centre_, self.directions_ = even_map(height, width, count, seed)
        note_columns(self, X, shape)
        return self

    def transform(self, X: Any) -> Single:
        """Return a row of norm at most 1 an image, in single precision; no value raises."""
        check_is_fitted(self, "directions_")
        height, width, brightest = self._size()
        table = self._table(X)
        together, mapped = self._mapping(height, width, table.shape[0])
        features = np.empty((table.shape[0], self.directions_.shape[1]), dtype=np.float32)
        images = table.read()
        for start in range(0, len(features), together):
            with np.errstate(all="ignore"):  # a wide number may become infinite, and no value warns
                block = np.array(images[start : start + together], dtype=np.float64)
            # The public rule: what is no number is black, what is too dark is black, and what is too bright is white.
            np.clip(np.nan_to_num(block, copy=False, nan=0.0), 0.0, brightest, out=block)
            pixels = (block / brightest).astype(np.float32).reshape(-1, height, width)
            features[start : start + together] = mapped(pixels)
        return features

    @property
    def _n_features_out(self) -> int:
        """How many features there are, for scikit-learn to name them."""
        return int(self.directions_.shape[1])

    def _mapping(self, height: int, width: int, count: int) -> tuple[int, Callable[[Any], Any]]:
        """Return how many images are mapped at a time, and what maps them: by the same sums, here or on a GPU."""
        scattering, even = Scattering(height, width, np.float32), EvenMap(self.centre_, self.directions_)
        device = self._device(count)
        if device is not None:
            return TOGETHER, DeviceMap(scattering, even, device)
        return BLOCK, lambda pixels: even(scattering.rows(pixels))

    def _device(self, count: int) -> Any:
        """Return the GPU that is to map so many images, or None; a GPU that was asked for and is not there is named."""
        backend = plain(self.backend)
        if backend not in BACKENDS:
            raise InvalidParameter('backend "auto", "cpu" or "gpu"', f"backend={backend!r}", 'pass backend="auto"')
        if backend == "gpu":
            return device_of("gpu")
        if backend == "auto" and count >= WORTH_A_GPU and gpu_may_be_here():
            try:
                return device_of("gpu")
            except EquipoiseError:
                return None
        return None

    def _size(self) -> tuple[int, int, float]:
        sides = []
        for name in ("height", "width"):
            side = require_count(name, plain(getattr(self, name)), f"pass {name}=28")
            if side < SMALLEST_SIDE:
                allowed, remedy = (
                    f"{name} >= {SMALLEST_SIDE}",
                    "enlarge the images by a public rule, or use their pixels as they are",
                )
                raise InvalidParameter(allowed, f"{name}={side}", remedy)
            sides.append(side)
        if width_of(*sides) > MOST_NUMBERS:
            allowed = "images of at most about 1,000 pixels, such as 32 by 32"
            remedy = "shrink them by a public rule: the map of larger ones would take too much memory"
            raise InvalidParameter(allowed, f"height={sides[0]}, width={sides[1]}", remedy)
        brightest = require_number("brightest", plain(self.brightest), above=0.0, remedy="pass brightest=255.0")
        return sides[0], sides[1], brightest

    def _table(self, X: Any) -> Unread:
        """Return the images, unread, if they have as many pixels as was said."""
        if sparse.issparse(X):
            raise InvalidData("images as a dense table", "a sparse one", "pass X.toarray()")
        table = feature_table(X)
        height, width, _ = self._size()
        if table.shape[1] != height * width:
            raise InvalidData(
                f"{height * width} columns, the pixels of images of {height} by {width}",
                f"{table.shape[1]} columns",
                "pass the images' height and width, and images.reshape(len(images), -1)",
            )
        return table

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values are welcome: they are black."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
