/* Boot, then one program after another. The state after boot, with the prelude compiled and nothing of any task inside,
 * is the base image that every task starts from. */
#include "guest.h"
#include <stdio.h>
#include <time.h>

JSRuntime *runtime;
JSContext *context;
JSValue inspect_function, prepare_function, tool_error_prototype;

/* Room for JavaScript's own stack in linear memory; the linker gives a little more (see compile.sh). */
enum { MAX_STACK_BYTES = FERMATA_STACK_BYTES - 96 * 1024 };

struct part {
    const char *name, *text;
    uint32_t length;
};
extern const struct part prelude[];
extern const uint32_t prelude_count;

double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

JSValue own_property(JSValueConst record, const char *key) {
    JSPropertyDescriptor property;
    JSAtom atom = JS_NewAtom(context, key);
    int found = JS_IsObject(record) ? JS_GetOwnProperty(context, &property, record, atom) : 0;
    JS_FreeAtom(context, atom);
    if (found <= 0) return JS_UNDEFINED;
    JS_FreeValue(context, property.getter);
    JS_FreeValue(context, property.setter);
    return property.value;
}

void user_place(uint32_t *line, uint32_t *column) {
    *line = *column = 0;
    engine_place(runtime, program.file, program.body, line, column);
}

void fermata_locate(void) {
    user_place(&fermata_status.line, &fermata_status.column);
}

JSValue converse(const struct bytes *message) {
    uint32_t length = fermata_import_exchange(message->data, message->length);
    uint8_t *reply = js_malloc(context, length + 1);
    if (!reply) return JS_EXCEPTION;
    fermata_import_take(reply);
    struct reader in = {reply, reply + length};
    JSValue value = decode_value(context, &in);
    js_free(context, reply);
    return value;
}

static JSModuleDef *no_modules(JSContext *ctx, const char *name, void *opaque) {
    JS_ThrowReferenceError(ctx, "import('%s') is not available here: use the globals (tools, files, console, URL, Intl, crypto, ...)", name);
    return NULL;
}

/* A program like any other, so that what the first one touches (lazy properties, atoms, tables) is part of the base. */
static const char warm_up[] =
    "const m = new Map([[1, { a: [1.5, 'x', null] }]]); let s = ''; for (const [k, v] of m) s += `${k}${JSON.stringify(v)}`;"
    "const f = async (n) => { await null; if (n) throw new TypeError('warm'); return n; };"
    "try { await f(1); } catch (e) { s += e.stack; }"
    "class A { #p = 1; get p() { return this.#p; } } s += new A().p + s.replace(/a(.)/g, '$1').split(',').length + parseInt('7');"
    "await Promise.all([f(0), new Promise((done) => queueMicrotask(done))]); [3, 1, 2].sort((a, b) => a - b).map(String); s.length";

static void warm(void) {
    void *body = NULL;
    JSContext *ctx;
    JSValue function = JS_Eval(context, warm_up, sizeof warm_up - 1, "main.js", JS_EVAL_FLAG_ASYNC | JS_EVAL_FLAG_BODY | JS_EVAL_FLAG_COMPILE_ONLY);
    JSValue promise = engine_start_body(context, function, &body);
    while (JS_IsJobPending(runtime)) JS_ExecutePendingJob(runtime, &ctx);
    if (JS_PromiseState(context, promise) != JS_PROMISE_FULFILLED) exit(71);
    engine_free_body(runtime, body);
    JS_FreeValue(context, promise);
    engine_take_body_completed(context);
}

/* Each part is a function of (natives, shared) that puts what later parts need into `shared`. */
static void load_prelude(void) {
    JSValue natives = natives_new(), shared = JS_NewObject(context);
    JSValueConst args[] = {natives, shared};
    JSAtom file = JS_NewAtom(context, "fermata");
    engine_hide_file(context, file);
    for (uint32_t i = 0; i < prelude_count; i++) {
        JSValue function = JS_Eval(context, prelude[i].text, prelude[i].length, "fermata", JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
        JSValue result = JS_IsException(function) ? JS_EXCEPTION : JS_Call(context, function, JS_UNDEFINED, 2, args);
        if (JS_IsException(result)) {
            JSValue error = JS_GetException(context), stack = JS_GetPropertyStr(context, error, "stack");
            const char *text = JS_ToCString(context, stack);
            fprintf(stderr, "%s: %s\n", prelude[i].name, text);
            exit(70);
        }
        JS_FreeValue(context, result);
        JS_FreeValue(context, function);
    }
    inspect_function = JS_GetPropertyStr(context, shared, "inspect");
    prepare_function = JS_GetPropertyStr(context, shared, "prepare");
    tool_error_prototype = JS_GetPropertyStr(context, shared, "toolErrorPrototype");
    JS_FreeValue(context, natives);
    JS_FreeValue(context, shared);
    JS_FreeAtom(context, file);
}

static void boot(void) {
    runtime = JS_NewRuntime2(&memory_functions, NULL);
    JS_SetMaxStackSize(runtime, MAX_STACK_BYTES);
    context = JS_NewContext(runtime);
    JS_SetModuleLoaderFunc(runtime, NULL, no_modules, NULL);
    rejections_watch();
    load_prelude();
    warm();
    engine_retire_heap(runtime);
}

int main(void) {
    struct bytes message = {0};
    boot();
    encode_record(&message, 1);
    encode_key(&message, "say");
    encode_text(&message, "ready", 5);
    for (;;) {
        JSValue start = converse(&message);
        if (JS_IsException(start)) program_refuse(&message);
        else program_run(start, &message);
        JS_FreeValue(context, start);
    }
}
