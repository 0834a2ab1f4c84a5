/* What the fast loop does with values: each of these either does all of it, or says that only the step can. They run no
 * user code and reach no stop, and what releases a value sets off is done by finalizers in C. */

static ALWAYS_INLINE void fast_free(JSContext *ctx, JSValue v)
{
    if (JS_VALUE_HAS_REF_COUNT(v)) {
        void *p = JS_VALUE_GET_PTR(v);
        if (unlikely(--JS_REF_COUNT(p) <= 0))
            js_free_value_rt(ctx->rt, v);
    }
}

static ALWAYS_INLINE void fast_set(JSContext *ctx, JSValue *at, JSValue v)
{
    JSValue old = *at;
    *at = v;
    fast_free(ctx, old);
}

static ALWAYS_INLINE bool is_plain_number(JSValueConst v)
{
    uint32_t tag = JS_VALUE_GET_TAG(v);
    return tag == JS_TAG_INT || JS_TAG_IS_FLOAT64(tag);
}

static ALWAYS_INLINE double plain_number(JSValueConst v)
{
    return JS_VALUE_GET_TAG(v) == JS_TAG_INT ? JS_VALUE_GET_INT(v) : JS_VALUE_GET_FLOAT64(v);
}

/* Where the value of a data property lies, looking from `p` upwards. NULL: it is not there, or only the step may say. */
static no_inline JSValue *fast_lookup(JSObject *p, JSAtom atom)
{
    JSProperty *pr;
    JSShapeProperty *prs;

    for (; p; p = p->shape->proto) {
        prs = find_own_property(&pr, p, atom);
        if (prs)
            return prs->flags & JS_PROP_TMASK ? NULL : &pr->u.value;
        if (p->is_exotic && (p->class_id != JS_CLASS_ARRAY || __JS_AtomIsTaggedInt(atom)))
            return NULL;
    }
    return NULL;
}

/* The object at which the search for a property of `v` begins, or NULL. */
static ALWAYS_INLINE JSObject *fast_holder(JSContext *ctx, JSValueConst v)
{
    switch (JS_VALUE_GET_TAG(v)) {
    case JS_TAG_OBJECT:
        return JS_VALUE_GET_OBJ(v);
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_STRING]);
    case JS_TAG_INT:
        return JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_NUMBER]);
    default:
        return JS_TAG_IS_FLOAT64(JS_VALUE_GET_TAG(v)) ? JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_NUMBER]) : NULL;
    }
}

static ALWAYS_INLINE bool has_length_of_its_own(JSValueConst v)
{
    uint32_t tag = JS_VALUE_GET_TAG(v);
    return tag == JS_TAG_STRING || tag == JS_TAG_STRING_ROPE;
}

/* A new property of an ordinary object that nothing on the way up has a say in. False: only the step may say. */
static no_inline bool fast_add_property(JSContext *ctx, JSObject *p, JSAtom atom, JSValue value, bool look_up)
{
    JSProperty *pr;
    JSObject *up;

    if (p->class_id != JS_CLASS_OBJECT || p->is_exotic || !p->extensible || find_own_property(&pr, p, atom))
        return false;
    for (up = look_up ? p->shape->proto : NULL; up; up = up->shape->proto)
        if (up->is_exotic || find_own_property(&pr, up, atom))
            return false;
    pr = add_property(ctx, p, atom, JS_PROP_C_W_E);
    if (!pr) {
        /* Out of memory. It is thrown again by the step, which will fail likewise. */
        JS_FreeValue(ctx, JS_GetException(ctx));
        return false;
    }
    pr->u.value = value;
    return true;
}

/* obj[key] for a string or symbol. */
static no_inline JSValue *fast_element(JSContext *ctx, JSValueConst obj, JSValueConst key)
{
    JSValue *found;
    JSAtom atom;

    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return NULL;
    if (JS_VALUE_GET_TAG(key) != JS_TAG_STRING && JS_VALUE_GET_TAG(key) != JS_TAG_SYMBOL)
        return NULL;
    atom = JS_ValueToAtom(ctx, key);
    if (unlikely(atom == JS_ATOM_NULL)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return NULL;
    }
    found = fast_lookup(JS_VALUE_GET_OBJ(obj), atom);
    JS_FreeAtom(ctx, atom);
    return found;
}

