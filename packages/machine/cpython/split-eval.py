"""Cuts CPython's evaluation loop into the parts that split-eval.h puts together again.

Usage: split-eval.py <folder Python of CPython's source>

Writes next to ceval.c: split_step.c.h (every instruction), split_fast.c.h (those that never stop) and split_unwind.c.h
(errors, and the start of frames). The text is CPython's own; all that is changed is listed here, and whatever is not found
where it is expected ends the build.
"""
import re
import shutil
import sys
from pathlib import Path

# Never run code of the program's, apart from finalizers.
FAST = """
LOAD_FAST LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST DELETE_FAST
LOAD_CONST RETURN_CONST RETURN_VALUE POP_TOP PUSH_NULL COPY SWAP NOP END_FOR END_SEND EXTENDED_ARG RESUME_CHECK
JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE
IS_OP COMPARE_OP_INT COMPARE_OP_FLOAT COMPARE_OP_STR UNARY_NOT TO_BOOL_BOOL TO_BOOL_INT TO_BOOL_LIST TO_BOOL_NONE TO_BOOL_STR
TO_BOOL_ALWAYS_TRUE BINARY_OP_ADD_INT BINARY_OP_SUBTRACT_INT BINARY_OP_ADD_FLOAT BINARY_OP_SUBTRACT_FLOAT BINARY_OP_MULTIPLY_FLOAT
BINARY_OP_ADD_UNICODE BINARY_OP_INPLACE_ADD_UNICODE BINARY_SUBSCR_LIST_INT BINARY_SUBSCR_TUPLE_INT BINARY_SUBSCR_STR_INT
STORE_SUBSCR_LIST_INT UNPACK_SEQUENCE_TWO_TUPLE UNPACK_SEQUENCE_TUPLE UNPACK_SEQUENCE_LIST FOR_ITER_LIST FOR_ITER_TUPLE FOR_ITER_RANGE
FOR_ITER_GEN SEND_GEN YIELD_VALUE RETURN_GENERATOR LOAD_GLOBAL_MODULE LOAD_GLOBAL_BUILTIN LOAD_DEREF STORE_DEREF COPY_FREE_VARS MAKE_CELL
LOAD_ATTR_INSTANCE_VALUE LOAD_ATTR_SLOT LOAD_ATTR_MODULE LOAD_ATTR_WITH_HINT LOAD_ATTR_CLASS LOAD_ATTR_METHOD_WITH_VALUES
LOAD_ATTR_METHOD_NO_DICT LOAD_ATTR_METHOD_LAZY_DICT LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES LOAD_ATTR_NONDESCRIPTOR_NO_DICT
LOAD_ATTR_PROPERTY STORE_ATTR_INSTANCE_VALUE STORE_ATTR_SLOT STORE_ATTR_WITH_HINT
CALL_PY_EXACT_ARGS CALL_BOUND_METHOD_EXACT_ARGS CALL_PY_GENERAL CALL_BOUND_METHOD_GENERAL CALL_ALLOC_AND_ENTER_INIT EXIT_INIT_CHECK
CALL_TYPE_1 CALL_LIST_APPEND BUILD_TUPLE BUILD_LIST BUILD_SLICE BUILD_STRING BUILD_CONST_KEY_MAP LIST_APPEND MAKE_FUNCTION
SET_FUNCTION_ATTRIBUTE PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH LOAD_ASSERTION_ERROR LOAD_LOCALS
""".split()

# Never do if a condition holds, which is asked for after the given line of the instruction.
FAST_IF = {
    "BINARY_OP": ("lhs = stack_pointer[-2];", "is_small_arithmetic(lhs, rhs, oparg)"),
    "BINARY_OP_MULTIPLY_INT": ("left = stack_pointer[-2];", "is_small_number(left) && is_small_number(right)"),
    "COMPARE_OP": ("left = stack_pointer[-2];", "is_scalar(left) && is_scalar(right)"),
    "UNARY_NEGATIVE": ("value = stack_pointer[-1];", "is_small_number(value)"),
    "BINARY_SUBSCR_DICT": ("dict = stack_pointer[-2];", "is_scalar(sub)"),
    "STORE_SUBSCR_DICT": ("dict = stack_pointer[-2];", "is_scalar(sub)"),
    "CONTAINS_OP_DICT": ("left = stack_pointer[-2];", "is_scalar(left)"),
    "CONTAINS_OP_SET": ("left = stack_pointer[-2];", "is_scalar(left)"),
    "BINARY_SLICE": ("container = stack_pointer[-3];", "is_plain_slice(container, start, stop)"),
    "CALL_LEN": ("DEOPT_IF(total_args != 1, CALL);", "has_plain_length(args[0])"),
    "GET_ITER": ("iterable = stack_pointer[-1];", "has_plain_iterator(iterable)"),
    "FOR_ITER": ("iter = stack_pointer[-1];", "is_plain_iterator(iter)"),
    "LOAD_NAME": ("PyObject *mod_or_class_dict = LOCALS();", "mod_or_class_dict && PyDict_CheckExact(mod_or_class_dict) && PyDict_CheckExact(BUILTINS())"),
    "STORE_NAME": ("PyObject *ns = LOCALS();", "ns && PyDict_CheckExact(ns)"),
    "FORMAT_SIMPLE": ("value = stack_pointer[-1];", "is_scalar(value)"),
    "BUILD_MAP": ("PyObject *map;", "oparg == 0"),
    "MAP_ADD": ("key = stack_pointer[-2];", "is_scalar(key)"),
    "SET_ADD": ("v = stack_pointer[-1];", "is_scalar(v)"),
}

