/* What the guest needs from inside QuickJS and its public interface does not offer. engine.c is compiled as the last
 * lines of quickjs.c. */
#ifndef ENGINE_H
#define ENGINE_H
#include "quickjs.h"

/* Starts Math.random anew. */
void engine_seed(JSContext *ctx, uint64_t seed);

/* Takes everything that is alive out of the cycle collector's sight (see retire_gc_objects in quickjs.c). */
void engine_retire_heap(JSRuntime *rt);

/* Calls `function` (freed) as the body of a program; `*body` is its activation, owned by the caller. */
JSValue engine_start_body(JSContext *ctx, JSValue function, void **body);
void engine_free_body(JSRuntime *rt, void *body);

/* Functions from this file never show in error.stack. */
void engine_hide_file(JSContext *ctx, JSAtom file);

/* Whether the program ended without `return`, so that its value is only the completion value. Resets. */
bool engine_take_body_completed(JSContext *ctx);
void engine_set_redeclare(JSContext *ctx, bool on);

/* The innermost line of code from `file`: that runs now, else where `body` waits. Allocates nothing. */
bool engine_place(JSRuntime *rt, JSAtom file, void *body, uint32_t *line, uint32_t *column);

/* Visits the frames of `file`, innermost first; then `body`, if it waits. */
struct engine_frame {
    JSContext *ctx;
    JSValueConst function;
    int line, column;
    void *internal;
};
typedef void engine_visit_frame(const struct engine_frame *frame, void *opaque);
void engine_frames(JSRuntime *rt, JSAtom file, void *body, engine_visit_frame *visit, void *opaque);

/* Visits the named variables of a frame. */
typedef void engine_visit_local(JSContext *ctx, JSAtom name, JSValueConst value, void *opaque);
void engine_locals(const struct engine_frame *frame, engine_visit_local *visit, void *opaque);

bool engine_promise_is_handled(JSValueConst promise);

/* The primitive inside new Number(), new String() ...; JS_UNINITIALIZED for any other object. Owned by the caller. */
JSValue engine_unbox(JSContext *ctx, JSValueConst object);

/* Keys and values (of a Set: keys only) in order, `*count` of them, freed by engine_free_entries. NULL: exception. */
JSValue *engine_entries(JSContext *ctx, JSValueConst map_or_set, uint32_t *count);
void engine_free_entries(JSContext *ctx, JSValue *entries, uint32_t count);

/* The bytes of an ArrayBuffer, DataView or typed array, valid until user code runs again. */
bool engine_bytes(JSContext *ctx, JSValueConst object, const uint8_t **bytes, size_t *length);

double engine_date(JSValueConst date);

/* Array.isArray: looks through proxies. */
bool engine_is_array(JSContext *ctx, JSValueConst object);

JSValue engine_bigint(JSContext *ctx, const char *digits, size_t length);

/* An empty Map or Set, and its `set` or `add`, whatever the program did to Map and Set. */
JSValue engine_new_entries(JSContext *ctx, bool is_map);
int engine_add_entry(JSContext *ctx, JSValueConst map_or_set, JSValueConst key, JSValueConst value);
#endif