/* The next value of an array's own iterator; false where it is anything else, or at its end. */
static no_inline bool fast_next(JSValueConst iterator, JSValueConst method, JSValue *value)
{
    JSArrayIteratorData *it;
    JSObject *p, *array;

    if (JS_VALUE_GET_TAG(iterator) != JS_TAG_OBJECT || JS_VALUE_GET_TAG(method) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(method);
    if (p->class_id != JS_CLASS_C_FUNCTION || p->u.cfunc.cproto != JS_CFUNC_iterator_next ||
        p->u.cfunc.c_function.iterator_next != js_array_iterator_next)
        return false;
    p = JS_VALUE_GET_OBJ(iterator);
    if (p->class_id != JS_CLASS_ARRAY_ITERATOR)
        return false;
    it = p->u.array_iterator_data;
    if (it->kind != JS_ITERATOR_KIND_VALUE || JS_VALUE_GET_TAG(it->obj) != JS_TAG_OBJECT)
        return false;
    array = JS_VALUE_GET_OBJ(it->obj);
    if (array->class_id != JS_CLASS_ARRAY || !array->fast_array || it->idx >= array->u.array.count ||
        JS_VALUE_GET_TAG(array->prop[0].u.value) != JS_TAG_INT ||
        it->idx >= (uint32_t)JS_VALUE_GET_INT(array->prop[0].u.value))
        return false;
    *value = js_dup(array->u.array.u.values[it->idx++]);
    return true;
}

/* Math.sqrt and the like: functions of numbers, which are all that they can get here. */
static ALWAYS_INLINE bool fast_math(JSValueConst func, int argc, JSValueConst *argv, JSValue *result)
{
    JSObject *p;

    if (JS_VALUE_GET_TAG(func) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(func);
    if (p->class_id != JS_CLASS_C_FUNCTION || argc < 1 || !is_plain_number(argv[0]))
        return false;
    if (p->u.cfunc.cproto == JS_CFUNC_f_f) {
        *result = js_number(p->u.cfunc.c_function.f_f(plain_number(argv[0])));
        return true;
    }
    if (p->u.cfunc.cproto == JS_CFUNC_f_f_f && argc >= 2 && is_plain_number(argv[1])) {
        *result = js_number(p->u.cfunc.c_function.f_f_f(plain_number(argv[0]), plain_number(argv[1])));
        return true;
    }
    return false;
}

/* array[index] = a number, within a typed array. */
static no_inline bool fast_put_typed(JSContext *ctx, JSObject *p, uint32_t index, JSValueConst value)
{
    int32_t i = 0;

    if (!is_typed_array(p->class_id) || !is_plain_number(value) || index >= p->u.array.count || typed_array_is_immutable(p))
        return false;
    if (p->class_id == JS_CLASS_FLOAT64_ARRAY) {
        p->u.array.u.double_ptr[index] = plain_number(value);
        return true;
    }
    if (p->class_id == JS_CLASS_FLOAT32_ARRAY) {
        p->u.array.u.float_ptr[index] = plain_number(value);
        return true;
    }
    JS_ToInt32Free(ctx, &i, value); /* cannot fail for a number, which needs no freeing either */
    switch (p->class_id) {
    case JS_CLASS_INT8_ARRAY:
    case JS_CLASS_UINT8_ARRAY:
        p->u.array.u.uint8_ptr[index] = i;
        return true;
    case JS_CLASS_INT16_ARRAY:
    case JS_CLASS_UINT16_ARRAY:
        p->u.array.u.uint16_ptr[index] = i;
        return true;
    case JS_CLASS_INT32_ARRAY:
    case JS_CLASS_UINT32_ARRAY:
        p->u.array.u.uint32_ptr[index] = i;
        return true;
    default: /* clamped bytes, half floats, big integers */
        return false;
    }
}

/* Whether == needs no user code and no poll. */
static ALWAYS_INLINE bool is_plain_comparison(JSValueConst a, JSValueConst b)
{
    int tag_a = JS_VALUE_GET_NORM_TAG(a), tag_b = JS_VALUE_GET_NORM_TAG(b);
    if (tag_a == JS_TAG_BIG_INT || tag_b == JS_TAG_BIG_INT)
        return false;
    return tag_a == tag_b || tag_a == JS_TAG_NULL || tag_a == JS_TAG_UNDEFINED || tag_b == JS_TAG_NULL ||
           tag_b == JS_TAG_UNDEFINED;
}

static inline JSClassCall *native_call(JSContext *ctx, JSValueConst func)
{
    return ctx->rt->class_array[JS_VALUE_GET_OBJ(func)->class_id].call;
}

/* A native function needs no frame of ours. Its check is owed: a stop here would have to take the instruction back. */
static inline enum leave call_leave(JSContext *ctx, JSValueConst func)
{
    JSObject *p;

    if (JS_VALUE_GET_TAG(func) != JS_TAG_OBJECT)
        return LEAVE_CALL;
    p = JS_VALUE_GET_OBJ(func);
    if (p->class_id == JS_CLASS_BYTECODE_FUNCTION || !native_call(ctx, func))
        return LEAVE_CALL;
    FERMATA_OWE(1);
    return LEAVE_NATIVE;
}

static no_inline void fast_finish(struct activation *a, JSValue *sp)
{
    JSContext *ctx = a->ctx;
    JSStackFrame *sf = a->sf;
    JSValue *v;

    if (unlikely(sf->var_ref_count != 0))
        close_var_refs(ctx->rt, sf);
    for (v = a->local_buf; v < sp; v++)
        fast_free(ctx, *v);
    ctx->rt->current_stack_frame = sf->prev_frame;
}
