"""What a killed process leaves unfinished is swept by the next one; what a living one writes is not.

Nothing is written inside a release, and what is no file is called what it is.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.artifact.staging import UNFINISHED, Staging, new_file
from equipoise.errors import OutputRefused
from program import run_program

WRITERS = {
    "folder": "with Staging(Path('release'), ('MANIFEST',), force=False) as place:",
    "file": "with new_file(Path('list.csv')) as file:",
}


def writing(what: str, folder: Path) -> subprocess.Popen:
    """Start a process that stays in the middle of writing."""
    program = f"""
from pathlib import Path
from equipoise.artifact.staging import Staging, new_file
{WRITERS[what]}
    print("writing", flush=True)
    input()
"""
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    return process


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("later", WRITERS)
@pytest.mark.parametrize("killed", WRITERS)
def test_what_a_killed_process_left_is_swept_by_the_next_save_beside_it(tmp_path, killed, later):
    with writing(killed, tmp_path) as process:
        os.kill(process.pid, signal.SIGKILL)
    assert len(unfinished(tmp_path)) == 1
    if later == "folder":
        with Staging(tmp_path / "other", ("MANIFEST",), force=False) as place:
            place.publish({"MANIFEST": "all"})
    else:
        with new_file(tmp_path / "other") as file:
            file.write("all")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize("what", WRITERS)
def test_what_a_living_process_writes_is_left_alone(tmp_path, what):
    with writing(what, tmp_path) as process:
        with new_file(tmp_path / "other") as file:
            file.write("all")
        assert len(unfinished(tmp_path)) == 1
        process.communicate("\n")
    assert process.returncode == 0
    assert unfinished(tmp_path) == []


def test_nothing_else_is_swept(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "thesis.txt").write_text("precious")
    (tmp_path / f"{UNFINISHED}link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".release.abcdefgh").mkdir()
    with new_file(tmp_path / "other") as file:
        file.write("all")
    assert (tmp_path / "elsewhere" / "thesis.txt").read_text() == "precious"
    assert (tmp_path / ".release.abcdefgh").is_dir()


@pytest.fixture
def sealed(tmp_path):
    folder = tmp_path / "release"
    eq.save(logistic(), folder)
    (tmp_path / "link").symlink_to(folder)
    return folder


def logistic():
    model = eq.LogisticRegression(1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
    return model.fit([[0.1, 0.2]] * 50 + [[-0.1, 0.3]] * 50, [0, 1] * 50)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("out", ["release/model.json", "release/model.sql", "link/model.json", "release/new/model.sql"])
def test_no_command_writes_into_a_release(sealed, out, force):
    before = contents(sealed)
    commands = [
        ("export", "release", "--to", "csv", "--out", out, *force),
        ("card", "release", "--out", out, *force),
        ("report", "release", "--out", out, *force),
        ("demo", "--out", Path(out).parent),
        ("example", "--out", Path(out).parent),
        ("key", "new", out),
        ("plan", "--epsilon", "1", "-n", "1000", "-d", "3", "--row-norm", "1", "--out", out),
    ]
    for words in commands:
        done = run_program(*words, folder=sealed.parent)
        said = done.stderr.splitlines()
        assert (done.returncode, len(said)) == (2, 3), (words, done.stderr)
        assert said[1] == "found  the released folder release, whose manifest lists every file that may be in it"
    assert contents(sealed) == before


def test_nothing_is_saved_inside_a_release_or_an_evaluation_and_a_release_is_still_replaced(sealed):
    before = contents(sealed)
    with pytest.raises(OutputRefused, match="the released folder release"):
        eq.save(logistic(), sealed / "another")
    assert contents(sealed) == before
    eq.save(logistic(), sealed, force=True)
    assert run_program("verify", sealed).returncode == 0
    (sealed / "model.json").unlink()
    with pytest.raises(OutputRefused, match="the evaluation release"), new_file(sealed / "list.csv"):
        pass


def test_a_folder_with_a_plan_is_no_release(tmp_path):
    (tmp_path / "certificate.json").write_text("{}")
    with new_file(tmp_path / "list.csv") as file:
        file.write("a")
    assert (tmp_path / "list.csv").read_text() == "a"


@pytest.mark.parametrize("force", [None, False, True])
def test_what_is_no_file_is_called_what_it_is(tmp_path, force):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    for name, found in (("folder", "a folder"), ("pipe", "a pipe"), ("nowhere", "a link to nothing")):
        with pytest.raises(OutputRefused, match=found) as refusal, new_file(tmp_path / name, force):
            pass
        assert "--force" not in str(refusal.value)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_behind_what_is_printed_is_no_fault_of_the_program():
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-c", "from equipoise.cli import main; main()", "docs", "card"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[1]) == (2, "found  No space left on device")
