"""Write the reports of a run for people and for other tools: tables, plots, sentences, an HTML
page, and files for other programs.

From the ground up: document.py has the types of a report, and tables.py builds tables of them.
view.py derives facts from a saved run, and stress_report.py is about a stress test. render/ writes
documents as HTML, Markdown, SVG and terminal text, and prints the progress of a run and a list of
runs. parts/ has what several sections share, and sections/ has a module for each section. compare/
is about several saved runs, and exports/ makes files for other programs. write.py makes the report
of a run and writes all files of it, and frame.py is for notebooks. tests/test_import_table.yaml
(`reports`) says which may import which.
"""
