/* The state of one running function, and how its two loops hand it to each other. interpreter.c has the fast loop,
 * quickjs.c (patch 08) the step. Part of quickjs.c, like engine.c. */

/* Lies on the shadow stack, so that Asyncify has next to nothing to keep at a call: whatever a stop has to save of the
 * interpreter is here already. Each loop takes what it needs into locals and writes pc and sp back when it leaves. */
struct activation {
    JSContext *ctx, *caller_ctx;
    JSStackFrame *sf;
    JSFunctionBytecode *b;
    JSVarRef **var_refs;
    JSValue *local_buf, *arg_buf, *var_buf, *stack_buf;
    JSValueConst this_obj, new_target;
    int argc;
    JSValueConst *argv;
    uint8_t *pc;
    JSValue *sp;
    JSValue result; /* of the call that was asked for, or of this function */
    /* The call that the fast loop asks for. */
    JSValueConst call_this;
    uint32_t call_argc;
    uint32_t call_drop; /* stack slots that its result replaces, 0 once that is done; TAIL_CALL: it is our result too */
};
#define TAIL_CALL 0x80000000u

/* Why the fast loop left. */
enum leave {
    LEAVE_NOT,       /* it has yet to begin */
    LEAVE_STEP,      /* the instruction at pc may run user code: for js_step */
    LEAVE_THROW,     /* an exception is pending */
    LEAVE_POLL,      /* out of fuel */
    LEAVE_DONE,      /* `result` is this function's; its locals are freed */
    LEAVE_CALL,      /* a call: func and arguments on the stack */
    LEAVE_NATIVE,    /* the same, of a function that is not bytecode */
    LEAVE_CONSTRUCT, /* new f(...): func, new.target, arguments */
};

static bool fast_add_property(JSContext *ctx, JSObject *p, JSAtom atom, JSValue value, bool look_up);
