/* See engine.h. Reads and, in few places, starts things; it owns nothing. */
#include "engine.h"

void engine_seed(JSContext *ctx, uint64_t seed) { ctx->random_state = seed ? seed : 1; }

void engine_retire_heap(JSRuntime *rt) {
    JS_RunGC(rt);
    retire_gc_objects(rt);
}

JSValue engine_start_body(JSContext *ctx, JSValue function, void **body) {
    JSAsyncFunctionData *s;
    JSValue promise;

    *body = NULL;
    function = js_closure(ctx, function, NULL, NULL);
    if (JS_IsException(function)) return JS_EXCEPTION;
    s = js_mallocz(ctx, sizeof(*s));
    if (!s) goto fail_function;
    JS_REF_COUNT(s) = 1;
    add_gc_object(ctx->rt, &s->header, JS_GC_OBJ_TYPE_ASYNC_FUNCTION);
    s->resolving_funcs[0] = JS_UNDEFINED;
    s->resolving_funcs[1] = JS_UNDEFINED;
    promise = JS_NewPromiseCapability(ctx, s->resolving_funcs);
    if (JS_IsException(promise)) goto fail_state;
    if (async_func_init(ctx, &s->func_state, function, ctx->global_obj, 0, NULL)) goto fail_promise;
    s->is_active = true;
    s->func_state.frame.cur_gc_obj = &s->header;
    *body = s;
    if (!js_async_function_resume(ctx, s)) {
        *body = NULL;
        goto fail_promise;
    }
    JS_FreeValue(ctx, function);
    return promise;
fail_promise:
    JS_FreeValue(ctx, promise);
fail_state:
    js_async_function_free(ctx->rt, s);
fail_function:
    JS_FreeValue(ctx, function);
    return JS_EXCEPTION;
}

void engine_free_body(JSRuntime *rt, void *body) {
    if (body) js_async_function_free(rt, body);
}

void engine_hide_file(JSContext *ctx, JSAtom file) { ctx->hidden_file = file; }

/* "name: message" for error.stack, from plain string properties only: no user code may run here. */
static void engine_error_header(JSContext *ctx, DynBuf *text, JSValueConst error) {
    static const JSAtom parts[] = {JS_ATOM_name, JS_ATOM_message};
    bool any = false;
    for (int i = 0; i < 2; i++) {
        JSProperty *pr;
        JSShapeProperty *prs = NULL;
        JSObject *p = JS_VALUE_GET_TAG(error) == JS_TAG_OBJECT ? JS_VALUE_GET_OBJ(error) : NULL;
        for (; p && !prs; p = p->shape->proto) {
            prs = find_own_property(&pr, p, parts[i]);
            if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT) {
                if (JS_AutoInitProperty(ctx, p, parts[i], pr, prs) < 0) return;
                prs = find_own_property(&pr, p, parts[i]);
            }
        }
        if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL || !JS_IsString(pr->u.value)) continue;
        const char *part = JS_ToCString(ctx, pr->u.value);
        if (part && *part) {
            if (any) dbuf_putstr(text, ": ");
            dbuf_putstr(text, part);
            any = true;
        }
        JS_FreeCString(ctx, part);
    }
    if (any) dbuf_putc(text, '\n');
}

bool engine_take_body_completed(JSContext *ctx) {
    bool completed = ctx->body_completed;
    ctx->body_completed = false;
    return completed;
}

void engine_set_redeclare(JSContext *ctx, bool on) { ctx->redeclare = on; }

static JSFunctionBytecode *engine_bytecode(const JSStackFrame *sf, JSAtom file) {
    JSObject *p;
    if (JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT) return NULL;
    p = JS_VALUE_GET_OBJ(sf->cur_func);
    if (!js_class_has_bytecode(p->class_id)) return NULL;
    if (p->u.func.function_bytecode->filename != file) return NULL;
    return p->u.func.function_bytecode;
}

