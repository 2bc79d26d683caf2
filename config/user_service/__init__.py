"""Make the plan for a user's own service from flags or YAML. See docs/own-service.md.

service_options.py and request_options.py declare the options, service_flags.py collects those that
are flags, and service_plan.py makes the plan from flags or from the key `service` of a plan.
service.py and hidden.py have what these four use.
"""
