"""Clients that send requests to services. They run under the measured runtimes and use only the
standard library.
"""