/* A forged snapshot can link frames in a circle, or claim a table of any length: looking must end all the same. No real
 * program comes near these. */
enum { MAX_FRAMES = 100000, MAX_LINE_TABLE_BYTES = 1 << 26 };

static int engine_line(JSFunctionBytecode *b, const JSStackFrame *sf, int *column) {
    if (!sf->cur_pc || b->pc2line_len > MAX_LINE_TABLE_BYTES) {
        *column = b->col_num;
        return b->line_num;
    }
    return find_line_num(b->realm, b, max_int(0, sf->cur_pc - b->byte_code_buf - 1), column);
}

/* The frame of a program that waits; NULL while it runs or after its end. */
static JSStackFrame *engine_body_frame(void *body) {
    JSAsyncFunctionData *s = body;
    return s && s->is_active && s->func_state.frame.cur_sp ? &s->func_state.frame : NULL;
}

bool engine_place(JSRuntime *rt, JSAtom file, void *body, uint32_t *line, uint32_t *column) {
    JSStackFrame *sf;
    JSFunctionBytecode *b = NULL;
    int column1, frames = 0;

    for (sf = rt->current_stack_frame; sf && frames < MAX_FRAMES; sf = sf->prev_frame, frames++) {
        b = engine_bytecode(sf, file);
        if (b) break;
    }
    if (!b && (sf = engine_body_frame(body))) b = engine_bytecode(sf, file);
    if (!b) return false;
    *line = engine_line(b, sf, &column1);
    *column = column1;
    return true;
}

static void engine_show_frame(JSStackFrame *sf, JSAtom file, engine_visit_frame *visit, void *opaque) {
    struct engine_frame frame;
    JSFunctionBytecode *b = engine_bytecode(sf, file);
    if (!b) return;
    frame.ctx = b->realm;
    frame.function = sf->cur_func;
    frame.line = engine_line(b, sf, &frame.column);
    frame.internal = sf;
    visit(&frame, opaque);
}

void engine_frames(JSRuntime *rt, JSAtom file, void *body, engine_visit_frame *visit, void *opaque) {
    JSStackFrame *sf;
    int frames = 0;
    for (sf = rt->current_stack_frame; sf && frames < MAX_FRAMES; sf = sf->prev_frame, frames++) engine_show_frame(sf, file, visit, opaque);
    if ((sf = engine_body_frame(body))) engine_show_frame(sf, file, visit, opaque);
}

void engine_locals(const struct engine_frame *frame, engine_visit_local *visit, void *opaque) {
    JSStackFrame *sf = frame->internal;
    JSFunctionBytecode *b = JS_VALUE_GET_OBJ(sf->cur_func)->u.func.function_bytecode;
    int i;
    for (i = 0; i < b->arg_count + b->var_count; i++) {
        JSVarDef *vd = &b->vardefs[i];
        JSValue value = i < b->arg_count ? sf->arg_buf[i] : sf->var_buf[i - b->arg_count];
        if (vd->is_captured && sf->var_refs[vd->var_ref_idx]) value = *sf->var_refs[vd->var_ref_idx]->pvalue;
        if (vd->var_name == JS_ATOM_NULL || vd->var_name < JS_ATOM_END || JS_IsUninitialized(value)) continue;
        visit(frame->ctx, vd->var_name, value, opaque);
    }
}

bool engine_promise_is_handled(JSValueConst promise) {
    JSPromiseData *s = JS_GetOpaque(promise, JS_CLASS_PROMISE);
    return s && s->is_handled;
}

JSValue engine_unbox(JSContext *ctx, JSValueConst object) {
    switch (JS_GetClassID(object)) {
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_SYMBOL:
    case JS_CLASS_BIG_INT:
        return js_dup(JS_VALUE_GET_OBJ(object)->u.object_data);
    default:
        return JS_UNINITIALIZED;
    }
}

