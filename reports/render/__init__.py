"""Renderers of documents: HTML page, Markdown, terminal, and figures as SVG and PNG. They know no topic."""
