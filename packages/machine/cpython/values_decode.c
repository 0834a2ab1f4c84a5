/* Values (abi/values.h) -> Python objects.
 *
 * Total: whatever a well-formed value says, a Python object comes out. Where Python has no such object the nearest one
 * does: undefined is None; a list or set inside a set or as a map's key is a tuple or frozenset; a map or set whose
 * members cannot be hashed even so, or are equal in Python (1 and true), is a list (of pairs); an instant outside the
 * years 1-9999 is its milliseconds. */
#include "guest.h"
#include "pycore_interp.h"
#include "pycore_pystate.h"
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

static PyObject *take_value(struct input *in);

static PyObject *list(struct input *in, size_t count) {
  PyObject *value = in->frozen ? PyTuple_New(count) : PyList_New(count);
  for (size_t i = 0; value && i < count; i++) {
    PyObject *item = take_value(in);
    if (!item) Py_CLEAR(value);
    else if (in->frozen) PyTuple_SET_ITEM(value, i, item);
    else PyList_SET_ITEM(value, i, item);
  }
  return value;
}

static PyObject *record(struct input *in, size_t count) {
  PyObject *value = PyDict_New();
  while (value && count--) {
    size_t length;
    const char *block = take_block(in, &length);
    PyObject *key = block ? PyUnicode_DecodeUTF8(block, length, "surrogatepass") : malformed();
    if (key) PyUnicode_InternInPlace(&key);
    PyObject *item = key ? take_value(in) : NULL;
    if (!item || PyDict_SetItem(value, key, item) < 0) Py_CLEAR(value);
    Py_XDECREF(key);
    Py_XDECREF(item);
  }
  return value;
}

/* Members are read into a list first, because only then is it known whether a dict or set can hold them all. */
static PyObject *map_or_set(struct input *in, size_t count, int map) {
  PyObject *members = PyList_New(0), *value = NULL;
  for (size_t i = 0; members && i < count; i++) {
    int frozen = in->frozen;
    in->frozen = 1;
    PyObject *member = take_value(in);
    in->frozen = frozen;
    if (member && map) {
      PyObject *item = take_value(in);
      Py_SETREF(member, item ? PyTuple_Pack(2, member, item) : NULL);
      Py_XDECREF(item);
    }
    if (!member || PyList_Append(members, member) < 0) Py_CLEAR(members);
    Py_XDECREF(member);
  }
  if (!members) return NULL;
  if (!map) value = in->frozen ? PyFrozenSet_New(members) : PySet_New(members);
  else if ((value = PyDict_New()) && PyDict_MergeFromSeq2(value, members, 1) < 0) Py_CLEAR(value);
  if (value ? (size_t)PyObject_Size(value) != count : PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    Py_XDECREF(value);
    return members;
  }
  Py_DECREF(members);
  return value;
}

static PyObject *take_container(struct input *in, int tag) {
  size_t count;
  if (take_varint(in, &count) || count > (size_t)(in->end - in->at) || in->depth == FV_MAX_MESSAGE_DEPTH) return malformed();
  in->depth++;
  PyObject *value = tag == FV_LIST ? list(in, count) : tag == FV_RECORD ? record(in, count) : map_or_set(in, count, tag == FV_MAP);
  in->depth--;
  return value;
}

static PyObject *take_value(struct input *in) {
  if (in->at == in->end) return malformed();
  int tag = *in->at++;
  size_t length;
  const char *block;
  double ms;
  switch (tag) {
    case FV_UNDEFINED:
    case FV_NULL: return Py_NewRef(Py_None);
    case FV_FALSE: return Py_NewRef(Py_False);
    case FV_TRUE: return Py_NewRef(Py_True);
    case FV_DOUBLE: return take_double(in, &ms) ? malformed() : number(ms);
    case FV_INSTANT: return take_double(in, &ms) ? malformed() : fermata_from_ms(ms);
    case FV_INTEGER: return integer(in);
    case FV_STRING:
      block = take_block(in, &length);
      return block ? PyUnicode_DecodeUTF8(block, length, "surrogatepass") : malformed();
    case FV_BYTES:
      block = take_block(in, &length);
      return block ? PyBytes_FromStringAndSize(block, length) : malformed();
    case FV_LIST:
    case FV_RECORD:
    case FV_MAP:
    case FV_SET: return take_container(in, tag);
    default: return malformed();
  }
}

PyObject *fermata_decode(const uint8_t *data, size_t length) {
  struct input in = {data, data + length, 0, 0};
  PyObject *value = take_value(&in);
  if (value && in.at != in.end) {
    Py_DECREF(value);
    return malformed();
  }
  return value;
}