# Labels that the loop of fast instructions has; leaving by another one would not come back to the same point.
LABELS = {"error", "pop_1_error", "pop_2_error", "pop_3_error", "pop_4_error", "exception_unwind", "start_frame", "resume_frame"}


def only(text, old, new):
    if text.count(old) != 1:
        sys.exit(f"found {text.count(old)} times in place of once: {old}")
    return text.replace(old, new)


def between(text, start, end):
    at = text.index(start)
    return text[at : text.index(end, at)]


def instructions(cases, ceval):
    """Name and body, in braces, of every instruction."""
    found = dict(re.findall(r"^        TARGET\((\w+)\) (\{.*?^        \})$", cases, re.M | re.S))
    line = between(ceval, "        case INSTRUMENTED_LINE:\n", "\n\n\n#if USE_COMPUTED_GOTOS\n        _unknown_opcode:")
    found["INSTRUMENTED_LINE"] = line[line.index("    {") :]
    if len(found) != cases.count("TARGET(") + 1:
        sys.exit("not every instruction was found")
    return {name: re.sub(r" *PREDICTED\(\w+\);\n", "", body) for name, body in found.items()}


def step(name, body):
    if name == "INTERPRETER_EXIT":
        body = only(body, "return retval;", "eval->result = retval;\n            place = AT_END;\n            goto leave;")
    return f"STEP({name})\n        {body}\nSTEP_END\n\n"


def fast(name, body):
    if name in FAST_IF:
        line, condition = FAST_IF[name]
        body = only(body, line, f"{line}\n            STEP_UNLESS({condition});")
    leaves = set(re.findall(r"goto (\w+)", body)) - LABELS
    if leaves or re.search(r"^\s*return\b", body, re.M):
        sys.exit(f"{name} cannot be a fast instruction: it leaves by {leaves or 'a return'}")
    if re.search("DEOPT_IF|FERMATA_FUEL|CHECK_EVAL_BREAKER|STEP_UNLESS", body) and "frame->instr_ptr = next_instr;" not in body:
        sys.exit(f"{name} does not say where it began")
    return f"        case {name}: {body}\n\n"


def main(folder):
    cases = (folder / "generated_cases.c.h").read_text()
    ceval = (folder / "ceval.c").read_text()
    bodies = instructions(cases, ceval)
    everything = "".join(f" \\\n    STEP_OF({name})" for name in bodies)
    steps = "".join(step(name, body) for name, body in bodies.items())
    (folder / "split_step.c.h").write_text(f"{steps}#define EVAL_ALL_STEPS{everything}\n")
    (folder / "split_fast.c.h").write_text("".join(fast(name, bodies[name]) for name in [*FAST, *FAST_IF]))
    begin = between(ceval, "start_frame:\n    if (_Py_EnterRecursivePy", "#ifdef LLTRACE\n    lltrace = maybe_lltrace_resume")
    errors = between(ceval, "error:\n        /* Double-check exception status. */", "#ifdef _Py_TIER2\n\n// Tier 2 is also here!")
    errors = only(errors, "            DISPATCH();\n        }\n    }\n\nexit_unwind:", "            DISPATCH();\n        }\n\nexit_unwind:")
    errors = only(errors, "return NULL;", "eval->result = NULL;\n        return AT_END;")
    (folder / "split_unwind.c.h").write_text(f"{begin}    DISPATCH();\n\n{errors}")
    shutil.copy(Path(__file__).with_name("split-eval.h"), folder)
    print(f"{len(bodies)} instructions, {len(FAST) + len(FAST_IF)} of them fast")


main(Path(sys.argv[1]))
