/* Where is the user's code? Walks the interpreter's frames without touching anything (fermata_locate, abi/fermata.h). */
#include "guest.h"
#include "pycore_frame.h"
#include "pycore_pystate.h"
#include "fermata.h"

/* More frames than any program has room for, and more without a line than it has in a row: memory from a stranger's
 * snapshot may hold a list of frames that has no end. */
enum { MOST_FRAMES = 1 << 20, MOST_LOOKUPS = 100 };

static PyObject *user_file;

void fermata_set_user_file(PyObject *name) { Py_XSETREF(user_file, Py_NewRef(name)); }

static int is_program(PyObject *name) {
  if (!user_file || !PyUnicode_Check(name)) return 0;
  Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  int kind = PyUnicode_KIND(name);
  return name == user_file || (kind == PyUnicode_KIND(user_file) && length == PyUnicode_GET_LENGTH(user_file) &&
                               !memcmp(PyUnicode_DATA(name), PyUnicode_DATA(user_file), length * kind));
}

/* The innermost line of the program itself: one in a module of its own would be a line of another file. */
void fermata_locate(void) {
  fermata_status.line = fermata_status.column = 0;
  PyThreadState *tstate = _PyThreadState_GET();
  _PyInterpreterFrame *frame = tstate ? tstate->current_frame : NULL;
  for (int frames = 0, lookups = 0; frame && frames < MOST_FRAMES && lookups < MOST_LOOKUPS; frames++, frame = frame->previous) {
    if (frame->owner == FRAME_OWNED_BY_CSTACK || !PyCode_Check(frame->f_executable)) continue;
    PyCodeObject *code = _PyFrame_GetCode(frame);
    if (!is_program(code->co_filename)) continue;
    int line, column, end_line, end_column;
    lookups++;
    PyCode_Addr2Location(code, _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT), &line, &column, &end_line, &end_column);
    if (line <= 0) continue;
    fermata_status.line = line;
    fermata_status.column = column >= 0 ? column + 1 : 0;
    return;
  }
}
