"""A public map for images: an image is mapped by itself, by a map that no image had a say in."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.fft import fft2, ifft2
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import equipoise as eq
from equipoise.data.drawn_images import BLOCK, POWER, RIDGE, EvenMap, drawn_images, even_map
from equipoise.data.scattering import CHANNELS, FLAT, MARGIN, Scattering, means, padded, wave
from equipoise.data.scattering_jax import TOGETHER, DeviceMap, device_of
from equipoise.errors import InvalidData, InvalidParameter, MissingExtra
from equipoise.estimators import image_features

# How far the arithmetic of single precision may part an image alone from the same image among others.
ROUNDING = 1e-5
PIXELS = 64


@pytest.fixture(scope="module")
def features():
    return eq.ImageFeatures(height=8, width=8, directions=40).fit(np.zeros((1, PIXELS)))


def images(count: int, seed: int = 0):
    return np.random.default_rng(seed).uniform(0, 255, (count, PIXELS))


def test_no_image_has_a_say_in_the_map(features):
    for table in (images(70), np.full((3, PIXELS), np.nan), np.zeros((2, PIXELS), dtype=bool)):
        again = clone(features).fit(table)
        np.testing.assert_array_equal(again.centre_, features.centre_)
        np.testing.assert_array_equal(again.directions_, features.directions_)


def test_the_map_follows_from_its_seed_and_the_most_telling_directions_come_first():
    first, again = (even_map.__wrapped__(8, 8, 40, 0, 320) for _ in range(2))
    np.testing.assert_array_equal(again.centre, first.centre)
    np.testing.assert_array_equal(again.directions, first.directions)
    assert np.abs(even_map.__wrapped__(8, 8, 40, 1, 320).directions - first.directions).max() > 0.1
    few = even_map.__wrapped__(8, 8, 10, 0, 320)
    np.testing.assert_allclose(few.directions, first.directions[:, :10], atol=1e-4)


def test_more_directions_than_there_are_are_refused():
    found = eq.ImageFeatures(height=8, width=8, directions=325)
    with pytest.raises(InvalidParameter, match="at most 324 directions; found: directions=325, and images of 8 by 8"):
        found.fit(np.zeros((1, PIXELS)))


def test_what_other_images_hold_changes_no_bit_of_an_images_features(features):
    table = images(2 * BLOCK + 5)
    mapped = features.transform(table)
    for place in (0, BLOCK - 1, BLOCK, 2 * BLOCK + 4):
        others = np.full_like(table, np.nan)
        others[place] = table[place]
        np.testing.assert_array_equal(features.transform(others)[place], mapped[place])
        np.testing.assert_allclose(features.transform(table[[place]])[0], mapped[place], atol=ROUNDING)


def test_values_are_mapped_by_a_public_rule(features):
    odd, plain = images(1), images(1)
    odd[0, :6] = np.nan, -np.inf, -3.0, np.inf, 1e300, 256.0
    plain[0, :6] = 0, 0, 0, 255, 255, 255
    np.testing.assert_array_equal(features.transform(odd), features.transform(plain))


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((2, PIXELS)),
        np.full((2, PIXELS), 255, dtype=np.uint8),
        np.full((2, PIXELS), np.nan, dtype=np.float16),
        np.full((2, PIXELS), 1e-300),
        np.full((1, PIXELS), np.longdouble("1e4000")),
        np.tile([True, False], (2, PIXELS // 2)),
        [[None] * PIXELS, ["white"] * PIXELS],
        images(50).astype(np.int64),
    ],
    ids=["black", "white", "missing", "tiny", "too wide for a double", "truth", "no numbers", "whole numbers"],
)
def test_every_row_has_norm_at_most_1_and_no_value_raises(features, table):
    mapped = features.transform(table)
    assert mapped.dtype == np.float32
    norms = np.linalg.norm(mapped.astype(np.float64), axis=1)
    assert (norms <= 1).all()
    assert (norms > 0.99).all()


def test_a_released_map_needs_nothing_made_again(features, monkeypatch):
    table = images(5)
    kept = pickle.dumps(features)
    monkeypatch.setattr(image_features, "even_map", None)
    np.testing.assert_array_equal(pickle.loads(kept).transform(table), features.transform(table))  # noqa: S301 - ours


def test_a_pipeline_of_map_and_model_learns_and_is_certified():
    X, y = load_digits(return_X_y=True)
    features = eq.ImageFeatures(height=8, width=8, brightest=16.0, directions=40)
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(10)))
    private = eq.LogisticRegression(epsilon=50.0, delta=1e-5, domain=domain, fit_intercept=False, random_state=0)
    model = make_pipeline(features, private).fit(X[:1400], y[:1400])
    assert model[-1].certificate_.verify() == ()
    assert model[-1].n_features_in_ == 40
    assert model.score(X[1400:], y[1400:]) > 0.5  # one in ten by chance
    assert model[:-1].get_feature_names_out()[:2].tolist() == ["imagefeatures0", "imagefeatures1"]


def test_frames_of_pixels_are_mapped_as_arrays_are_and_their_names_noted(features):
    table = images(BLOCK + 1)
    frame = pd.DataFrame(table, columns=[f"pixel {place}" for place in range(PIXELS)])
    named = clone(features).fit(frame)
    assert named.feature_names_in_[0] == "pixel 0"
    np.testing.assert_array_equal(named.transform(frame), features.transform(table))


def test_what_is_no_table_of_such_images_is_refused_by_its_shape(features):
    for table, found in (
        (np.zeros((2, 63)), "63 columns"),
        (np.zeros((2, 8, 8)), "dim 3"),
        (sparse.csr_array((2, PIXELS)), "sparse"),
        (np.full((2, PIXELS), "a"), "text"),
    ):
        with pytest.raises(InvalidData, match=found):
            features.transform(table)
        with pytest.raises(InvalidData, match=found):
            clone(features).fit(table)
    with pytest.raises(NotFittedError):
        clone(features).transform(images(1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"height": 7},
        {"width": 8.5},
        {"height": 40, "width": 40},
        {"brightest": 0.0},
        {"brightest": np.inf},
        {"directions": 0},
        {"directions": "all"},
        {"public_seed": -1},
        {"public_seed": 0.5},
        {"backend": "tpu"},
    ],
    ids=str,
)
def test_parameters_that_make_no_map_are_refused(features, wrong):
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        clone(features).set_params(**wrong).fit(images(1))


def test_scattering_is_what_its_definition_says():
    """Every channel of one image, without a shortcut: no folded spectrum, and means as sums over pixels."""
    height, width = 12, 9
    image = np.random.default_rng(0).uniform(size=(height, width))
    sides = padded(height), padded(width)
    whole = np.pad(
        image, [(MARGIN, whole - MARGIN - side) for whole, side in zip(sides, image.shape, strict=True)], "reflect"
    )

    def found(signal, scale, place):
        return np.abs(ifft2(fft2(signal) * wave(sides, scale, place)))

    def averaged(signal, step):
        sampled = signal[::step, ::step]
        return np.einsum("ij,kl,jl->ik", means(height, step), means(width, step), sampled).ravel()

    channels = [averaged(whole, 1)]
    channels += [averaged(found(whole, 1, place), 1) for place in range(8)]
    channels += [averaged(found(whole, 2, place), 2) for place in range(8)]
    channels += [averaged(found(found(whole, 1, first), 2, second), 2) for first in range(8) for second in range(8)]
    groups = np.array(channels).reshape(CHANNELS // 3, -1)
    groups = (groups - groups.mean(axis=1, keepdims=True)) / (groups.std(axis=1, keepdims=True) + FLAT)
    expected = groups.ravel() / np.linalg.norm(groups)
    np.testing.assert_allclose(Scattering(height, width).rows(image[None])[0], expected, rtol=1e-5, atol=1e-9)


def test_a_wave_finds_strokes_across_its_direction():
    """A line from top to bottom varies from left to right, which is the direction of the orientation in the middle."""
    lines = np.zeros((16, 16))
    lines[:, ::3] = 1.0
    whole = np.pad(lines, MARGIN, "reflect")
    sizes = [np.abs(ifft2(fft2(whole) * wave((28, 28), 1, place))).mean() for place in range(8)]
    assert int(np.argmax(sizes)) == 4
    assert min(sizes) < 0.2 * max(sizes)


def test_drawn_images_vary_independently_and_more_evenly_along_the_directions():
    count, drawn = 30, 640
    even = even_map(8, 8, count, 3, drawn)
    rows = np.concatenate([Scattering(8, 8).rows(block) for block in drawn_images(drawn, 8, 8, 3)])
    variances = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1]
    ridge = RIDGE * variances.mean()
    spread = np.cov(((rows - even.centre) @ even.directions).T, bias=True)
    expected = variances[:count] * (variances[:count] + ridge) ** (-2 * POWER)
    np.testing.assert_allclose(spread, np.diag(expected), atol=1e-4 * expected[0])


def test_the_coins_of_a_seed_are_frozen():
    """A map that is published by its seed must be found again, whatever NumPy draws by then."""
    image = next(drawn_images(3, 8, 8, 0))[2]
    assert float(image.sum()) == pytest.approx(9.324803464363962, rel=1e-9)
    assert float(image[3, 4]) == pytest.approx(0.4882434525089799, rel=1e-9)


# How far two ways of adding the same numbers in single precision were seen apart, several times over: norms of rows.
APART = 1e-5


@pytest.fixture(scope="module")
def by_jax(features):
    """The map by JAX, on a processor: a GPU runs the same program."""
    pytest.importorskip("jax")
    even = EvenMap(features.centre_, features.directions_)
    return DeviceMap(Scattering(8, 8, np.float32), even, device_of("cpu"))


def test_jax_maps_images_as_numpy_does(features, by_jax):
    drawn = next(drawn_images(60, 8, 8, public_seed=4)).reshape(60, PIXELS) * 255
    table = np.concatenate([drawn, images(60), np.zeros((1, PIXELS)), np.full((1, PIXELS), 255.0)])
    mapped = by_jax((table / 255).astype(np.float32).reshape(-1, 8, 8))
    assert mapped.dtype == np.float32
    assert np.linalg.norm(mapped - features.transform(table), axis=1).max() < APART
    # The comparison can fail: an image's neighbour has other features.
    assert np.linalg.norm(mapped - np.roll(mapped, 1, axis=0), axis=1).min() > 1000 * APART


def test_jax_maps_an_image_whatever_the_others_hold(by_jax):
    pixels = (images(9) / 255).astype(np.float32).reshape(-1, 8, 8)
    others = np.zeros_like(pixels)
    others[5] = pixels[5]
    np.testing.assert_array_equal(by_jax(others)[5], by_jax(pixels)[5])


def test_transform_goes_to_a_gpu_in_parts_and_comes_back_in_order(features, by_jax, monkeypatch):
    """A machine with a GPU, played by a processor: the program and the order of its parts are the same."""
    monkeypatch.setattr(image_features, "gpu_may_be_here", lambda: True)
    monkeypatch.setattr(image_features, "device_of", lambda backend: {"gpu": device_of("cpu")}[backend])
    monkeypatch.setattr(image_features, "WORTH_A_GPU", 5)
    started = []
    monkeypatch.setattr(image_features, "DeviceMap", lambda *given: started.append(given) or DeviceMap(*given))
    table = images(TOGETHER + 3)
    mapped = features.transform(table)
    assert len(started) == 1
    assert mapped.shape == (TOGETHER + 3, 40)
    assert np.linalg.norm(mapped - clone_with(features, backend="cpu").transform(table), axis=1).max() < APART
    features.transform(table[:4])
    assert len(started) == 1


def clone_with(features, **changed):
    again = pickle.loads(pickle.dumps(features))  # noqa: S301 - ours
    return again.set_params(**changed)


def test_without_a_gpu_auto_stays_here_and_gpu_is_refused_with_what_to_do(features, monkeypatch):
    monkeypatch.setattr(image_features, "WORTH_A_GPU", 1)
    monkeypatch.setattr(image_features, "gpu_may_be_here", lambda: True)

    def absent(backend):
        raise InvalidParameter("a GPU", "none", "pass backend='cpu'")

    monkeypatch.setattr(image_features, "device_of", absent)
    table = images(3)
    np.testing.assert_array_equal(features.transform(table), clone_with(features, backend="cpu").transform(table))
    with pytest.raises(InvalidParameter, match="a GPU"):
        clone_with(features, backend="gpu").transform(table)
    with pytest.raises(InvalidParameter, match="a GPU"):
        clone(features).set_params(backend="gpu").fit(table)


def test_what_jax_lacks_is_named(monkeypatch):
    jax = pytest.importorskip("jax")

    def none(backend):
        raise RuntimeError("Unknown backend")

    monkeypatch.setattr(jax, "devices", none)
    with pytest.raises(InvalidParameter, match=r"no gpu that JAX can use.*jax\[cuda13\].*backend=\"cpu\""):
        device_of("gpu")
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtra, match=r"equipoise\[lab\]"):
        device_of("gpu")
