"""A loop is compiled whatever the disk does: a spend is recorded before most of them are."""

import errno
import importlib.util

import pytest
from numba import types
from numba.core import caching

from equipoise import kept_loops
from equipoise.data import compiling
from equipoise.solve.descents.compiling import inlined

TEXT = """
def three(number):
    return 3 * number

def thrice(number):
    return three(number)
"""


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """Return what defines two loops anew, the second of which calls the first, as another process would."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "defined.py").write_text(TEXT)

    def define(make):
        found = importlib.util.spec_from_file_location("defined", tmp_path / "defined.py")
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        module.three = inlined(module.three)
        return module.three, make(module.thrice)

    return define


def made_for_a_type(function):
    return compiling.compiled(compiling.types.int64(compiling.types.int64))(function)


MAKERS = pytest.mark.parametrize("make", [kept_loops.compiled, inlined, made_for_a_type])


@MAKERS
def test_what_was_compiled_is_kept_for_other_processes(loops, make):
    for hits in (0, 1):
        _, thrice = loops(make)
        assert thrice(2) == 6
        assert sum(thrice.stats.cache_hits.values()) == hits


@MAKERS
def test_a_full_disk_loses_no_loop(loops, make, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
    for _ in range(2):
        assert loops(make)[1](2) == 6


@MAKERS
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_what_is_damaged_on_the_disk_is_compiled_again_and_kept_whole(loops, make, kind, tmp_path):
    assert loops(make)[1](2) == 6
    files = list((tmp_path / "kept").rglob(f"*.{kind}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:20])
    assert loops(make)[1](2) == 6
    _, again = loops(make)
    assert again(2) == 6
    assert sum(again.stats.cache_hits.values()) == 1


@MAKERS
def test_no_folder_to_keep_it_in_loses_no_loop(loops, make, monkeypatch):
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])
    assert loops(make)[1](2) == 6


def test_types_are_those_that_were_asked_for(loops):
    _, thrice = loops(made_for_a_type)
    assert thrice.signatures == [(types.int64,)]
    with pytest.raises(TypeError, match="No matching definition"):
        thrice(2j)
