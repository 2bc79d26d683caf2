"""Renderers for any document: HTML, Markdown and terminal output, and figures as SVG.

They take the types of reports/document/model.py and a language, and do not know what a section is
about. html.py and markdown.py return text, and terminal.py prints on a console of console.py.
figures.py draws with panels.py and matplotlib. Its callers import it late, because matplotlib is
slow to import.
"""
