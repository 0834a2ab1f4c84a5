/* The guest: CPython with one program's worth of settings, the module `_fermata`, and the prelude that takes over.
 *
 * Nothing here depends on the environment or the clock, so that booting gives the same memory everywhere. */
#include "guest.h"
#include "pycore_ceval.h"
#include "pycore_pystate.h"
#include "fermata.h"
#include <wasi/api.h>

/* The exit code by which the host knows os.abort() and a fatal error of the interpreter: 128 + SIGABRT. */
#define FERMATA_ABORTED 134

static PyObject *inspector;

static void release_encoded(PyObject *capsule) { Py_XDECREF(PyCapsule_GetPointer(capsule, FERMATA_ENCODED)); }

/* encode(value, root): the value in its travelling form, to be put into a message as it is. */
static PyObject *encode(PyObject *self, PyObject *args) {
  PyObject *value, *encoded = NULL, *capsule = NULL;
  const char *root;
  struct bytes out = {0};
  if (!PyArg_ParseTuple(args, "Os", &value, &root)) return NULL;
  if (!fermata_encode(&out, value, root)) encoded = PyBytes_FromStringAndSize((char *)out.data, out.length);
  PyMem_RawFree(out.data);
  if (encoded) capsule = PyCapsule_New(encoded, FERMATA_ENCODED, release_encoded);
  if (!capsule) Py_XDECREF(encoded);
  return capsule;
}

/* can_wait(): whether a stop is possible here. It is not under a guard (stops.txt), like in `__del__`. */
static PyObject *can_wait(PyObject *self, PyObject *unused) { return PyBool_FromLong(fermata_status.nosuspend == 0); }

/* exchange(message): hands the host a message and returns its reply. The machine may be stopped for long in here. */
static PyObject *exchange(PyObject *self, PyObject *message) {
  struct bytes out = {0};
  if (fermata_status.nosuspend) {
    PyErr_SetString(PyExc_RuntimeError, "nothing can be waited for here: an object is being destroyed");
    return NULL;
  }
  if (fermata_encode(&out, message, "message")) {
    PyMem_RawFree(out.data);
    return NULL;
  }
  uint32_t length = fermata_import_exchange(out.data, out.length);
  PyMem_RawFree(out.data);
  uint8_t *reply = PyMem_RawMalloc(length ? length : 1);
  if (!reply) return PyErr_NoMemory();
  fermata_import_take(reply);
  PyObject *value = fermata_decode(reply, length);
  PyMem_RawFree(reply);
  return value;
}

/* emit(kind, value): tells the host something and goes on. */
static PyObject *emit(PyObject *self, PyObject *args) {
  struct bytes out = {0};
  unsigned kind;
  PyObject *value;
  if (!PyArg_ParseTuple(args, "IO", &kind, &value)) return NULL;
  int failed = fermata_encode(&out, value, "message");
  if (!failed) fermata_import_emit(kind, out.data, out.length);
  PyMem_RawFree(out.data);
  return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *set_user_file(PyObject *self, PyObject *name) {
  fermata_set_user_file(name);
  return Py_NewRef(Py_None);
}

static PyObject *set_inspector(PyObject *self, PyObject *function) {
  Py_XSETREF(inspector, Py_NewRef(function));
  return Py_NewRef(Py_None);
}

/* Ends what the program set for the interpreter as a whole, before more of the prelude runs under it. */
static PyObject *restore_interpreter(PyObject *self, PyObject *unused) {
  PyEval_SetTrace(NULL, NULL);
  PyEval_SetProfile(NULL, NULL);
  Py_SetRecursionLimit(Py_DEFAULT_RECURSION_LIMIT);
  return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
  {"encode", encode, METH_VARARGS, NULL},
  {"can_wait", can_wait, METH_NOARGS, NULL},
  {"exchange", exchange, METH_O, NULL},
  {"emit", emit, METH_VARARGS, NULL},
  {"restore_interpreter", restore_interpreter, METH_NOARGS, NULL},
  {"set_user_file", set_user_file, METH_O, NULL},
  {"set_inspector", set_inspector, METH_O, NULL},
  {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_fermata", .m_size = -1, .m_methods = methods};

static PyObject *init_module(void) { return fermata_instant_init() ? NULL : PyModule_Create(&module); }

/* Called on a restored copy only: the user's frames as {uint32 length, value}, or 0. */
FERMATA_EXPORT("fermata_inspect") const void *fermata_inspect(void) {
  struct bytes out = {0};
  uint32_t room = 0;
  PyThreadState *tstate = _PyThreadState_GET();
  PyErr_Clear();
  /* The program may be at its limit of depth, and looking must still be possible. */
  tstate->c_recursion_remaining += 500;
  tstate->py_recursion_remaining += 500;
  PyObject *found = inspector ? PyObject_CallNoArgs(inspector) : NULL;
  if (!found || fermata_encode(&out, found, "inspection")) return NULL;
  uint8_t *answer = PyMem_RawMalloc(sizeof room + out.length);
  if (!answer) return NULL;
  room = (uint32_t)out.length;
  memcpy(answer, &room, sizeof room);
  memcpy(answer + sizeof room, out.data, out.length);
  return answer;
}

extern PyObject *PyInit__sqlite3(void), *PyInit__bz2(void), *PyInit__lzma(void);

/* libc's own is a trap, which the host takes for a machine that broke down. This is the end of the program. */
_Noreturn void abort(void) { __wasi_proc_exit(FERMATA_ABORTED); }

static void check(PyStatus status) {
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

int main(void) {
  PyImport_AppendInittab("_fermata", init_module);
  PyImport_AppendInittab("_sqlite3", PyInit__sqlite3);
  PyImport_AppendInittab("_bz2", PyInit__bz2);
  PyImport_AppendInittab("_lzma", PyInit__lzma);

  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  check(Py_PreInitialize(&before));

  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.use_hash_seed = 1;
  config.hash_seed = 0;
  config.site_import = 0;
  config.install_signal_handlers = 0;
  config.write_bytecode = 0;
  config.pathconfig_warnings = 0;
  config.module_search_paths_set = 1;
  check(PyConfig_SetString(&config, &config.program_name, L"python"));
  check(PyConfig_SetString(&config, &config.executable, L""));
  check(PyConfig_SetString(&config, &config.prefix, L"/usr/local"));
  check(PyConfig_SetString(&config, &config.exec_prefix, L"/usr/local"));
  check(PyWideStringList_Append(&config.module_search_paths, L"/usr/local/lib/python313.zip"));
  check(Py_InitializeFromConfig(&config));
  PyConfig_Clear(&config);

  PyObject *boot = PyImport_ImportModule("fermata._boot");
  if (boot) PyObject_CallMethod(boot, "main", NULL); /* serves programs for as long as the machine lives */
  PyErr_Print();
  return 70;
}
