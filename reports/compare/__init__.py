"""Compare saved runs with the first of them, for the command compare (commands/compare.py).

members.py gives each run a letter and says whether the runs may be compared. compared_runs.py
compares their cells and makes the document that is printed and written as a page.
"""
