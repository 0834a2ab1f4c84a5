/* What the C files of this guest share. */
#ifndef FERMATA_GUEST_H
#define FERMATA_GUEST_H
#include "Python.h"

struct bytes {
  uint8_t *data;
  size_t length, room;
};

/* values_encode.c: append `value`; `root` names it in error messages. 0, or -1 with an exception set. */
int fermata_encode(struct bytes *out, PyObject *value, const char *root);
/* The name under which a capsule holds a bytes object that is already encoded; it is taken over as it is. */
#define FERMATA_ENCODED "fermata.encoded"

/* values_decode.c: a new reference, or NULL with an exception set. */
PyObject *fermata_decode(const uint8_t *data, size_t length);

/* instant.c: datetime objects and milliseconds since 1970. */
int fermata_instant_init(void);
PyObject *fermata_from_ms(double ms);
int fermata_is_datetime(PyObject *value);
/* NULL and *ms, or what keeps this datetime from being an instant. */
const char *fermata_to_ms(PyObject *value, double *ms);

/* locate.c: the file name of the user's code. */
void fermata_set_user_file(PyObject *name);
#endif
