"""What a registry shows of each distribution needs no file beside it, and names pages that an installation brings."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from equipoise.cli.docs import texts_of

ROOT = Path(__file__).parents[1]
PROJECTS = ("", "verify", "studies")


def shown(folder: str) -> str:
    text: str = ProjectMetadata(str(ROOT / folder), PluginManager()).core.readme
    return text


@pytest.mark.parametrize("folder", PROJECTS)
def test_every_link_of_a_description_works_without_a_repository(folder):
    text = shown(folder)
    assert text.startswith("# ")
    targets = re.findall(r"\[[^\]]*\]\(([^)]*)\)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    assert [target for target in targets if not target.startswith("https://")] == []


@pytest.mark.parametrize("folder", PROJECTS)
def test_every_page_that_a_description_names_is_printed(folder):
    named = set(re.findall(r"`equipoise docs ([^`\s]+)`", shown(folder))) - {"NAME"}
    assert len(named) > (40 if not folder else 1)
    for topic in named:
        assert texts_of(topic), topic


def test_a_description_has_all_words_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.findall(r"^```.*?^```$", readme, re.M | re.S)
    assert code
    assert all(block in shown("") for block in code)
    assert len(shown("").splitlines()) == len(readme.splitlines())


def test_the_studies_bring_their_licence_a_description_and_the_mark_of_types(tmp_path):
    (wheel,) = WheelBuilder(str(ROOT / "studies")).build(directory=str(tmp_path))
    with zipfile.ZipFile(wheel) as packed:
        held = {name.partition("/")[2]: name for name in packed.namelist()}
        assert "py.typed" in held
        assert packed.read(held["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
        assert "# equipoise-studies" in packed.read(held["METADATA"]).decode()
    (archive,) = SdistBuilder(str(ROOT / "studies")).build(directory=str(tmp_path))
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"LICENSE", "README.md", "src/equipoise_studies/py.typed"} <= names
