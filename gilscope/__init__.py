"""gilscope measures what the free-threaded build of CPython does to a threaded service.

In the wheel, this folder contains all packages. They are not submodules of gilscope: `python -m
gilscope` and the command `gilscope` import them by the same names as runner.py.
"""
