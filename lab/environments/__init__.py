"""Virtual environments with the packages that systems need, one for each runtime.

environment.py makes environments with uv, before anything is measured. requirements.py parses
requirements files. resolution.py finds out for the command `audit` which packages have wheels.
"""
