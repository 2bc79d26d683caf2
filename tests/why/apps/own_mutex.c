/* A module with one mutex of its own around some work, as extensions have that were made safe for threads in a hurry. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static PyObject *work(PyObject *module, PyObject *times)
{
    long count = PyLong_AsLong(times);
    volatile long sum = 0;
    if (count == -1 && PyErr_Occurred()) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&mutex);
    for (long n = 0; n < count; n++) {
        sum += n;
    }
    pthread_mutex_unlock(&mutex);
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(sum);
}

static PyMethodDef methods[] = {{"work", work, METH_O, "Sum up under the mutex."}, {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "own_mutex_extension", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_own_mutex_extension(void)
{
    return PyModuleDef_Init(&definition);
}
