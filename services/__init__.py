"""The services of systems 1 to 4, which run under the measured runtimes. Only system 3 needs a
package (Tornado).
"""
