"""Describe the machine, find what disturbs measurements on it, and suggest how to make
it quieter.
"""