JSValue *engine_entries(JSContext *ctx, JSValueConst map_or_set, uint32_t *count) {
    bool is_map = JS_IsMap(map_or_set);
    JSMapState *s = JS_GetOpaque(map_or_set, is_map ? JS_CLASS_MAP : JS_CLASS_SET);
    JSValue *entries;
    struct list_head *el;
    uint32_t n = 0;

    entries = js_malloc(ctx, sizeof(JSValue) * (s->record_count * (is_map ? 2 : 1) + 1));
    if (!entries) return NULL;
    list_for_each(el, &s->records) {
        JSMapRecord *mr = list_entry(el, JSMapRecord, link);
        if (mr->empty) continue;
        entries[n++] = js_dup(mr->key);
        if (is_map) entries[n++] = js_dup(mr->value);
    }
    *count = n;
    return entries;
}

void engine_free_entries(JSContext *ctx, JSValue *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) JS_FreeValue(ctx, entries[i]);
    js_free(ctx, entries);
}

bool engine_bytes(JSContext *ctx, JSValueConst object, const uint8_t **bytes, size_t *length) {
    JSObject *p;
    if (!JS_IsObject(object)) return false;
    p = JS_VALUE_GET_OBJ(object);
    if (is_typed_array(p->class_id)) {
        *length = typed_array_is_oob(p) ? 0 : (size_t)p->u.array.count << typed_array_size_log2(p->class_id);
        *bytes = p->u.array.u.uint8_ptr;
        return true;
    }
    if (p->class_id == JS_CLASS_DATAVIEW) {
        JSTypedArray *view = p->u.typed_array;
        JSArrayBuffer *buffer = view->buffer->u.array_buffer;
        if (buffer->detached || view->offset > buffer->byte_length) {
            *length = 0;
        } else {
            *length = view->track_rab ? buffer->byte_length - view->offset : view->length;
            if (*length > buffer->byte_length - view->offset) *length = 0;
        }
        *bytes = buffer->data + view->offset;
        return true;
    }
    if (p->class_id == JS_CLASS_ARRAY_BUFFER || p->class_id == JS_CLASS_SHARED_ARRAY_BUFFER) {
        *length = p->u.array_buffer->detached ? 0 : p->u.array_buffer->byte_length;
        *bytes = p->u.array_buffer->data;
        return true;
    }
    return false;
}

double engine_date(JSValueConst date) {
    JSValue v = JS_VALUE_GET_OBJ(date)->u.object_data;
    return JS_VALUE_GET_TAG(v) == JS_TAG_INT ? JS_VALUE_GET_INT(v) : JS_VALUE_GET_FLOAT64(v);
}

bool engine_is_array(JSContext *ctx, JSValueConst object) {
    for (int hops = 0; JS_IsProxy(object) && hops < 100; hops++) {
        JSProxyData *proxy = JS_GetOpaque(object, JS_CLASS_PROXY);
        if (proxy->is_revoked) return false;
        object = proxy->target;
    }
    return JS_IsArray(object);
}

JSValue engine_bigint(JSContext *ctx, const char *digits, size_t length) {
    char *text = js_strndup(ctx, digits, length);
    JSBigInt *number;
    if (!text) return JS_EXCEPTION;
    number = js_bigint_from_string(ctx, text, 10);
    js_free(ctx, text);
    return number ? JS_CompactBigInt(ctx, number) : JS_EXCEPTION;
}

JSValue engine_new_entries(JSContext *ctx, bool is_map) {
    return js_map_constructor(ctx, JS_UNDEFINED, 0, NULL, is_map ? 0 : MAGIC_SET);
}

int engine_add_entry(JSContext *ctx, JSValueConst map_or_set, JSValueConst key, JSValueConst value) {
    JSValueConst pair[] = {key, value};
    JSValue result = js_map_set(ctx, map_or_set, 2, pair, JS_IsMap(map_or_set) ? 0 : MAGIC_SET);
    JS_FreeValue(ctx, result);
    return JS_IsException(result) ? -1 : 0;
}
