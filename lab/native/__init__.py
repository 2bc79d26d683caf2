"""Build and find gilscope's native programs and extension modules.

programs.py has the programs, wheels.py the extension modules, each for an interpreter. Only
commands/native.py, the command `native`, builds them. All others ask where a program or wheel is,
or why there is none.
"""
