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
/* values_decode.c: a new reference, or NULL with an exception set. */
PyObject *fermata_decode(const uint8_t *data, size_t length);
/* The name under which a capsule holds bytes that are already encoded; they are taken over as they are. */
#define FERMATA_ENCODED "fermata.encoded"

/* locate.c: is this the file name of code that the user wrote? */
int fermata_is_user_file(PyObject *name);
void fermata_set_user_file(PyObject *name);

int fermata_values_init(void);
PyMODINIT_FUNC PyInit__fermata(void);
#endif
