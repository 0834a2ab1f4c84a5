/* Timers, in the order in which they fall due; equal times in the order of creation. The host is told only the
 * earliest; time itself is the host's. */
#include "guest.h"
#include <math.h>

struct timer {
    uint32_t id;
    double due, every; /* every < 0: once */
    JSValue function;
    JSValue arguments; /* a list, or undefined */
};
static struct timer *timers;
static uint32_t count, capacity, last_id;

static bool insert(JSContext *ctx, struct timer timer) {
    if (count == capacity) {
        uint32_t bigger = capacity ? capacity * 2 : 8;
        struct timer *moved = js_realloc(ctx, timers, bigger * sizeof *timers);
        if (!moved) return false;
        timers = moved;
        capacity = bigger;
    }
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (timers[middle].due <= timer.due) low = middle + 1;
        else high = middle;
    }
    memmove(timers + low + 1, timers + low, (count - low) * sizeof *timers);
    timers[low] = timer;
    count++;
    return true;
}

static void discard(struct timer timer) {
    JS_FreeValue(context, timer.function);
    JS_FreeValue(context, timer.arguments);
}

static struct timer remove_at(uint32_t index) {
    struct timer timer = timers[index];
    memmove(timers + index, timers + index + 1, (--count - index) * sizeof *timers);
    return timer;
}

/* (function, milliseconds, repeats, arguments) -> id. The prelude has checked the types. */
JSValue native_set_timer(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
    double ms;
    if (JS_ToFloat64(ctx, &ms, argv[1]) < 0) return JS_EXCEPTION;
    struct timer timer = {++last_id, now_ms() + ms, JS_ToBool(ctx, argv[2]) ? ms : -1, JS_DupValue(ctx, argv[0]), JS_DupValue(ctx, argv[3])};
    if (!insert(ctx, timer)) {
        discard(timer);
        return JS_EXCEPTION;
    }
    return JS_NewInt32(ctx, timer.id);
}

JSValue native_clear_timer(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
    int32_t id;
    if (JS_ToInt32(ctx, &id, argv[0]) < 0) return JS_EXCEPTION;
    for (uint32_t i = 0; i < count; i++) {
        if (timers[i].id != (uint32_t)id) continue;
        discard(remove_at(i));
        break;
    }
    return JS_UNDEFINED;
}

bool timers_next(double *due) {
    if (count) *due = timers[0].due;
    return count > 0;
}

static JSValue run(const struct timer *timer) {
    JSValue argv[16];
    int64_t argc = 0;
    if (!JS_IsUndefined(timer->arguments)) JS_GetLength(context, timer->arguments, &argc);
    if (argc > 16) argc = 16;
    for (int i = 0; i < argc; i++) argv[i] = JS_GetPropertyUint32(context, timer->arguments, i);
    JSValue result = JS_Call(context, timer->function, JS_UNDEFINED, argc, argv);
    for (int i = 0; i < argc; i++) JS_FreeValue(context, argv[i]);
    return result;
}

bool timers_run_one(double until) {
    if (!count || timers[0].due > until) return false;
    struct timer timer = remove_at(0);
    if (timer.every >= 0) {
        struct timer next = timer;
        next.due = fmax(timer.due, now_ms()) + fmax(timer.every, 1);
        JS_DupValue(context, next.function);
        JS_DupValue(context, next.arguments);
        insert(context, next); /* there is room: one was just taken out */
    }
    JSValue result = run(&timer);
    if (JS_IsException(result)) program_fail_outside();
    JS_FreeValue(context, result);
    discard(timer);
    return true;
}

uint32_t timers_drop(void) {
    uint32_t once = 0;
    while (count) {
        struct timer timer = remove_at(count - 1);
        once += timer.every < 0;
        discard(timer);
    }
    return once;
}
