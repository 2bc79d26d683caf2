"""Renderers for any document: HTML, Markdown and terminal output, and figures as SVG. Also what a
terminal shows of a run in progress, and of saved runs.

The renderers take the types of reports/document.py and a language, and do not know what a
section is about. html.py and markdown.py return text, and terminal.py prints, as do progress.py and
listing.py. figures.py draws with panels.py and matplotlib. Its callers import it late, because
matplotlib is slow to import.
"""
