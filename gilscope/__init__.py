"""What the free-threaded build of CPython does to a threaded socket service. In the wheel, all packages lie here.

They are no modules of gilscope: `python -m gilscope` and the command `gilscope` find them as runner.py does.
"""
