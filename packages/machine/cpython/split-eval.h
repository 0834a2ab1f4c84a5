/* CPython's evaluation loop in two parts, so that Asyncify's price is paid only where a stop can happen. Included by
 * ceval.c in place of the original loop; split_fast.c.h, split_step.c.h and split_unwind.c.h are cut out of CPython's own
 * source by split-eval.py.
 *
 *   fast    the instructions that run no code of the program's and so never stop, in one loop. Not transformed by
 *           Asyncify. It leaves for everything else, and before an instruction for which fuel has run out.
 *   step_*  one function for each instruction, which does it and returns. All of them can stop.
 *   unwind  what is not an instruction: errors, and the start of a frame at the limit of recursion.
 *
 * All three do the same to the same interpreter, and none depends on which of them did the instruction before. */

struct eval {
    _PyInterpreterFrame *frame;
    _Py_CODEUNIT *next_instr;
    PyObject **stack_pointer;
    PyObject *result;
    int opcode, oparg;
    _PyInterpreterFrame entry_frame;
};

/* Where the evaluation stands between two of the parts. The middle ones are labels of the original loop. */
enum eval_place { AT_INSTRUCTION, AT_START_FRAME, AT_RESUME_FRAME, AT_ERROR, AT_EXCEPTION_UNWIND, AT_EXIT_UNWIND, AT_RESUME_WITH_ERROR, AT_END };

#define EVAL_REGISTERS                               \
    _PyInterpreterFrame *frame = eval->frame;        \
    _Py_CODEUNIT *next_instr = eval->next_instr;     \
    PyObject **stack_pointer = eval->stack_pointer;  \
    int opcode = eval->opcode, oparg = eval->oparg

#define EVAL_SAVE()                                  \
    do {                                             \
        eval->frame = frame;                         \
        eval->next_instr = next_instr;               \
        eval->stack_pointer = stack_pointer;         \
        eval->opcode = opcode;                       \
        eval->oparg = oparg;                         \
    } while (0)

/* The labels that instructions go to, as places to leave for. */
#define EVAL_EXITS                                              \
    pop_4_error: STACK_SHRINK(1);                               \
    pop_3_error: STACK_SHRINK(1);                               \
    pop_2_error: STACK_SHRINK(1);                               \
    pop_1_error: STACK_SHRINK(1);                               \
    error: place = AT_ERROR; goto leave;                        \
    exception_unwind: place = AT_EXCEPTION_UNWIND; goto leave

#undef entry_frame
#define entry_frame (eval->entry_frame)
#undef DISPATCH_GOTO
#undef GO_TO_INSTRUCTION
#define TIER_ONE 1

/* --- step --------------------------------------------------------------------------------------------------------- */

#define DISPATCH_GOTO() goto leave
/* What a specialised instruction does when it does not fit; `first` is where the instruction began. */
#define GO_TO_INSTRUCTION(op)                        \
    do {                                             \
        next_instr = first;                          \
        opcode = op;                                 \
        goto leave;                                  \
    } while (0)

typedef int step_function(PyThreadState *tstate, struct eval *eval);

#define STEP(op)                                                  \
    static int step_##op(PyThreadState *tstate, struct eval *eval) \
    {                                                             \
        EVAL_REGISTERS;                                           \
        _Py_CODEUNIT *const first = next_instr;                   \
        (void)first;                                              \
        int place = AT_INSTRUCTION;

#define STEP_END                                        \
        EVAL_EXITS;                                     \
        start_frame: place = AT_START_FRAME; goto leave; \
        resume_frame: place = AT_RESUME_FRAME;          \
        leave: EVAL_SAVE();                             \
        return place;                                   \
    }

#include "split_step.c.h"

STEP(unknown)
    _PyErr_Format(tstate, PyExc_SystemError, "%U:%d: unknown opcode %d", _PyFrame_GetCode(frame)->co_filename,
                  PyUnstable_InterpreterFrame_GetLine(frame), next_instr->op.code);
    goto error;
STEP_END

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winitializer-overrides"
static step_function *const steps[256] = {
    [0 ... 255] = step_unknown,
#define STEP_OF(op) [op] = step_##op,
    EVAL_ALL_STEPS
};
#pragma GCC diagnostic pop

/* --- unwind ------------------------------------------------------------------------------------------------------- */

static int
unwind(PyThreadState *tstate, struct eval *eval, int place)
{
    EVAL_REGISTERS;
    switch (place) {
        case AT_START_FRAME: goto start_frame;
        case AT_RESUME_FRAME: goto resume_frame;
        case AT_ERROR: goto error;
        case AT_EXCEPTION_UNWIND: goto exception_unwind;
        case AT_EXIT_UNWIND: goto exit_unwind;
        default: goto resume_with_error;
    }
#include "split_unwind.c.h"
leave:
    EVAL_SAVE();
    return AT_INSTRUCTION;
}

/* --- fast --------------------------------------------------------------------------------------------------------- */

/* Values of which no operation that is used here runs code of the program's. */
static inline int
is_scalar(PyObject *v)
{
    return PyUnicode_CheckExact(v) || PyLong_CheckExact(v) || PyFloat_CheckExact(v) || PyBool_Check(v) || v == Py_None || PyBytes_CheckExact(v);
}

static inline int
is_small_number(PyObject *v)
{
    return PyFloat_CheckExact(v) || (PyLong_CheckExact(v) && _PyLong_IsCompact((PyLongObject *)v));
}

