"""Services of systems 1 to 4. They run under the measured runtimes. Except Tornado, they need no packages."""
