"""How to call a service, and the threads that do. Standard library only; runs under the measured runtimes."""
