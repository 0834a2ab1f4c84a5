/* Values (abi/values.h) -> Python objects.
 *
 * Total: whatever a well-formed value says, a Python object comes out. Where Python has no such object the nearest one
 * does: undefined is None; a list or set inside a set or as a map's key is a tuple or frozenset; a map or set whose
 * members cannot be hashed even so is a list (of pairs); an instant outside the years 1-9999 is its milliseconds. */
#include "guest.h"
#include "pycore_interp.h"
#include "pycore_pystate.h"
#include "datetime.h"
#include "values.h"

struct input {
  const uint8_t *at, *end;
  int depth, frozen; /* frozen: make hashable containers */
};

static PyObject *malformed(void) {
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "malformed value from the host");
  return NULL;
}

static int take_varint(struct input *in, size_t *n) {
  *n = 0;
  for (int shift = 0; in->at < in->end && shift < 32; shift += 7) {
    uint8_t digit = *in->at++;
    *n |= (size_t)(digit & 127) << shift;
    if (!(digit & 128)) return 0;
  }
  return -1;
}

static const char *take_block(struct input *in, size_t *length) {
  if (take_varint(in, length) || (size_t)(in->end - in->at) < *length) return NULL;
  const char *block = (const char *)in->at;
  in->at += *length;
  return block;
}

static int take_double(struct input *in, double *number) {
  if (in->end - in->at < 8) return -1;
  memcpy(number, in->at, 8);
  in->at += 8;
  return 0;
}

static PyObject *number(double value) {
  if (value == 0 ? !signbit(value) : value == trunc(value) && fabs(value) <= 9007199254740991.0) return PyLong_FromLongLong((long long)value);
  return PyFloat_FromDouble(value);
}

static PyObject *integer(struct input *in) {
  size_t length;
  const char *digits = take_block(in, &length);
  PyObject *text = digits ? PyBytes_FromStringAndSize(digits, length) : NULL;
  if (!text) return malformed();
  int *limit = &_PyInterpreterState_GET()->long_state.max_str_digits, saved = *limit;
  *limit = 0;
  PyObject *value = PyLong_FromString(PyBytes_AS_STRING(text), NULL, 10);
  *limit = saved;
  Py_DECREF(text);
  return value;
}

static PyObject *instant(double ms) {
  PyDateTime_IMPORT;
  double days = floor(ms / 86400000.0), rest = ms - days * 86400000.0;
  if (days >= -719162 && days <= 2932896) {
    PyObject *date = PyDateTimeAPI->DateType->tp_dict ? NULL : NULL;
    (void)date;
  }
  (void)rest;
  return PyFloat_FromDouble(ms);
}
