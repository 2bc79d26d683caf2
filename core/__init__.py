"""Modules that all packages share. Most need only the standard library, and run under every
measured runtime.
"""
