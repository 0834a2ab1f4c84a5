/* Calls: the frame of a function, and the way between the loops that run it. */

/* A generator or async function goes on, in the frame that it has on the heap. */
static inline enum leave reenter_coroutine(struct activation *a, JSRuntime *rt, JSAsyncFunctionState *s)
{
    JSStackFrame *sf = &s->frame;
    JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);

    a->b = p->u.func.function_bytecode;
    a->ctx = a->b->realm;
    a->sf = sf;
    a->var_refs = p->u.func.var_refs;
    a->local_buf = a->arg_buf = sf->arg_buf;
    a->var_buf = sf->var_buf;
    a->stack_buf = sf->var_buf + a->b->var_count;
    a->sp = sf->cur_sp;
    a->pc = sf->cur_pc;
    sf->cur_sp = NULL; /* it runs */
    sf->prev_frame = rt->current_stack_frame;
    rt->current_stack_frame = sf;
    return s->throw_flag ? LEAVE_THROW : LEAVE_NOT;
}

/* How much room a call needs for arguments that must be copied, variables, stack and references to variables. */
static inline size_t locals_size(JSValueConst func, int argc, int flags, int *copied)
{
    JSObject *p = JS_VALUE_GET_OBJ(func);
    JSFunctionBytecode *b;

    *copied = 0;
    if (JS_VALUE_GET_TAG(func) != JS_TAG_OBJECT || p->class_id != JS_CLASS_BYTECODE_FUNCTION)
        return 0;
    b = p->u.func.function_bytecode;
    if (argc < b->arg_count || (flags & JS_CALL_FLAG_COPY_ARGV))
        *copied = b->arg_count;
    return sizeof(JSValue) * (*copied + b->var_count + b->stack_size) + sizeof(JSVarRef *) * b->var_ref_count;
}

/* Makes the frame of a call, in `locals`. JS_CallInternal has left what it was called with in `a`. */
static no_inline enum leave fast_begin(struct activation *a, JSStackFrame *sf, JSValueConst func, int flags, int copied, JSValue *locals)
{
    JSContext *ctx = a->caller_ctx;
    JSRuntime *rt = ctx->rt;
    JSObject *p = JS_VALUE_GET_OBJ(func);
    JSFunctionBytecode *b;
    enum leave first;
    int i, argc = a->argc;
    JSValueConst *argv = a->argv;

    fermata_status.fuel--;
    if (unlikely(JS_VALUE_GET_TAG(func) != JS_TAG_OBJECT)) {
        if (!(flags & JS_CALL_FLAG_GENERATOR))
            goto not_a_function;
        first = reenter_coroutine(a, rt, JS_VALUE_GET_PTR(func));
        a->result = (uintptr_t)a->sf->cur_pc; /* see js_fast at `poll` */
        return first == LEAVE_NOT && fermata_status.fuel < 0 ? LEAVE_POLL : first;
    }
    if (p->class_id != JS_CLASS_BYTECODE_FUNCTION) {
        if (unlikely(!native_call(ctx, func)))
            goto not_a_function;
        return LEAVE_NATIVE;
    }
    b = p->u.func.function_bytecode;
    a->ctx = b->realm;
    a->sf = sf;
    a->b = b;
    a->var_refs = p->u.func.var_refs;
    a->local_buf = locals;
    a->arg_buf = (JSValue *)argv;
    sf->arg_count = argc;
    if (copied) {
        int given = min_int(argc, copied);
        a->arg_buf = locals;
        for (i = 0; i < given; i++)
            locals[i] = js_dup(argv[i]);
        for (; i < copied; i++)
            locals[i] = JS_UNDEFINED;
        sf->arg_count = copied;
    }
    a->var_buf = locals + copied;
    for (i = 0; i < b->var_count; i++)
        a->var_buf[i] = JS_UNDEFINED;
    a->stack_buf = a->sp = a->var_buf + b->var_count;
    a->pc = b->byte_code_buf;

    sf->cur_func = unsafe_unconst(func);
    sf->is_strict_mode = b->is_strict_mode;
    sf->is_constructor = (flags & JS_CALL_FLAG_CONSTRUCTOR) != 0;
    sf->arg_buf = a->arg_buf;
    sf->var_buf = a->var_buf;
    sf->var_refs = (JSVarRef **)(a->stack_buf + b->stack_size);
    sf->var_ref_count = b->var_ref_count;
    for (i = 0; i < b->var_ref_count; i++)
        sf->var_refs[i] = NULL;
    sf->cur_pc = NULL;
    a->result = 0; /* see js_fast at `poll` */
    sf->cur_sp = NULL;
    sf->cur_gc_obj = NULL; /* no coroutine owns this frame */
    sf->prev_frame = rt->current_stack_frame;
    rt->current_stack_frame = sf;
    return fermata_status.fuel < 0 ? LEAVE_POLL : LEAVE_NOT;

not_a_function:
    JS_ThrowTypeErrorNotAFunction(ctx);
    a->result = JS_EXCEPTION;
    return LEAVE_DONE;
}

/* argv[] is modified if (flags & JS_CALL_FLAG_COPY_ARGV) = 0. */
static JSValue JS_CallInternal(JSContext *caller_ctx, JSValueConst func_obj,
                               JSValueConst this_obj, JSValueConst new_target,
                               int argc, JSValueConst *argv, int flags)
{
    struct activation activation, *a = &activation;
    JSStackFrame frame;
    int copied;
    size_t size = locals_size(func_obj, argc, flags, &copied);
    enum leave leave;

    if (js_check_stack_overflow(caller_ctx->rt, size))
        return JS_ThrowStackOverflow(caller_ctx);
    a->caller_ctx = caller_ctx;
    a->this_obj = this_obj;
    a->new_target = new_target;
    a->argc = argc;
    a->argv = argv;
    a->call_drop = 0;
    leave = fast_begin(a, &frame, func_obj, flags, copied, alloca(size));
    if (leave == LEAVE_NATIVE) {
        FERMATA_FUEL(0);
        return native_call(caller_ctx, func_obj)(caller_ctx, func_obj, this_obj, argc, argv, flags);
    }
    for (;;) {
        if (leave >= LEAVE_CALL) {
            JSValueConst *args = vc(a->sp - a->call_argc);
            a->sf->cur_pc = a->pc;
            if (leave == LEAVE_CALL)
                a->result = JS_CallInternal(a->ctx, args[-1], a->call_this, JS_UNDEFINED, a->call_argc, args, 0);
            else if (leave == LEAVE_NATIVE)
                a->result = native_call(a->ctx, args[-1])(a->ctx, args[-1], a->call_this, a->call_argc, args, 0);
            else
                a->result = JS_CallConstructorInternal(a->ctx, args[-2], args[-1], a->call_argc, args, 0);
            if (unlikely(JS_IsException(a->result))) {
                a->call_drop = 0;
                leave = LEAVE_THROW;
            }
        }
        if (leave == LEAVE_STEP || leave == LEAVE_THROW) {
            if (js_step(a, leave == LEAVE_THROW))
                return a->result;
        } else if (leave == LEAVE_DONE) {
            return a->result;
        } else if (leave == LEAVE_POLL) {
            fermata_checkpoint();
            a->sf->cur_pc = (uint8_t *)(uintptr_t)a->result;
        }
        /* The only place from which it is called: what it calls must find the stack equally deep, stops or not. */
        leave = js_fast(a);
    }
}
