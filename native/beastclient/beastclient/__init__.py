"""Call HTTP services with Boost.Beast: four extension modules are built from one source.

held, released: the GIL is held, or released, while connecting, sending and receiving
undeclared, undeclared_released: the same, but without declared support for free-threading.
    Importing such a module in
a free-threaded process enables the GIL
"""
