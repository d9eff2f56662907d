"""How Sphinx builds the documentation: Markdown by MyST, the theme furo, nothing fetched when it is read."""

project = "unmask"
author = "the authors of unmask"
copyright = "the authors of unmask, Apache-2.0"  # noqa: A001 - Sphinx's name for it
html_title = "unmask"
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["unmask.css"]
html_copy_source = False
html_show_sphinx = False
nitpicky = True
pygments_style = "friendly"
suppress_warnings: list[str] = []
