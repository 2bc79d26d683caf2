"""What a run leaves for people and other tools: tables, plots, sentences, the page, the record.

From the ground up, each importing only what stands before it: statistics, rows, words; compare, terminal, findings,
contests, plots, record; page; exports. write makes all of it for a run, frame is for notebooks.
"""
