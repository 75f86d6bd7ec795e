"""Paths that are no plain files: every command that reads one refuses it, without reading on until memory ends."""

import os
import resource
import signal

import pytest

import equipoise as eq
from equipoise.cli.exit_codes import CHECK_FAILED
from program import run_program


class Late(BaseException):
    """No answer; nothing may take it for an error of the file, as TimeoutError would be."""


@pytest.fixture
def little():
    """Give this process 3 GiB more than it has, and 20 seconds: what reads without end fails soon."""

    def late(*_):
        raise Late("no answer within 20 s")

    former, alarm = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, late)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 3 * 2**30, former[1]))
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, alarm)
    resource.setrlimit(resource.RLIMIT_AS, former)


def commands(path, ledger):
    return {
        "verify": ("verify", path),
        "explain": ("explain", path),
        "predict": ("predict", path, path),
        "report": ("report", path),
        "card": ("card", path),
        "draft": ("schema", "draft", path),
        "check": ("schema", "check", path, path),
        "train": ("train", path, "--schema", path, "--epsilon", "1"),
        "prevalence": ("prevalence", path, "--schema", path, "--epsilon", "1"),
        "ledger": ("ledger", "verify", ledger, "--against", path),
        "checkpoint": ("ledger", "checkpoint", ledger, "--key", path, "--out", "head.json"),
        "key": ("key", "show", path),
    }


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the limit of memory is counted from there")
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("kind", ["device", "pipe", "file of the kernel"])
@pytest.mark.parametrize("name", commands("", ""))
def test_a_path_without_end_is_refused(name, kind, tmp_path):
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}#trial"
    eq.Ledger(ledger).create(eq.Budget(1.0))
    path = {"device": "/dev/zero", "pipe": tmp_path / "pipe", "file of the kernel": "/proc/self/mem"}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    done = run_program(*commands(path, ledger)[name], folder=tmp_path)
    assert done.returncode not in (0, CHECK_FAILED)
    assert "found" in done.stderr
    assert "fault of the program" not in done.stderr
