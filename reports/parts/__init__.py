"""Parts that several sections of a report share: tables, columns and sentences. A module of them
may also have a section of its own (reports/sections/__init__.py).

Callers are reports/sections, the sections of experiments, and a few commands. Most parts take a
View (reports/view.py), which has the facts of one run. They return messages, tables and sections
(reports/document.py), which reports/render turns into text. No part prints or writes a file.
"""
