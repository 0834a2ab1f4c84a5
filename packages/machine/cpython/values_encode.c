/* Python objects -> values (abi/values.h).
 *
 * Runs no code of the user: subclasses are read through their base type in C, and what has no value form is an error
 * that names the place (`result.items[3].when`), the type, and the way out. */
#include "guest.h"
#include "pycore_interp.h"
#include "pycore_long.h"
#include "pycore_pystate.h"
#include "pycore_setobject.h"
#include "pycore_typeobject.h"
#include "values.h"

#define EXACT_INTEGER ((1LL << 53) - 1)

/* One step on the way from the root to the value at hand; it lives on the C stack of the recursion. */
struct place {
  const struct place *outer;
  PyObject *container;
  PyObject *key;     /* of a dict, or NULL */
  Py_ssize_t index;  /* of a list, or -1 (an element of a set) */
  int depth;
};

static int put(struct bytes *out, const void *data, size_t length) {
  if (out->room - out->length < length) {
    size_t room = (out->length + length) * 2 + 256;
    uint8_t *grown = PyMem_RawRealloc(out->data, room);
    if (!grown) { PyErr_NoMemory(); return -1; }
    out->data = grown;
    out->room = room;
  }
  memcpy(out->data + out->length, data, length);
  out->length += length;
  return 0;
}

static int put_tag(struct bytes *out, uint8_t tag) { return put(out, &tag, 1); }

static int put_varint(struct bytes *out, size_t n) {
  uint8_t digits[10];
  int count = 0;
  do digits[count++] = (uint8_t)((n & 127) | (n > 127 ? 128 : 0)); while (n >>= 7);
  return put(out, digits, count);
}

static int put_block(struct bytes *out, const void *data, size_t length) {
  return put_varint(out, length) || put(out, data, length) ? -1 : 0;
}

static int put_double(struct bytes *out, uint8_t tag, double number) {
  if (number != number) number = Py_NAN; /* one NaN, whatever its bits were */
  return put_tag(out, tag) || put(out, &number, 8) ? -1 : 0;
}

/* The text of a place, for messages: result.items[3].when */
static PyObject *describe(const struct place *place, const char *root) {
  if (!place) return PyUnicode_FromString(root);
  PyObject *outer = describe(place->outer, root), *text = NULL;
  if (!outer) return NULL;
  if (place->key && PyUnicode_CheckExact(place->key) && PyUnicode_IsIdentifier(place->key))
    text = PyUnicode_FromFormat("%U.%U", outer, place->key);
  else if (place->key && (PyUnicode_CheckExact(place->key) || PyLong_CheckExact(place->key)))
    text = PyUnicode_FromFormat("%U[%R]", outer, place->key);
  else if (place->index >= 0)
    text = PyUnicode_FromFormat("%U[%zd]", outer, place->index);
  else
    text = PyUnicode_FromFormat("%U{...}", outer);
  Py_DECREF(outer);
  return text;
}

static int fail(PyObject *type, const struct place *place, const char *root, const char *what) {
  PyObject *where = describe(place, root);
  if (where) PyErr_Format(type, "%U %s", where, what);
  Py_XDECREF(where);
  return -1;
}

