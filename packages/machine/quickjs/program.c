/* The life of one program: compile, run until nothing is left to run, wait, take one answer, go on; then the calls that
 * are still under way; then the result. Answers enter only here, when no guest code is runnable. */
#include "guest.h"
#include "codec.h"

struct program program = {.file = JS_ATOM_NULL};
static JSValue code; /* for the source line of an error */

void program_fail_outside(void) {
    JSValue error = JS_GetException(context);
    if (program.failed_outside) {
        JS_FreeValue(context, error);
        return;
    }
    program.failed_outside = true;
    program.outside_error = error;
}

static void run_jobs(void) {
    JSContext *ctx;
    while (JS_IsJobPending(runtime))
        if (JS_ExecutePendingJob(runtime, &ctx) < 0) program_fail_outside();
}

/* Returns the promise of the program's end, or an exception. */
static JSValue begin(bool shared) {
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, code), *file = JS_AtomToCString(context, program.file);
    int flags = JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC | JS_EVAL_FLAG_BODY | JS_EVAL_FLAG_COMPILE_ONLY | (shared ? JS_EVAL_FLAG_GLOBAL_BODY : 0);
    JSValue function = text && file ? JS_Eval(context, text, length, file, flags) : JS_EXCEPTION;
    JS_FreeCString(context, text);
    JS_FreeCString(context, file);
    program.unparsed = JS_IsException(function);
    if (program.unparsed) return JS_EXCEPTION;
    JSValue promise = engine_start_body(context, function, &program.body);
    if (!JS_IsException(promise)) JS_PromiseMarkAsHandled(context, promise);
    return promise;
}

/* Says "wait" and lets the one reply in. */
static void wait_for_reply(bool with_timers) {
    struct bytes message = {0};
    double due;
    bool timed = with_timers && timers_next(&due);
    encode_record(&message, 2);
    encode_key(&message, "say");
    encode_text(&message, "wait", 4);
    encode_key(&message, "due");
    if (timed) encode_number(&message, due);
    else bytes_byte(&message, 1);
    JSValue reply = converse(&message);
    bytes_free(&message);
    if (JS_IsException(reply)) {
        calls_lose();
        return;
    }

    JSValue verb = own_property(reply, "do");
    const char *text = JS_ToCString(context, verb);
    bool answer = text && strcmp(text, "answer") == 0;
    JS_FreeCString(context, text);
    JS_FreeValue(context, verb);
    if (answer) {
        calls_answer(reply);
    } else if (timed) {
        double until = now_ms() > due ? now_ms() : due;
        while (!program.failed_outside && timers_run_one(until)) run_jobs();
    }
    JS_FreeValue(context, reply);
}

static bool settled(JSValueConst promise) { return program.failed_outside || JS_PromiseState(context, promise) != JS_PROMISE_PENDING; }

/* Until the program's promise is settled. Nothing to wait for any more is an error of its own. */
static void live(JSValueConst promise) {
    double due;
    for (run_jobs(); !settled(promise); run_jobs()) {
        if (!calls_pending() && !timers_next(&due)) {
            JS_ThrowPlainError(context, "the program waits for a promise that nothing will settle: no tool call and no timer is pending");
            program_fail_outside();
            return;
        }
        wait_for_reply(true);
    }
}

static void say(struct bytes *message, const char *what, const char *key) {
    message->length = 0;
    encode_record(message, 2);
    encode_key(message, "say");
    encode_text(message, what, strlen(what));
    encode_key(message, key);
}

static void say_failed(struct bytes *message, JSValueConst error) {
    say(message, "failed", "error");
    encode_failure(context, message, error, code);
    if (!message->failed) return;
    message->failed = false; /* no room even for that */
    say(message, "failed", "error");
    encode_failure_without_room(message);
}

static void say_done(struct bytes *message, JSValueConst value, bool returned) {
    say(message, "done", "value");
    if (encode_value(context, message, value, "result") == 0) return;
    JSValue error = JS_GetException(context);
    message->failed = false;
    if (returned) {
        say_failed(message, error);
    } else {
        /* Nobody asked for the value of the last expression to leave. */
        say(message, "done", "value");
        bytes_byte(message, 0);
    }
    JS_FreeValue(context, error);
}

void program_refuse(struct bytes *message) {
    JS_FreeValue(context, JS_GetException(context));
    say(message, "failed", "error");
    encode_failure_without_room(message);
}

static void finish(JSValueConst promise, struct bytes *message) {
    JSValue outcome = program.failed_outside ? program.outside_error : JS_PromiseResult(context, promise);
    bool failed = program.failed_outside || JS_PromiseState(context, promise) == JS_PROMISE_REJECTED;
    bool returned = !engine_take_body_completed(context);
    uint32_t dropped = timers_drop();

    calls_close();
    while (calls_pending()) {
        wait_for_reply(false);
        run_jobs();
        timers_drop();
    }
    /* Encoding runs toJSON and getters of the program, and may leave jobs. */
    if (failed) say_failed(message, outcome);
    else say_done(message, outcome, returned);
    run_jobs();
    timers_drop();
    if (dropped && !failed)
        note_finding("A setTimeout had not run when the program ended, and was dropped. Await a promise for what must still happen.", 0);
    rejections_report(failed ? outcome : JS_UNINITIALIZED);
    calls_forget();
    JS_FreeValue(context, outcome);
}

static void set_up(JSValueConst start) {
    JSValue file = own_property(start, "file"), seed = own_property(start, "seed");
    const uint8_t *bytes;
    size_t length;
    uint64_t state = 1;
    if (engine_bytes(context, seed, &bytes, &length) && length >= 8) memcpy(&state, bytes, 8);
    engine_seed(context, state);
    JS_FreeAtom(context, program.file);
    program.file = JS_ValueToAtom(context, file);
    JS_FreeValue(context, file);
    JS_FreeValue(context, seed);
    program.failed_outside = program.unparsed = false;
    program.outside_error = JS_UNDEFINED;
    program.body = NULL;
}

void program_run(JSValueConst start, struct bytes *message) {
    set_up(start);
    code = own_property(start, "code");
    JSValue shared = own_property(start, "shared");
    bool keep = JS_ToBool(context, shared);
    engine_set_redeclare(context, keep);
    calls_open();
    /* The prelude takes away Markdown fences and puts tools and input in place. */
    JSValue prepared = JS_Call(context, prepare_function, JS_UNDEFINED, 1, &start);
    JSValue promise = JS_EXCEPTION;
    if (!JS_IsException(prepared)) {
        JS_FreeValue(context, code);
        code = prepared;
        promise = begin(keep);
    }
    if (JS_IsException(promise)) {
        promise = JS_UNDEFINED;
        program_fail_outside();
    } else {
        live(promise);
    }
    finish(promise, message);
    engine_free_body(runtime, program.body);
    program.body = NULL;
    JS_FreeValue(context, promise);
    JS_FreeValue(context, code);
    code = JS_UNDEFINED;
}
