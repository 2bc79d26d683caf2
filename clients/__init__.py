"""Clients of services. They run under the measured runtimes and use only the standard library."""
