"""The README's first minute: every Python block of it runs as it stands, in an empty folder."""

import re
import runpy
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_readme_begins_with_a_program():
    assert BLOCKS
    assert TEXT.index("```python") < TEXT.index("## ")


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs_as_it_stands_and_once_more(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("block.py").write_text(block)
    for _ in range(2):
        runpy.run_path("block.py", run_name="__main__")
        # The claim holds, as the block says beside it.
        assert "\n()\n" in capsys.readouterr().out
