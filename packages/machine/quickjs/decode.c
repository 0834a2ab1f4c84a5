/* Bytes to JavaScript values. Everything is made with the engine's own constructors and defined, never assigned: the
 * program's changes to prototypes and globals have no say in what an answer looks like. */
#include "codec.h"
#include "engine.h"
#include "values.h"

static JSValue cut(JSContext *ctx) { return JS_ThrowInternalError(ctx, "a message from the host is damaged"); }

static bool take(struct reader *in, void *to, uint32_t n) {
    if (n > (uint32_t)(in->end - in->at)) return false;
    memcpy(to, in->at, n);
    in->at += n;
    return true;
}

/* Counts and lengths: never more than the bytes that are left. */
static bool take_varint(struct reader *in, uint32_t *n) {
    uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        uint8_t byte;
        if (!take(in, &byte, 1)) return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *n = value;
            return value <= (uint64_t)(in->end - in->at);
        }
    }
    return false;
}

static bool take_run(struct reader *in, const char **data, uint32_t *length) {
    if (!take_varint(in, length)) return false;
    *data = (const char *)in->at;
    in->at += *length;
    return true;
}

static JSValue decode_at(JSContext *ctx, struct reader *in, int depth);

static JSValue decode_list(JSContext *ctx, struct reader *in, uint32_t count, int depth) {
    JSValue list = JS_NewArray(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(list); i++) {
        JSValue item = decode_at(ctx, in, depth);
        if (JS_IsException(item) || JS_DefinePropertyValueUint32(ctx, list, i, item, JS_PROP_C_W_E) < 0) {
            JS_FreeValue(ctx, list);
            return JS_EXCEPTION;
        }
    }
    return list;
}

static JSValue decode_record(JSContext *ctx, struct reader *in, uint32_t count, int depth) {
    JSValue record = JS_NewObject(ctx);
    for (uint32_t i = 0; i < count && !JS_IsException(record); i++) {
        const char *key;
        uint32_t length;
        if (!take_run(in, &key, &length)) {
            JS_FreeValue(ctx, record);
            return cut(ctx);
        }
        JSAtom atom = JS_NewAtomLen(ctx, key, length);
        JSValue item = atom == JS_ATOM_NULL ? JS_EXCEPTION : decode_at(ctx, in, depth);
        int defined = JS_IsException(item) ? -1 : JS_DefinePropertyValue(ctx, record, atom, item, JS_PROP_C_W_E);
        JS_FreeAtom(ctx, atom);
        if (defined < 0) {
            JS_FreeValue(ctx, record);
            return JS_EXCEPTION;
        }
    }
    return record;
}

static JSValue decode_entries(JSContext *ctx, struct reader *in, uint32_t count, bool is_map, int depth) {
    JSValue entries = engine_new_entries(ctx, is_map);
    for (uint32_t i = 0; i < count && !JS_IsException(entries); i++) {
        JSValue key = decode_at(ctx, in, depth);
        JSValue value = JS_IsException(key) ? JS_EXCEPTION : is_map ? decode_at(ctx, in, depth) : JS_UNDEFINED;
        bool failed = JS_IsException(value) || engine_add_entry(ctx, entries, key, value) < 0;
        JS_FreeValue(ctx, key);
        JS_FreeValue(ctx, value);
        if (failed) {
            JS_FreeValue(ctx, entries);
            return JS_EXCEPTION;
        }
    }
    return entries;
}

static JSValue decode_at(JSContext *ctx, struct reader *in, int depth) {
    uint8_t tag;
    uint32_t n;
    const char *run;
    double number;

    if (depth > FV_MAX_MESSAGE_DEPTH || !take(in, &tag, 1)) return cut(ctx);
    switch (tag) {
    case FV_UNDEFINED: return JS_UNDEFINED;
    case FV_NULL: return JS_NULL;
    case FV_FALSE: return JS_FALSE;
    case FV_TRUE: return JS_TRUE;
    case FV_DOUBLE: return take(in, &number, 8) ? JS_NewNumber(ctx, number) : cut(ctx);
    case FV_INSTANT: return take(in, &number, 8) ? JS_NewDate(ctx, number) : cut(ctx);
    case FV_INTEGER: return take_run(in, &run, &n) ? engine_bigint(ctx, run, n) : cut(ctx);
    case FV_STRING: return take_run(in, &run, &n) ? JS_NewStringLen(ctx, run, n) : cut(ctx);
    case FV_BYTES: return take_run(in, &run, &n) ? JS_NewUint8ArrayCopy(ctx, (const uint8_t *)run, n) : cut(ctx);
    case FV_LIST: return take_varint(in, &n) ? decode_list(ctx, in, n, depth + 1) : cut(ctx);
    case FV_RECORD: return take_varint(in, &n) ? decode_record(ctx, in, n, depth + 1) : cut(ctx);
    case FV_MAP: return take_varint(in, &n) ? decode_entries(ctx, in, n, true, depth + 1) : cut(ctx);
    case FV_SET: return take_varint(in, &n) ? decode_entries(ctx, in, n, false, depth + 1) : cut(ctx);
    default: return cut(ctx);
    }
}

JSValue decode_value(JSContext *ctx, struct reader *in) { return decode_at(ctx, in, 0); }
