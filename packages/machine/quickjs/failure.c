/* What is said about an error that ended a program: name, message, the user's part of the stack with the line of
 * source, and where. Anything can be thrown, and its properties can throw again: then less is said. */
#include "guest.h"
#include <ctype.h>

/* A property as text; `otherwise` if it is missing, not a string, or throws. Freed by JS_FreeCString. */
static const char *text_of(JSContext *ctx, JSValueConst object, const char *key, const char *otherwise) {
    JSValue value = JS_IsObject(object) ? JS_GetPropertyStr(ctx, object, key) : JS_UNDEFINED;
    if (JS_IsException(value)) JS_FreeValue(ctx, JS_GetException(ctx));
    const char *text = JS_IsString(value) ? JS_ToCString(ctx, value) : NULL;
    JS_FreeValue(ctx, value);
    if (!text && otherwise) {
        JSValue fallback = JS_NewString(ctx, otherwise);
        text = JS_ToCString(ctx, fallback);
        JS_FreeValue(ctx, fallback);
    }
    return text;
}

static bool is_error(JSContext *ctx, JSValueConst value) {
    if (JS_IsError(value)) return true;
    const char *stack = text_of(ctx, value, "stack", NULL);
    JS_FreeCString(ctx, stack);
    return stack != NULL;
}

/* Something that is no Error: shown as console would. */
static void show_thrown(JSContext *ctx, struct bytes *out, JSValueConst value) {
    JSValue shown = JS_IsString(value) ? JS_DupValue(ctx, value) : JS_Call(ctx, inspect_function, JS_UNDEFINED, 1, &value);
    const char *text = JS_IsException(shown) ? NULL : JS_ToCString(ctx, shown);
    if (!text) JS_FreeValue(ctx, JS_GetException(ctx));
    bytes_text(out, text ? text : "(a value that cannot be shown)");
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, shown);
}

void failure_summary(JSContext *ctx, struct bytes *out, JSValueConst error) {
    if (!is_error(ctx, error)) {
        show_thrown(ctx, out, error);
        return;
    }
    const char *name = text_of(ctx, error, "name", "Error"), *message = text_of(ctx, error, "message", "");
    bytes_text(out, name ? name : "Error");
    if (message && *message) {
        bytes_text(out, ": ");
        bytes_text(out, message);
    }
    JS_FreeCString(ctx, name);
    JS_FreeCString(ctx, message);
}

/* "    at ... file:LINE:COLUMN" -> the numbers; false if the line of the stack is not of the user's file. */
static bool parse_place(const char *line, size_t length, const char *file, uint32_t *row, uint32_t *column) {
    size_t n = strlen(file);
    for (size_t i = 0; i + n + 3 < length; i++) {
        if (memcmp(line + i, file, n) || line[i + n] != ':' || !isdigit((unsigned char)line[i + n + 1])) continue;
        char *end;
        *row = strtoul(line + i + n + 1, &end, 10);
        *column = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
        return true;
    }
    return false;
}

/* Calls back for each line of the stack that belongs to the user's file. */
static void user_frames(JSContext *ctx, JSValueConst error, struct bytes *out, uint32_t *row, uint32_t *column) {
    const char *stack = text_of(ctx, error, "stack", NULL), *file = JS_AtomToCString(ctx, program.file);
    uint32_t line_row, line_column;
    for (const char *at = stack, *end; at && file && *at; at = *end ? end + 1 : end) {
        end = strchr(at, '\n');
        if (!end) end = at + strlen(at);
        if (strncmp(at, "    at ", 7) || !parse_place(at, end - at, file, &line_row, &line_column)) continue;
        if (!*row) {
            *row = line_row;
            *column = line_column;
        }
        if (!out) break;
        bytes_byte(out, '\n');
        bytes_put(out, at, end - at);
    }
    JS_FreeCString(ctx, stack);
    JS_FreeCString(ctx, file);
}

uint32_t failure_line(JSContext *ctx, JSValueConst error) {
    uint32_t row = 0, column;
    user_frames(ctx, error, NULL, &row, &column);
    return row;
}