/* What to write instead of a value that cannot cross. */
static const char *advice(PyObject *value) {
  static const char *const by_name[][2] = {
    {"datetime.date", "use .isoformat()"}, {"datetime.time", "use .isoformat()"}, {"datetime.timedelta", "use .total_seconds()"},
    {"decimal.Decimal", "use str(x) or float(x)"}, {"Fraction", "use str(x) or float(x)"}, {"complex", "use [x.real, x.imag]"},
    {"generator", "use list(x)"}, {"range", "use list(x)"}, {"map", "use list(x)"}, {"filter", "use list(x)"}, {"zip", "use list(x)"},
    {"enumerate", "use list(x)"}, {"reversed", "use list(x)"}, {"dict_keys", "use list(x)"}, {"dict_values", "use list(x)"},
    {"dict_items", "use list(x)"}, {"collections.deque", "use list(x)"}, {"array.array", "use list(x)"},
    {"UUID", "use str(x)"}, {"PosixPath", "use str(x)"}, {"PurePosixPath", "use str(x)"}, {"re.Match", "use x.group() or x.groupdict()"},
    {"coroutine", "did you forget `await`?"}, {"async_generator", "use [item async for item in x]"},
    {"_asyncio.Future", "did you forget `await`?"}, {"_asyncio.Task", "did you forget `await`?"}, {"Call", "did you forget `await`?"},
    {"mappingproxy", "use dict(x)"}, {"types.SimpleNamespace", "use vars(x)"},
    {"function", "did you forget to call it?"}, {"builtin_function_or_method", "did you forget to call it?"},
    {"method", "did you forget to call it?"},
  };
  PyTypeObject *type = Py_TYPE(value);
  for (size_t i = 0; i < Py_ARRAY_LENGTH(by_name); i++)
    if (strcmp(type->tp_name, by_name[i][0]) == 0) return by_name[i][1];
  if (PyExceptionInstance_Check(value)) return "use str(x)";
  if (strcmp(Py_TYPE(type)->tp_name, "EnumType") == 0) return "use x.value";
  PyObject *key = PyUnicode_InternFromString("__dataclass_fields__");
  int dataclass = key && _PyType_Lookup(type, key) != NULL;
  Py_XDECREF(key);
  return dataclass ? "use dataclasses.asdict(x)" : "build it of dict, list, str, numbers, bool and None";
}

static int fail_type(PyObject *value, const struct place *place, const char *root) {
  PyObject *where = describe(place, root);
  if (where) PyErr_Format(PyExc_TypeError, "%U is of type %s, which cannot leave the machine: %s", where, Py_TYPE(value)->tp_name, advice(value));
  Py_XDECREF(where);
  return -1;
}

static int put_integer(struct bytes *out, PyObject *value) {
  int overflow;
  long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (!overflow && small >= -EXACT_INTEGER && small <= EXACT_INTEGER) return put_double(out, FV_DOUBLE, (double)small);
  /* The limit on digits protects programs that parse input, not this exact form. */
  int *limit = &_PyInterpreterState_GET()->long_state.max_str_digits, saved = *limit;
  *limit = 0;
  PyObject *digits = PyLong_Type.tp_repr(value);
  *limit = saved;
  if (!digits) return -1;
  int result = put_tag(out, FV_INTEGER) || put_block(out, PyUnicode_DATA(digits), PyUnicode_GET_LENGTH(digits)) ? -1 : 0;
  Py_DECREF(digits);
  return result;
}

static int put_text(struct bytes *out, PyObject *text) {
  if (PyUnicode_IS_ASCII(text)) return put_block(out, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text));
  PyObject *utf8 = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
  if (!utf8) return -1;
  int result = put_block(out, PyBytes_AS_STRING(utf8), PyBytes_GET_SIZE(utf8));
  Py_DECREF(utf8);
  return result;
}

static int put_buffer(struct bytes *out, PyObject *value) {
  Py_buffer view;
  if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO) < 0) return -1;
  int result = -1;
  uint8_t *copy = PyMem_RawMalloc(view.len ? view.len : 1);
  if (!copy) PyErr_NoMemory();
  else if (PyBuffer_ToContiguous(copy, &view, view.len, 'C') == 0)
    result = put_tag(out, FV_BYTES) || put_block(out, copy, view.len) ? -1 : 0;
  PyMem_RawFree(copy);
  PyBuffer_Release(&view);
  return result;
}

static int put_instant(struct bytes *out, PyObject *value, const struct place *place, const char *root) {
  double ms;
  const char *problem = fermata_to_ms(value, &ms);
  return problem ? fail(PyExc_TypeError, place, root, problem) : put_double(out, FV_INSTANT, ms);
}

static int put_value(struct bytes *out, PyObject *value, const struct place *place, const char *root);

