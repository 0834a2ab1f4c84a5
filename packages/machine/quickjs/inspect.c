/* fermata_inspect: where the program is and what its variables hold. The host calls it only in a copy of the machine
 * that it throws away, so it may allocate and run the prelude's `inspect`. */
#include "guest.h"

static struct {
    struct bytes frames[64];
    int count;
} shown;

static void put_text(struct bytes *out, const char *text) { encode_text(out, text ? text : "", text ? strlen(text) : 0); }

struct locals {
    struct bytes text;
    uint32_t count;
};

static void show_local(JSContext *ctx, JSAtom name, JSValueConst value, void *opaque) {
    struct locals *locals = opaque;
    JSValue shown_value = JS_Call(ctx, inspect_function, JS_UNDEFINED, 1, &value);
    const char *key = JS_AtomToCString(ctx, name), *text = JS_IsException(shown_value) ? NULL : JS_ToCString(ctx, shown_value);
    if (!text) JS_FreeValue(ctx, JS_GetException(ctx));
    if (key && text && locals->count < 100) {
        size_t length = strlen(text);
        encode_key(&locals->text, key);
        if (length > 500) /* not in the middle of a character */
            for (length = 500; (text[length] & 0xc0) == 0x80;) length--;
        encode_text(&locals->text, text, length);
        locals->count++;
    }
    JS_FreeCString(ctx, key);
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, shown_value);
}

static void show_frame(const struct engine_frame *frame, void *opaque) {
    if (shown.count == 64) return;
    struct bytes *out = &shown.frames[shown.count++];
    struct locals locals = {0};
    JSValue name = own_property(frame->function, "name");
    const char *function = JS_IsString(name) ? JS_ToCString(frame->ctx, name) : NULL;
    const char *file = JS_AtomToCString(frame->ctx, program.file);
    engine_locals(frame, show_local, &locals);
    encode_record(out, 4);
    encode_key(out, "file");
    put_text(out, file);
    encode_key(out, "line");
    encode_number(out, frame->line);
    encode_key(out, "function");
    put_text(out, function && strcmp(function, "<eval>") ? function : "");
    encode_key(out, "locals");
    encode_record(out, locals.count);
    bytes_put(out, locals.text.data, locals.text.length);
    JS_FreeCString(frame->ctx, function);
    JS_FreeCString(frame->ctx, file);
    JS_FreeValue(frame->ctx, name);
}

FERMATA_EXPORT("fermata_inspect") void *fermata_inspect(void) {
    struct bytes out = {0};
    fermata_status.nosuspend++;
    engine_frames(runtime, program.file, program.body, show_frame, NULL);
    bytes_put(&out, &out.length, 4); /* the place of the length */
    encode_record(&out, 1);
    encode_key(&out, "stack");
    encode_list_head(&out, shown.count);
    for (int i = shown.count - 1; i >= 0; i--) bytes_put(&out, shown.frames[i].data, shown.frames[i].length);
    fermata_status.nosuspend--;
    if (out.failed) return NULL;
    uint32_t length = out.length - 4;
    memcpy(out.data, &length, 4);
    return out.data;
}
