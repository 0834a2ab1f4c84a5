/* JavaScript values to bytes. Own enumerable string keys make a record; what has its own form in values.h takes it;
 * anything else is refused with its path, because a value that changes silently is worse than an error. */
#include "codec.h"
#include "engine.h"
#include "values.h"
#include <math.h>
#include <stdio.h>

/* The way from the root to here, innermost first. Also finds cycles: an object may not be inside itself. */
struct path {
    const struct path *up;
    JSValueConst object;
    JSAtom key;     /* of a record */
    int64_t index;  /* of a list, map or set; -1: use the key */
    const char *root;
    int depth;
};

static int encode_at(JSContext *ctx, struct bytes *out, JSValueConst value, const struct path *path);

static void put_varint(struct bytes *out, uint32_t n) {
    while (n >= 0x80) {
        bytes_byte(out, n | 0x80);
        n >>= 7;
    }
    bytes_byte(out, n);
}

void encode_text(struct bytes *out, const char *text, size_t length) {
    bytes_byte(out, FV_STRING);
    put_varint(out, length);
    bytes_put(out, text, length);
}

void encode_record(struct bytes *out, uint32_t count) {
    bytes_byte(out, FV_RECORD);
    put_varint(out, count);
}

void encode_list_head(struct bytes *out, uint32_t count) {
    bytes_byte(out, FV_LIST);
    put_varint(out, count);
}

void encode_key(struct bytes *out, const char *key) {
    put_varint(out, strlen(key));
    bytes_text(out, key);
}

void encode_number(struct bytes *out, double number) {
    bytes_byte(out, FV_DOUBLE);
    bytes_put(out, &number, 8);
}

bool encode_string(JSContext *ctx, struct bytes *out, JSValueConst string) {
    size_t length;
    const char *text = JS_ToCStringLen(ctx, &length, string);
    if (!text) return false;
    encode_text(out, text, length);
    JS_FreeCString(ctx, text);
    return true;
}