static int put_sequence(struct bytes *out, PyObject *value, struct place *here, const char *root) {
  Py_ssize_t count = Py_SIZE(value);
  if (put_tag(out, FV_LIST) || put_varint(out, count)) return -1;
  for (here->index = 0; here->index < count; here->index++) {
    /* A very long integer may let the garbage collector in, and with it a finalizer that changes this list. */
    if (here->index >= Py_SIZE(value)) return fail(PyExc_RuntimeError, here->outer, root, "changed while it was read");
    PyObject *item = Py_NewRef(PyTuple_Check(value) ? PyTuple_GET_ITEM(value, here->index) : PyList_GET_ITEM(value, here->index));
    int result = put_value(out, item, here, root);
    Py_DECREF(item);
    if (result) return -1;
  }
  return 0;
}

static int put_dict(struct bytes *out, PyObject *value, struct place *here, const char *root) {
  PyObject *key, *item;
  Py_ssize_t at = 0, count = PyDict_GET_SIZE(value), done = 0;
  int record = 1;
  while (PyDict_Next(value, &at, &key, &item)) record &= PyUnicode_Check(key);
  if (put_tag(out, record ? FV_RECORD : FV_MAP) || put_varint(out, count)) return -1;
  here->index = -1;
  for (at = 0; PyDict_Next(value, &at, &key, &item); done++) {
    Py_INCREF(key);
    Py_INCREF(item);
    here->key = NULL;
    int result = record ? put_text(out, key) : put_value(out, key, here, root);
    here->key = key;
    if (!result) result = put_value(out, item, here, root);
    Py_DECREF(key);
    Py_DECREF(item);
    if (result) return -1;
    if (done >= count) break;
  }
  return done == count ? 0 : fail(PyExc_RuntimeError, here->outer, root, "changed while it was read");
}

static int put_set(struct bytes *out, PyObject *value, struct place *here, const char *root) {
  PyObject *item;
  Py_hash_t hash;
  Py_ssize_t at = 0;
  if (put_tag(out, FV_SET) || put_varint(out, PySet_GET_SIZE(value))) return -1;
  here->index = -1;
  while (_PySet_NextEntry(value, &at, &item, &hash)) {
    Py_INCREF(item);
    int result = put_value(out, item, here, root);
    Py_DECREF(item);
    if (result) return -1;
  }
  return 0;
}

static int put_value(struct bytes *out, PyObject *value, const struct place *place, const char *root) {
  if (value == Py_None) return put_tag(out, FV_NULL);
  if (PyBool_Check(value)) return put_tag(out, value == Py_True ? FV_TRUE : FV_FALSE);
  if (PyLong_Check(value)) return put_integer(out, value);
  if (PyFloat_Check(value)) return put_double(out, FV_DOUBLE, PyFloat_AS_DOUBLE(value));
  if (PyUnicode_Check(value)) return put_tag(out, FV_STRING) || put_text(out, value) ? -1 : 0;
  if (PyBytes_Check(value)) return put_tag(out, FV_BYTES) || put_block(out, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value)) ? -1 : 0;
  if (PyByteArray_Check(value)) return put_tag(out, FV_BYTES) || put_block(out, PyByteArray_AS_STRING(value), PyByteArray_GET_SIZE(value)) ? -1 : 0;
  if (PyMemoryView_Check(value)) return put_buffer(out, value);
  if (fermata_is_datetime(value)) return put_instant(out, value, place, root);
  if (PyCapsule_IsValid(value, FERMATA_ENCODED)) {
    PyObject *encoded = PyCapsule_GetPointer(value, FERMATA_ENCODED);
    return put(out, PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded));
  }
  int sequence = PyList_Check(value) || PyTuple_Check(value), dict = PyDict_Check(value);
  if (!sequence && !dict && !PyAnySet_Check(value)) return fail_type(value, place, root);
  for (const struct place *outer = place; outer; outer = outer->outer)
    if (outer->container == value) return fail(PyExc_ValueError, place, root, "contains itself: a value that leaves the machine cannot");
  struct place here = {place, value, NULL, -1, place ? place->depth + 1 : 1};
  if (here.depth > FV_MAX_DEPTH) return fail(PyExc_ValueError, NULL, root, "is nested more than 200 levels deep");
  return sequence ? put_sequence(out, value, &here, root) : dict ? put_dict(out, value, &here, root) : put_set(out, value, &here, root);
}

int fermata_encode(struct bytes *out, PyObject *value, const char *root) { return put_value(out, value, NULL, root); }
