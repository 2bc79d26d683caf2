"""Clients that send requests to services. They run under the measured runtimes and use only the
standard library.

systems/__main__.py makes one client in each client process: CallerClient of drive.py for most
systems, UserServiceClient of user_service.py for a user's service, or the client that a system of
experiments/ declares. A module here may import core/ alone.
"""
