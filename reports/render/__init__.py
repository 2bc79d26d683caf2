"""Renderers for documents on any topic: HTML, Markdown and terminal output, and figures as SVG and PNG."""
