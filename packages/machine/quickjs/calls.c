/* Tool calls from their start to their answer. Guarantees: arguments are read once, at the start; the promise and its
 * resolvers are the engine's own, so no change the program makes to Promise can forge, lose or alter an answer. */
#include "guest.h"

struct call {
    struct call *next;
    uint32_t id, line, column;
    JSValue name, promise, settle[2];
};
static struct call *first, **last = &first;
static struct call *ignored; /* answered, and nobody had asked for the value yet */
static uint32_t last_id;
static bool open;

static void release(struct call *call) {
    JS_FreeValue(context, call->name);
    JS_FreeValue(context, call->promise);
    JS_FreeValue(context, call->settle[0]);
    JS_FreeValue(context, call->settle[1]);
    free(call);
}

static bool encode_call(JSContext *ctx, struct bytes *out, JSValueConst name, JSValueConst args) {
    struct bytes root = {0};
    const char *text = JS_ToCString(ctx, name);
    if (!text) return false;
    bytes_text(&root, "argument of tools.");
    bytes_text(&root, text);
    bytes_text(&root, ":");
    bytes_byte(&root, 0);
    JS_FreeCString(ctx, text);
    encode_record(out, 3);
    encode_key(out, "id");
    encode_number(out, last_id + 1);
    encode_key(out, "name");
    bool ok = encode_string(ctx, out, name);
    encode_key(out, "args");
    ok = ok && !root.failed && encode_value(ctx, out, args, (const char *)root.data) == 0;
    bytes_free(&root);
    return ok;
}

/* (name, arguments) -> promise. Throws when the arguments cannot be sent. */
JSValue native_call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
    struct bytes message = {0};
    struct call *call;

    if (!open) return JS_ThrowTypeError(ctx, "the program has ended, so no new tool call can start; await your calls before the end");
    if (!encode_call(ctx, &message, argv[0], argv[1]) || !(call = calloc(1, sizeof *call))) {
        if (!JS_HasException(ctx)) JS_ThrowOutOfMemory(ctx);
        bytes_free(&message);
        return JS_EXCEPTION;
    }
    call->promise = JS_NewPromiseCapability(ctx, call->settle);
    if (JS_IsException(call->promise)) {
        free(call);
        bytes_free(&message);
        return JS_EXCEPTION;
    }
    call->id = ++last_id;
    call->name = JS_DupValue(ctx, argv[0]);
    user_place(&call->line, &call->column);
    *last = call;
    last = &call->next;
    fermata_import_emit(FERMATA_EMIT_CALL, message.data, message.length);
    bytes_free(&message);
    return JS_DupValue(ctx, call->promise);
}

void calls_open(void) { open = true; }
void calls_close(void) { open = false; }
bool calls_pending(void) { return first != NULL; }

static struct call *take(uint32_t id) {
    for (struct call **at = &first; *at; at = &(*at)->next) {
        struct call *call = *at;
        if (call->id != id) continue;
        *at = call->next;
        if (!call->next) last = at;
        call->next = NULL;
        return call;
    }
    return NULL;
}

/* Made without calling ToolError, which the program could have changed; only its prototype is used. */
static JSValue make_error(struct call *call, JSValueConst error) {
    JSContext *ctx = context;
    JSValue made = JS_NewError(ctx);
    if (JS_IsException(made)) return made;
    JSValue message = own_property(error, "message"), name = own_property(error, "name");
    const char *text = JS_ToCString(ctx, message);
    struct bytes stack = {0};
    char place[64];
    const char *file = JS_AtomToCString(ctx, program.file);
    bytes_text(&stack, "ToolError: ");
    bytes_text(&stack, text ? text : "");
    snprintf(place, sizeof place, "\n    at %s:%u:%u", file ? file : "", call->line, call->column);
    if (call->line && file) bytes_text(&stack, place);
    JS_FreeCString(ctx, text);
    JS_FreeCString(ctx, file);
    JS_SetPrototype(ctx, made, tool_error_prototype);
    int hidden = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE;
    JS_DefinePropertyValueStr(ctx, made, "stack", JS_NewStringLen(ctx, (char *)stack.data, stack.failed ? 0 : stack.length), hidden);
    JS_DefinePropertyValueStr(ctx, made, "message", message, hidden);
    JS_DefinePropertyValueStr(ctx, made, "tool", JS_DupValue(ctx, call->name), JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(ctx, made, "toolErrorName", name, JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(ctx, made, "data", own_property(error, "data"), JS_PROP_C_W_E);
    bytes_free(&stack);
    return made;
}

static void settle(struct call *call, bool failed, JSValueConst value) {
    JSValue settled = JS_Call(context, call->settle[failed], JS_UNDEFINED, 1, &value);
    if (JS_IsException(settled)) program_fail_outside();
    JS_FreeValue(context, settled);
}

void calls_answer(JSValueConst reply) {
    JSContext *ctx = context;
    int32_t id = 0;
    JSValue id_value = own_property(reply, "id");
    JS_ToInt32(ctx, &id, id_value);
    struct call *call = take(id);
    if (!call) return;
    JSValue error = own_property(reply, "error");
    bool failed = JS_IsObject(error);
    JSValue value = failed ? make_error(call, error) : own_property(reply, "ok");
    if (JS_IsException(value)) value = JS_GetException(ctx);
    settle(call, failed, value);
    JS_FreeValue(ctx, value);
    JS_FreeValue(ctx, error);
    if (!failed && !engine_promise_is_handled(call->promise)) {
        call->next = ignored;
        ignored = call;
    } else {
        release(call);
    }
}

/* Whose answer it was is not known, so all calls under way end with the error. */
void calls_lose(void) {
    JSValue error = JS_GetException(context);
    while (first) {
        struct call *call = take(first->id);
        settle(call, true, error);
        release(call);
    }
    JS_FreeValue(context, error);
}

void calls_forget(void) {
    while (ignored) {
        struct call *call = ignored;
        ignored = call->next;
        if (!engine_promise_is_handled(call->promise)) {
            const char *name = JS_ToCString(context, call->name);
            struct bytes text = {0};
            bytes_text(&text, "tools.");
            bytes_text(&text, name ? name : "?");
            bytes_text(&text, "(...) was not awaited: its result was ignored. Write `await` before it.");
            bytes_byte(&text, 0);
            if (!text.failed) note_finding((const char *)text.data, call->line);
            bytes_free(&text);
            JS_FreeCString(context, name);
        }
        release(call);
    }
}
