/* The few things that the prelude cannot do in JavaScript. The program never sees these functions. */
#include "guest.h"
#include <unistd.h>

#define NATIVE(name) static JSValue name(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)

/* The engine's own name of an object's kind ("Array", "Map", "Proxy" ...), which the program cannot change. */
NATIVE(class_of) {
    if (JS_IsProxy(argv[0])) return JS_NewString(ctx, "Proxy");
    JSAtom atom = JS_GetClassName(runtime, JS_GetClassID(argv[0]));
    if (atom == JS_ATOM_NULL) return JS_UNDEFINED;
    JSValue name = JS_AtomToString(ctx, atom);
    JS_FreeAtom(ctx, atom);
    return name;
}

void replace_surrogates(uint8_t *text, size_t length) {
    for (size_t i = 0; i + 2 < length; i++)
        if (text[i] == 0xed && text[i + 1] >= 0xa0) memcpy(text + i, "\xef\xbf\xbd", 3);
}

NATIVE(emit_text) {
    size_t length;
    int32_t kind;
    if (JS_ToInt32(ctx, &kind, argv[0]) < 0) return JS_EXCEPTION;
    const char *text = JS_ToCStringLen(ctx, &length, argv[1]);
    if (!text) return JS_EXCEPTION;
    replace_surrogates((uint8_t *)text, length); /* only plain ASCII is given out without a copy */
    fermata_import_emit(kind, text, length);
    JS_FreeCString(ctx, text);
    return JS_UNDEFINED;
}

NATIVE(now) { return JS_NewFloat64(ctx, now_ms()); }

NATIVE(fill_random) {
    const uint8_t *bytes;
    size_t length;
    if (!engine_bytes(ctx, argv[0], &bytes, &length)) return JS_ThrowTypeError(ctx, "a typed array of integers is needed");
    for (size_t done = 0; done < length; done += 256)
        if (getentropy((uint8_t *)bytes + done, length - done > 256 ? 256 : length - done) != 0)
            return JS_ThrowInternalError(ctx, "no random bytes");
    return JS_DupValue(ctx, argv[0]);
}

NATIVE(entries_of) {
    uint32_t n;
    JSValue *entries = engine_entries(ctx, argv[0], &n);
    if (!entries) return JS_EXCEPTION;
    JSValue list = JS_NewArrayFrom(ctx, n, entries);
    js_free(ctx, entries);
    return list;
}

/* [state, result]: 0 pending, 1 fulfilled, 2 rejected. */
NATIVE(promise_state) {
    JSValue pair[] = {JS_NewInt32(ctx, JS_PromiseState(ctx, argv[0])), JS_PromiseResult(ctx, argv[0])};
    return JS_NewArrayFrom(ctx, 2, pair);
}

/* The primitive in a wrapper object; undefined for other objects. */
NATIVE(unbox) {
    JSValue primitive = engine_unbox(ctx, argv[0]);
    return JS_IsUninitialized(primitive) ? JS_UNDEFINED : primitive;
}

/* null: revoked. */
NATIVE(proxy_target) {
    JSValue target = JS_GetProxyTarget(ctx, argv[0]);
    if (!JS_IsException(target)) return target;
    JS_FreeValue(ctx, JS_GetException(ctx));
    return JS_NULL;
}

static JSValue run_job(JSContext *ctx, int argc, JSValueConst *argv) { return JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL); }

NATIVE(queue_job) {
    if (JS_EnqueueJob(ctx, run_job, 1, argv) < 0) return JS_EXCEPTION;
    return JS_UNDEFINED;
}

/* Lone surrogates become U+FFFD, as TextEncoder wants it. */
NATIVE(utf8_encode) {
    size_t length;
    const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
    if (!text) return JS_EXCEPTION;
    JSValue bytes = JS_NewUint8ArrayCopy(ctx, (const uint8_t *)text, length);
    JS_FreeCString(ctx, text);
    const uint8_t *data;
    if (!JS_IsException(bytes) && engine_bytes(ctx, bytes, &data, &length)) replace_surrogates((uint8_t *)data, length);
    return bytes;
}

/* One code point by the Encoding Standard: -1 for the longest wrong part, whose length `*used` says. */
static int32_t utf8_next(const uint8_t *at, size_t left, size_t *used) {
    uint8_t lead = at[0], low = 0x80, high = 0xbf;
    int more = lead < 0x80 ? 0 : lead >= 0xc2 && lead <= 0xdf ? 1 : (lead & 0xf0) == 0xe0 ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : -1;
    *used = 1;
    if (more < 0) return -1;
    int32_t point = more == 0 ? lead : lead & (0x3f >> more);
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    for (; more > 0; more--) {
        if (*used >= left || at[*used] < low || at[*used] > high) return -1;
        point = point << 6 | (at[(*used)++] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    return point;
}

/* (bytes, fatal) -> string; undefined where fatal and wrong. */
NATIVE(utf8_decode) {
    const uint8_t *bytes;
    size_t length, used, n = 0;
    bool fatal = JS_ToBool(ctx, argv[1]);
    if (!engine_bytes(ctx, argv[0], &bytes, &length)) return JS_ThrowTypeError(ctx, "an ArrayBuffer or a view of one is needed");
    uint16_t *units = js_malloc(ctx, length * 2 + 2);
    if (!units) return JS_EXCEPTION;
    for (size_t at = 0; at < length; at += used) {
        int32_t point = utf8_next(bytes + at, length - at, &used);
        if (point < 0 && fatal) {
            js_free(ctx, units);
            return JS_UNDEFINED;
        }
        if (point > 0xffff) {
            units[n++] = 0xd7c0 + (point >> 10);
            units[n++] = 0xdc00 + (point & 0x3ff);
        } else {
            units[n++] = point < 0 ? 0xfffd : point;
        }
    }
    JSValue text = JS_NewStringUTF16(ctx, units, n);
    js_free(ctx, units);
    return text;
}

static const struct {
    const char *name;
    JSCFunction *function;
    int arguments;
} natives[] = {
    {"classOf", class_of, 1},         {"emitText", emit_text, 2},       {"now", now, 0},
    {"fillRandom", fill_random, 1},   {"entriesOf", entries_of, 1},     {"promiseState", promise_state, 1},
    {"unbox", unbox, 1},              {"proxyTarget", proxy_target, 1}, {"queueJob", queue_job, 1},
    {"utf8Encode", utf8_encode, 1},   {"utf8Decode", utf8_decode, 2},   {"call", native_call, 2},
    {"note", native_note, 2},         {"setTimer", native_set_timer, 4}, {"clearTimer", native_clear_timer, 1},
};

JSValue natives_new(void) {
    JSValue object = JS_NewObject(context);
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
        JS_SetPropertyStr(context, object, natives[i].name, JS_NewCFunction(context, natives[i].function, natives[i].name, natives[i].arguments));
    files_add(context, object);
    return object;
}
