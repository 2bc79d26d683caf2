"""HTTP by Boost.Beast, four modules of one source.

held, released: the GIL is held, or released, through connecting, sending and receiving.
undeclared, undeclared_released: the same two, but the module does not say that it can do without the GIL, so that
importing it in a free-threaded process turns the GIL back on.
"""