static void describe_path(JSContext *ctx, struct bytes *text, const struct path *path) {
    char number[32];
    if (!path->up) {
        bytes_text(text, path->root);
        return;
    }
    describe_path(ctx, text, path->up);
    if (path->index >= 0) {
        snprintf(number, sizeof number, "[%lld]", (long long)path->index);
        bytes_text(text, number);
        return;
    }
    const char *key = JS_AtomToCString(ctx, path->key);
    bool plain = key && *key && !(*key >= '0' && *key <= '9');
    for (const char *c = key; plain && *c; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '$';
    bytes_text(text, plain ? "." : "[\"");
    bytes_text(text, key ? key : "?");
    if (!plain) bytes_text(text, "\"]");
    JS_FreeCString(ctx, key);
}

static int refuse(JSContext *ctx, const struct path *path, const char *what) {
    struct bytes text = {0};
    describe_path(ctx, &text, path);
    if (!text.failed && text.length > 120) { /* both ends of a long way */
        memcpy(text.data + 60, "...", 3);
        memmove(text.data + 63, text.data + text.length - 57, 57);
        text.length = 120;
    }
    bytes_byte(&text, 0);
    JS_ThrowTypeError(ctx, "%s %s", text.failed ? path->root : (const char *)text.data, what);
    bytes_free(&text);
    return -1;
}

static int encode_child(JSContext *ctx, struct bytes *out, JSValue child, const struct path *parent, JSValueConst object,
                        JSAtom key, int64_t index) {
    struct path path = {parent, object, key, index, parent->root, parent->depth + 1};
    if (JS_IsException(child)) return -1;
    int result = encode_at(ctx, out, child, &path);
    JS_FreeValue(ctx, child);
    return result;
}

static int encode_list(JSContext *ctx, struct bytes *out, JSValueConst list, const struct path *path) {
    int64_t count;
    if (JS_GetLength(ctx, list, &count) < 0) return -1;
    if (count > INT32_MAX) return refuse(ctx, path, "is too long a list to leave the program");
    bytes_byte(out, FV_LIST);
    put_varint(out, count);
    for (int64_t i = 0; i < count; i++)
        if (encode_child(ctx, out, JS_GetPropertyInt64(ctx, list, i), path, list, JS_ATOM_NULL, i) < 0) return -1;
    return 0;
}

static int encode_entries(JSContext *ctx, struct bytes *out, JSValueConst object, const struct path *path) {
    uint32_t n, per = JS_IsMap(object) ? 2 : 1;
    JSValue *entries = engine_entries(ctx, object, &n);
    int result = 0;
    if (!entries) return -1;
    bytes_byte(out, per == 2 ? FV_MAP : FV_SET);
    put_varint(out, n / per);
    for (uint32_t i = 0; i < n && result == 0; i++)
        result = encode_child(ctx, out, JS_DupValue(ctx, entries[i]), path, object, JS_ATOM_NULL, i / per);
    engine_free_entries(ctx, entries, n);
    return result;
}

static int encode_own(JSContext *ctx, struct bytes *out, JSValueConst object, const struct path *path) {
    JSPropertyEnum *names;
    uint32_t n;
    int result = 0;
    if (JS_GetOwnPropertyNames(ctx, &names, &n, object, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0) return -1;
    encode_record(out, n);
    for (uint32_t i = 0; i < n && result == 0; i++) {
        size_t length;
        const char *key = JS_AtomToCStringLen(ctx, &length, names[i].atom);
        if (!key) {
            result = -1;
            break;
        }
        put_varint(out, length);
        bytes_put(out, key, length);
        JS_FreeCString(ctx, key);
        result = encode_child(ctx, out, JS_GetProperty(ctx, object, names[i].atom), path, object, names[i].atom, -1);
    }
    JS_FreePropertyEnum(ctx, names, n);
    return result;
}

static int encode_error(JSContext *ctx, struct bytes *out, JSValueConst error, const struct path *path) {
    static const char *const keys[] = {"name", "message"};
    encode_record(out, 2);
    for (int i = 0; i < 2; i++) {
        encode_key(out, keys[i]);
        if (encode_child(ctx, out, JS_GetPropertyStr(ctx, error, keys[i]), path, error, JS_ATOM_NULL, i) < 0) return -1;
    }
    return 0;
}

/* The engine's own name of an object's kind, which the program cannot change. */
static bool is_class(JSContext *ctx, JSValueConst object, const char *name) {
    JSAtom atom = JS_GetClassName(JS_GetRuntime(ctx), JS_GetClassID(object));
    const char *text = JS_AtomToCString(ctx, atom);
    bool same = text && strcmp(text, name) == 0;
    JS_FreeCString(ctx, text);
    JS_FreeAtom(ctx, atom);
    return same;
}

static const char *refusal(JSContext *ctx, JSValueConst object) {
    if (JS_IsFunction(ctx, object)) return "is a function; only data can leave the program: call it, or leave it out";
    if (JS_IsPromise(object)) return "is a Promise: did you forget `await`?";
    if (JS_IsRegExp(object)) return "is a RegExp; use its source text";
    if (JS_IsWeakMap(object) || JS_IsWeakSet(object) || JS_IsWeakRef(object))
        return "is a weak collection, which has no readable content; use a Map, Set or plain object";
    if (is_class(ctx, object, "Generator") || is_class(ctx, object, "AsyncGenerator") || is_class(ctx, object, "Iterator Helper") ||
        is_class(ctx, object, "Map Iterator") || is_class(ctx, object, "Set Iterator") || is_class(ctx, object, "Array Iterator") ||
        is_class(ctx, object, "String Iterator") || is_class(ctx, object, "RegExp String Iterator"))
        return "is an iterator; turn it into a list first: [...it]";
    return NULL;
}

static int encode_object(JSContext *ctx, struct bytes *out, JSValueConst object, const struct path *path) {
    const uint8_t *bytes;
    size_t length;
    const char *refused;

    for (const struct path *p = path; p->up; p = p->up)
        if (JS_IsStrictEqual(ctx, p->object, object)) return refuse(ctx, path, "refers back to an object that contains it; cycles cannot leave the program");
    if (path->depth >= FV_MAX_DEPTH) return refuse(ctx, path, "is nested too deeply (more than 200 levels)");
    if ((refused = refusal(ctx, object))) return refuse(ctx, path, refused);

    JSValue primitive = engine_unbox(ctx, object);
    if (!JS_IsUninitialized(primitive)) {
        int result = encode_at(ctx, out, primitive, path);
        JS_FreeValue(ctx, primitive);
        return result;
    }
    if (engine_bytes(ctx, object, &bytes, &length)) {
        bytes_byte(out, FV_BYTES);
        put_varint(out, length);
        bytes_put(out, bytes, length);
        return 0;
    }
    if (JS_IsDate(object)) {
        double ms = engine_date(object);
        if (isnan(ms)) return refuse(ctx, path, "is an invalid Date");
        bytes_byte(out, FV_INSTANT);
        bytes_put(out, &ms, 8);
        return 0;
    }
    if (engine_is_array(ctx, object)) return encode_list(ctx, out, object, path);
    if (JS_IsMap(object) || JS_IsSet(object)) return encode_entries(ctx, out, object, path);

    JSValue to_json = JS_GetPropertyStr(ctx, object, "toJSON");
    if (JS_IsException(to_json)) return -1;
    if (JS_IsFunction(ctx, to_json)) {
        JSValue plain = JS_Call(ctx, to_json, object, 0, NULL);
        JS_FreeValue(ctx, to_json);
        if (JS_IsException(plain)) return -1;
        int result = JS_IsObject(plain) && !engine_is_array(ctx, plain) && !JS_IsError(plain) && !refusal(ctx, plain) && is_class(ctx, plain, "Object")
                         ? encode_own(ctx, out, plain, path)
                         : encode_at(ctx, out, plain, path);
        JS_FreeValue(ctx, plain);
        return result;
    }
    JS_FreeValue(ctx, to_json);
    if (JS_IsError(object) || is_class(ctx, object, "DOMException")) return encode_error(ctx, out, object, path);
    return encode_own(ctx, out, object, path);
}

static int encode_at(JSContext *ctx, struct bytes *out, JSValueConst value, const struct path *path) {
    if (out->failed) {
        JS_ThrowOutOfMemory(ctx);
        return -1;
    }
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_UNDEFINED: bytes_byte(out, FV_UNDEFINED); return 0;
    case JS_TAG_NULL: bytes_byte(out, FV_NULL); return 0;
    case JS_TAG_BOOL: bytes_byte(out, JS_VALUE_GET_BOOL(value) ? FV_TRUE : FV_FALSE); return 0;
    case JS_TAG_INT: encode_number(out, JS_VALUE_GET_INT(value)); return 0;
    case JS_TAG_FLOAT64: encode_number(out, isnan(JS_VALUE_GET_FLOAT64(value)) ? NAN : JS_VALUE_GET_FLOAT64(value)); return 0;
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE: return encode_string(ctx, out, value) ? 0 : -1;
    case JS_TAG_SHORT_BIG_INT:
    case JS_TAG_BIG_INT: {
        size_t length;
        const char *digits = JS_ToCStringLen(ctx, &length, value);
        if (!digits) return -1;
        bytes_byte(out, FV_INTEGER);
        put_varint(out, length);
        bytes_put(out, digits, length);
        JS_FreeCString(ctx, digits);
        return 0;
    }
    case JS_TAG_SYMBOL: return refuse(ctx, path, "is a Symbol; use a string");
    case JS_TAG_OBJECT: return encode_object(ctx, out, value, path);
    default: return refuse(ctx, path, "has a kind of value that cannot leave the program");
    }
}

int encode_value(JSContext *ctx, struct bytes *out, JSValueConst value, const char *root) {
    struct path path = {NULL, JS_UNDEFINED, JS_ATOM_NULL, -1, root, 0};
    int result = encode_at(ctx, out, value, &path);
    if (result == 0 && out->failed) {
        JS_ThrowOutOfMemory(ctx);
        return -1;
    }
    return result;
}