/* The line itself and a mark under the column. */
static void quote_source(JSContext *ctx, struct bytes *out, JSValueConst code, uint32_t row, uint32_t column) {
    const char *text = JS_ToCString(ctx, code), *at = text, *file = JS_AtomToCString(ctx, program.file);
    char head[32];
    for (uint32_t i = 1; at && i < row; i++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    if (at && file) {
        size_t length = strcspn(at, "\r\n");
        bytes_text(out, file);
        snprintf(head, sizeof head, ":%u\n", row);
        bytes_text(out, head);
        bytes_put(out, at, length > 200 ? 200 : length);
        bytes_byte(out, '\n');
        if (column && column <= length + 1 && column <= 200) {
            for (uint32_t i = 1; i < column; i++) bytes_byte(out, at[i - 1] == '\t' ? '\t' : ' ');
            bytes_text(out, "^\n");
        }
    }
    JS_FreeCString(ctx, text);
    JS_FreeCString(ctx, file);
}

static void put_cause(JSContext *ctx, struct bytes *out, JSValueConst error, int depth) {
    JSValue cause = JS_IsObject(error) ? JS_GetPropertyStr(ctx, error, "cause") : JS_UNDEFINED;
    if (JS_IsException(cause)) JS_FreeValue(ctx, JS_GetException(ctx));
    else if (!JS_IsUndefined(cause) && depth < 5) {
        uint32_t row = 0, column;
        bytes_text(out, "\nCaused by: ");
        failure_summary(ctx, out, cause);
        user_frames(ctx, cause, out, &row, &column);
        put_cause(ctx, out, cause, depth + 1);
    }
    JS_FreeValue(ctx, cause);
}

static void put_text(struct bytes *out, const char *key, struct bytes *text) {
    encode_key(out, key);
    encode_text(out, (const char *)text->data, text->failed ? 0 : text->length);
    out->failed |= text->failed;
    bytes_free(text);
}

static void put_place(struct bytes *out, const char *key, uint32_t n) {
    encode_key(out, key);
    if (n) encode_number(out, n);
    else bytes_byte(out, 1);
}

/* For who handles errors by kind (abi/README.md); NULL for an ordinary one. */
static const char *kind_of(JSContext *ctx, JSValueConst error) {
    if (program.unparsed) return "syntax_error";
    JSValue prototype = JS_IsObject(error) && !JS_IsProxy(error) ? JS_GetPrototype(ctx, error) : JS_UNDEFINED;
    bool of_tool = JS_IsStrictEqual(ctx, prototype, tool_error_prototype);
    JS_FreeValue(ctx, prototype);
    if (!of_tool) return NULL;
    JSValue name = own_property(error, "toolErrorName");
    const char *text = JS_IsString(name) ? JS_ToCString(ctx, name) : NULL;
    bool unknown = text && strcmp(text, "unknown_tool") == 0;
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, name);
    return unknown ? "unknown_tool" : "tool_error";
}

void encode_failure(JSContext *ctx, struct bytes *out, JSValueConst error, JSValueConst code) {
    struct bytes name = {0}, message = {0}, frames = {0}, traceback = {0};
    uint32_t row = 0, column = 0;
    bool real = is_error(ctx, error);
    const char *text = real ? text_of(ctx, error, "name", "Error") : NULL;
    bytes_text(&name, text ? text : "Error");
    JS_FreeCString(ctx, text);
    if (real) {
        text = text_of(ctx, error, "message", "");
        bytes_text(&message, text ? text : "");
        JS_FreeCString(ctx, text);
    } else {
        bytes_text(&message, "the program threw a value that is not an Error: ");
        show_thrown(ctx, &message, error);
    }
    user_frames(ctx, error, &frames, &row, &column);
    if (row) quote_source(ctx, &traceback, code, row, column);
    bytes_put(&traceback, name.data, name.length);
    if (message.length) bytes_text(&traceback, ": ");
    bytes_put(&traceback, message.data, message.length);
    bytes_put(&traceback, frames.data, frames.length);
    put_cause(ctx, &traceback, error, 0);
    bytes_free(&frames);

    const char *kind = kind_of(ctx, error);
    encode_record(out, kind ? 6 : 5);
    put_text(out, "name", &name);
    put_text(out, "message", &message);
    put_text(out, "traceback", &traceback);
    put_place(out, "line", row);
    put_place(out, "column", column);
    if (!kind) return;
    encode_key(out, "kind");
    encode_text(out, kind, strlen(kind));
}

void encode_failure_without_room(struct bytes *out) {
    static const char *const texts[][2] = {{"name", "InternalError"}, {"message", "out of memory"}, {"traceback", "InternalError: out of memory"}};
    encode_record(out, 5);
    for (int i = 0; i < 3; i++) {
        encode_key(out, texts[i][0]);
        encode_text(out, texts[i][1], strlen(texts[i][1]));
    }
    put_place(out, "line", 0);
    put_place(out, "column", 0);
}
