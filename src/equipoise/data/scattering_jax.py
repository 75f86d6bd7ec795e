"""The map of `ImageFeatures` as a program of JAX: the same sums as in `scattering.py` and `drawn_images.py`, on a GPU.

Every number of the map comes from there; this file says again what is done with them, and nothing else. Numbers are
32-bit floats and products keep full 32-bit precision, so that a GPU's features are a processor's up to rounding
(docs/feature-maps.md says how far they were seen apart). Images go to the device so many at a time, the last ones among
black images: one program is compiled for a size of images, and no image's features depend on another's pixels.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.data.scattering import CHANNELS, EMPTY, FLAT, GROUP, Images, Scattering
from equipoise.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from equipoise.data.drawn_images import EvenMap, Single

# How many images a GPU maps at a time: what they need there is below 4 GB.
TOGETHER = 2_048


def gpu_may_be_here() -> bool:
    """Return whether JAX has a plugin for a device: without one it need not be loaded to find none.

    Examples
    --------
    >>> gpu_may_be_here() in (True, False)
    True
    """
    return bool(entry_points(group="jax_plugins"))


def device_of(backend: str) -> Any:
    """Return JAX's device of a backend, "cpu" or "gpu"; an error says what is absent."""
    asked = f"image features by JAX on a {backend}"
    try:
        import jax
    except ImportError as error:
        raise MissingExtra.of(asked, error) from None
    try:
        return jax.devices(backend)[0]
    except RuntimeError:
        remedy = 'pip install "jax[cuda13]" on a machine with an NVIDIA GPU, or pass backend="cpu"'
        raise InvalidParameter(asked, f"no {backend} that JAX can use", remedy) from None


class DeviceMap:
    """Pixels from 0 to 1 in, rows of norm at most 1 out, computed on a device of JAX.

    Examples
    --------
    >>> from equipoise.data.drawn_images import even_map
    >>> mapped = DeviceMap(Scattering(8, 8, np.float32), even_map(8, 8, 10, 0, images=200), device_of("cpu"))
    >>> mapped(np.zeros((3, 8, 8), dtype=np.float32)).shape
    (3, 10)
    """

    def __init__(self, scattering: Scattering, even: EvenMap, device: Any) -> None:
        import jax
        import jax.numpy as jnp
        from jax import lax

        fixed = {
            "fine": scattering.fine,
            "coarse": scattering.coarse,
            "means": scattering.means,
            "centre": even.centre,
            "directions": even.directions,
        }
        self._fixed, self._device, self._put = jax.device_put(fixed, device), device, jax.device_put
        margins = scattering.margins

        def product(left: Any, right: Any) -> Any:
            return jnp.matmul(left, right, precision=lax.Precision.HIGHEST)

        def averaged(fixed: Any, images: Any, step: int) -> Any:
            down, across = fixed["means"][step]
            return product(down, product(images, across.T))

        def coarsened(fixed: Any, spectrum: Any) -> Any:
            found = spectrum * fixed["coarse"]
            height, width = (side // 2 for side in found.shape[2:])
            found = found[:, :, :height] + found[:, :, height:]
            found = found[..., :width] + found[..., width:]
            return jnp.abs(jnp.fft.ifft2(found)) * 0.25

        def unit(rows: Any) -> Any:
            return rows / (jnp.sqrt(jnp.sum(rows * rows, axis=1, keepdims=True)) * (1 + EMPTY) + EMPTY)

        def mapped(fixed: Any, images: Any) -> Any:
            whole = jnp.pad(images, ((0, 0), *margins), mode="reflect")[:, None]
            spectrum = jnp.fft.fft2(whole)
            fine = jnp.abs(jnp.fft.ifft2(spectrum * fixed["fine"]))
            channels = [averaged(fixed, whole, 1), averaged(fixed, fine, 1)]
            channels.append(averaged(fixed, coarsened(fixed, spectrum), 2))
            # One orientation after the other: the finds of all together would take eight times the memory.
            second = lax.map(
                lambda each: averaged(fixed, coarsened(fixed, jnp.fft.fft2(each[:, None])), 2),
                jnp.moveaxis(fine, 1, 0),
            )
            channels += [jnp.moveaxis(second, 0, 1).reshape(len(images), -1, *second.shape[3:])]
            groups = jnp.concatenate(channels, axis=1).reshape(len(images), CHANNELS // GROUP, -1)
            groups -= groups.mean(axis=2, keepdims=True)
            groups /= groups.std(axis=2, keepdims=True) + FLAT
            rows = unit(groups.reshape(len(images), -1))
            return unit(product(rows - fixed["centre"], fixed["directions"]))

        self._program = jax.jit(mapped)

    def __call__(self, pixels: Images) -> Single:
        """Return a row an image, for at most `TOGETHER` images."""
        filled = np.zeros((TOGETHER, *pixels.shape[1:]), dtype=np.float32)
        filled[: len(pixels)] = pixels
        return np.asarray(self._program(self._fixed, self._put(filled, self._device)))[: len(pixels)]
