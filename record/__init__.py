"""The types of what is saved and received: runs, cells, children's results, comparisons, profiles;
and their file.
"""