/* Arithmetic whose time is bounded: not the two that make large integers of small ones. */
static inline int
is_small_arithmetic(PyObject *left, PyObject *right, int op)
{
    if (!is_small_number(left) || !is_small_number(right)) return 0;
    int grows = op == NB_POWER || op == NB_INPLACE_POWER || op == NB_LSHIFT || op == NB_INPLACE_LSHIFT;
    return !grows || PyFloat_CheckExact(left);
}

static inline int
has_plain_length(PyObject *v)
{
    return PyList_CheckExact(v) || PyUnicode_CheckExact(v) || PyTuple_CheckExact(v) || PyDict_CheckExact(v) || PyBytes_CheckExact(v) || PyAnySet_CheckExact(v);
}

static inline int
has_plain_iterator(PyObject *v)
{
    return PyList_CheckExact(v) || PyTuple_CheckExact(v) || PyRange_Check(v) || PyDict_CheckExact(v) || PyUnicode_CheckExact(v) || PyGen_CheckExact(v)
        || Py_IS_TYPE(v, &PyDictItems_Type) || Py_IS_TYPE(v, &PyDictValues_Type) || Py_IS_TYPE(v, &PyDictKeys_Type) || PyAnySet_CheckExact(v);
}

static inline int
is_plain_iterator(PyObject *v)
{
    return Py_IS_TYPE(v, &PyDictIterItem_Type) || Py_IS_TYPE(v, &PyDictIterKey_Type) || Py_IS_TYPE(v, &PyDictIterValue_Type)
        || Py_IS_TYPE(v, &PySetIter_Type) || Py_IS_TYPE(v, &PyUnicodeIter_Type) || Py_IS_TYPE(v, &PyListIter_Type) || Py_IS_TYPE(v, &PyTupleIter_Type);
}

static inline int
is_plain_slice(PyObject *container, PyObject *start, PyObject *stop)
{
    return (PyList_CheckExact(container) || PyUnicode_CheckExact(container) || PyTuple_CheckExact(container) || PyBytes_CheckExact(container))
        && (start == Py_None || PyLong_CheckExact(start)) && (stop == Py_None || PyLong_CheckExact(stop));
}

#undef DISPATCH_GOTO
#define DISPATCH_GOTO() goto dispatch
/* Nothing of the instruction has been done yet where these are used: its step function does all of it. */
#define STEP_UNLESS(condition) do { if (!(condition)) goto not_here; } while (0)
#undef DEOPT_IF
#define DEOPT_IF(condition, op) STEP_UNLESS(!(condition))
#undef FERMATA_FUEL
#define FERMATA_FUEL(units)                          \
    do {                                             \
        STEP_UNLESS(fermata_status.fuel >= (units)); \
        fermata_status.fuel -= (units);              \
    } while (0)
#undef CHECK_EVAL_BREAKER
#define CHECK_EVAL_BREAKER()                                                                                      \
    do {                                                                                                          \
        STEP_UNLESS(!(_Py_atomic_load_uintptr_relaxed(&tstate->eval_breaker) & _PY_EVAL_EVENTS_MASK));            \
        FERMATA_FUEL(1);                                                                                          \
    } while (0)

/* Guarded (stops.txt): what it calls could come to a stop only by a finalizer, or by the `__eq__` of a key that pretends to
 * be another, and those run through. */
__attribute__((noinline)) int
_PyEval_Fast(PyThreadState *tstate, struct eval *eval)
{
    EVAL_REGISTERS;
    int place = AT_INSTRUCTION;
dispatch:
    switch (opcode) {
#include "split_fast.c.h"
        default:
            goto leave;
    }

start_frame:
    if (tstate->py_recursion_remaining <= 0) {
        place = AT_START_FRAME;
        goto leave;
    }
    tstate->py_recursion_remaining--;
    next_instr = frame->instr_ptr;
resume_frame:
    stack_pointer = _PyFrame_GetStackPointer(frame);
    DISPATCH();

    EVAL_EXITS;
not_here:
    next_instr = frame->instr_ptr;
leave:
    EVAL_SAVE();
    return place;
}

#undef entry_frame
#undef TIER_ONE

PyObject *
_PyEval_EvalFrameDefault(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag)
{
    _Py_EnsureTstateNotNULL(tstate);
    struct eval here, *eval = &here;
    int place = AT_START_FRAME;

    here.entry_frame.f_executable = Py_None;
    here.entry_frame.instr_ptr = (_Py_CODEUNIT *)_Py_INTERPRETER_TRAMPOLINE_INSTRUCTIONS + 1;
    here.entry_frame.stacktop = 0;
    here.entry_frame.owner = FRAME_OWNED_BY_CSTACK;
    here.entry_frame.return_offset = 0;
    here.entry_frame.previous = tstate->current_frame;
    frame->previous = &here.entry_frame;
    tstate->current_frame = frame;
    here.frame = frame;

    tstate->c_recursion_remaining -= (PY_EVAL_C_STACK_UNITS - 1);
    if (_Py_EnterRecursiveCallTstate(tstate, "")) {
        tstate->c_recursion_remaining--;
        tstate->py_recursion_remaining--;
        place = AT_EXIT_UNWIND;
    }
    else if (throwflag) {
        if (_Py_EnterRecursivePy(tstate)) {
            place = AT_EXIT_UNWIND;
        }
        else {
            _Py_Instrument(_PyFrame_GetCode(frame), tstate->interp);
            monitor_throw(tstate, frame, frame->instr_ptr);
            place = AT_RESUME_WITH_ERROR;
        }
    }

    while (place != AT_END) {
        if (place != AT_INSTRUCTION) {
            place = unwind(tstate, eval, place);
            continue;
        }
        place = _PyEval_Fast(tstate, eval);
        if (place == AT_INSTRUCTION) {
            place = steps[here.opcode](tstate, eval);
        }
    }
    return here.result;
}
