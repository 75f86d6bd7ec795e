"""How Sphinx draws the site. The pages are prepared by handbook/build.py; nothing is fetched while they are read."""

from equipoise import __version__

project = "Equipoise"
author = "the Equipoise developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
# Proof pages link to sections by GitHub's anchors, and headings there do not always descend by one.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = ["files"]
html_theme = "furo"
html_title = f"Equipoise {version}"
html_static_path = ["static"]
html_css_files = ["handbook.css"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = True
html_show_copyright = False
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
