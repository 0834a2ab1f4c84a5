/* datetime objects <-> milliseconds since 1970, without running a tzinfo that the user wrote. */
#include "guest.h"
#include "datetime.h"

static PyObject *epoch, *zone_types[2];

int fermata_instant_init(void) {
  PyDateTime_IMPORT;
  if (!PyDateTimeAPI) return -1;
  epoch = PyDateTimeAPI->DateTime_FromDateAndTime(1970, 1, 1, 0, 0, 0, 0, PyDateTime_TimeZone_UTC, PyDateTimeAPI->DateTimeType);
  zone_types[0] = Py_NewRef(Py_TYPE(PyDateTime_TimeZone_UTC));
  PyObject *zoneinfo = PyImport_ImportModule("zoneinfo");
  if (!epoch || !zoneinfo) return -1;
  zone_types[1] = PyObject_GetAttrString(zoneinfo, "ZoneInfo");
  Py_DECREF(zoneinfo);
  return zone_types[1] ? 0 : -1;
}

int fermata_is_datetime(PyObject *value) { return PyDateTime_Check(value); }

PyObject *fermata_from_ms(double ms) {
  double days = floor(ms / 86400000.0);
  if (fabs(days) < 4e6) {
    int rest = (int)(ms - days * 86400000.0);
    PyObject *since = PyDelta_FromDSU((int)days, rest / 1000, rest % 1000 * 1000);
    PyObject *value = since ? PyDateTimeAPI->DateTimeType->tp_as_number->nb_add(epoch, since) : NULL;
    Py_XDECREF(since);
    if (value || !PyErr_ExceptionMatches(PyExc_OverflowError)) return value;
    PyErr_Clear();
  }
  return PyFloat_FromDouble(ms);
}

const char *fermata_to_ms(PyObject *value, double *ms) {
  PyObject *zone = PyDateTime_DATE_GET_TZINFO(value);
  if (zone == Py_None)
    return "is a datetime without a time zone: use .isoformat(), or give it one, like .replace(tzinfo=timezone.utc)";
  if ((PyObject *)Py_TYPE(zone) != zone_types[0] && (PyObject *)Py_TYPE(zone) != zone_types[1])
    return "is a datetime with a tzinfo of its own kind: use .astimezone(timezone.utc), or .isoformat()";
  PyObject *since = PyDateTimeAPI->DateTimeType->tp_as_number->nb_subtract(value, epoch);
  if (!since) {
    PyErr_Clear();
    return "is a datetime that cannot be told in UTC: use .isoformat()";
  }
  int us = PyDateTime_DELTA_GET_MICROSECONDS(since);
  *ms = PyDateTime_DELTA_GET_DAYS(since) * 86400000.0 + PyDateTime_DELTA_GET_SECONDS(since) * 1000.0 + us / 1000;
  Py_DECREF(since);
  return us % 1000 ? "is a datetime finer than a millisecond: use .isoformat(), or drop the microseconds" : NULL;
}
