"""Renderers: a document as a page, as Markdown, on a terminal; figures as SVG and PNG. They know no topic."""
