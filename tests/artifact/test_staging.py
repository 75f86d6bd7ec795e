"""What a killed process leaves unfinished is swept by the next one; what a living one writes is not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.artifact.staging import UNFINISHED, Staging, new_file

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
