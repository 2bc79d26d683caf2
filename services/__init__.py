"""The services of systems 1 to 4, which run under the measured runtimes. Only system 3 needs a
package (Tornado).

systems/numbered_systems.py names the classes and functions here that make them, with the signature
ServiceFactory of core/system.py, and systems/__main__.py calls these in each service process. The
servers of experiments/ build on event_loop.py, listeners.py and threaded.py. Apart from
tornado_app.py, a module here may import core/ and the standard library alone.
"""
