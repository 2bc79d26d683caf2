"""Renderers for any document: HTML, Markdown and terminal output, and figures as SVG."""
