/* Promises that were rejected and that nobody has handled. At the end of a program they become findings and lines on
 * stderr, not failures: the program itself has ended well. */
#include "guest.h"

struct rejection {
    struct rejection *next;
    JSValue promise, reason;
};
static struct rejection *first;

static void forget(struct rejection **at) {
    struct rejection *rejection = *at;
    *at = rejection->next;
    JS_FreeValue(context, rejection->promise);
    JS_FreeValue(context, rejection->reason);
    free(rejection);
}

static void on_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
    struct rejection **at = &first;
    while (*at && !JS_IsStrictEqual(ctx, (*at)->promise, promise)) at = &(*at)->next;
    if (is_handled) {
        if (*at) forget(at);
    } else if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->promise = JS_DupValue(ctx, promise);
        (*at)->reason = JS_DupValue(ctx, reason);
    }
}

void rejections_watch(void) { JS_SetHostPromiseRejectionTracker(runtime, on_rejection, NULL); }

static void report(JSValueConst reason) {
    static const char prefix[] = "Unhandled promise rejection: ";
    struct bytes text = {0};
    uint32_t line = failure_line(context, reason);
    bytes_text(&text, prefix);
    failure_summary(context, &text, reason);
    bytes_byte(&text, 0);
    if (!text.failed) {
        note_finding((const char *)text.data, line);
        text.data[text.length - 1] = '\n';
        replace_surrogates(text.data, text.length);
        fermata_import_emit(FERMATA_EMIT_STDERR, text.data, text.length);
    }
    bytes_free(&text);
}

void rejections_report(JSValueConst except) {
    while (first) {
        if (!JS_IsStrictEqual(context, first->reason, except)) report(first->reason);
        forget(&first);
    }
}
