/* An extension with a mutex of its own: a variable, in no object. */
#include <Python.h>

static PyMutex own;

static PyObject *spin(PyObject *module, PyObject *unused)
{
    PyMutex_Lock(&own);
    for (volatile int count = 0; count < 300000; count++) {}
    PyMutex_Unlock(&own);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"spin", spin, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_gil, Py_MOD_GIL_NOT_USED}, {0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_planted", NULL, 0, methods, slots};

PyMODINIT_FUNC PyInit__planted(void) { return PyModuleDef_Init(&definition); }
