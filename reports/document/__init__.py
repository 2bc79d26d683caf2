"""The document model: a report as sections of sentences, tables and figures, before the report is
rendered.
"""
