"""The document model: a report as sections of sentences, tables and figures, before the report is
rendered.

model.py has the types, and shapes.py builds tables of them. Sections, reports/compare and some
commands make documents, and reports/render writes them.
"""
