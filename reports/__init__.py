"""Write the reports of a run for people and for other tools: tables, plots, sentences, an HTML
page, a record.

From the ground up, each importing only what stands before it: statistics, rows, words; compare,
terminal, findings, contests, plots, record; page; exports. write makes all of it for a run, frame
is for notebooks.
"""
