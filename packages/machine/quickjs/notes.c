/* Notes to the host: steps, progress, checkpoints, findings. One-way; the program does not notice. */
#include "guest.h"

static void emit(struct bytes *note) {
    if (!note->failed) fermata_import_emit(FERMATA_EMIT_NOTE, note->data, note->length);
    bytes_free(note);
}

void note_finding(const char *message, uint32_t line) {
    struct bytes note = {0};
    encode_record(&note, 3);
    encode_key(&note, "note");
    encode_text(&note, "finding", 7);
    encode_key(&note, "message");
    encode_text(&note, message, strlen(message));
    encode_key(&note, "line");
    if (line) encode_number(&note, line);
    else bytes_byte(&note, 1);
    emit(&note);
}

JSValue native_note(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
    struct bytes note = {0};
    const char *what = JS_ToCString(ctx, argv[1]);
    int encoded = what ? encode_value(ctx, &note, argv[0], what) : -1;
    JS_FreeCString(ctx, what);
    if (encoded < 0) {
        bytes_free(&note);
        return JS_EXCEPTION;
    }
    emit(&note);
    return JS_UNDEFINED;
}
