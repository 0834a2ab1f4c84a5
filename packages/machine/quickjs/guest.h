/* What the parts of the bridge share. One runtime, one context, one program at a time. */
#ifndef GUEST_H
#define GUEST_H
#include "bytes.h"
#include "codec.h"
#include "engine.h"
#include "fermata.h"
#include "quickjs.h"

extern JSRuntime *runtime;
extern JSContext *context;

/* The line of the user's code that runs now (or where the program waits); 0 if none. */
void user_place(uint32_t *line, uint32_t *column);
double now_ms(void);

/* A field of a message from the host; never one that the program put on Object.prototype. */
JSValue own_property(JSValueConst record, const char *key);

/* memory.c */
extern const JSMallocFunctions memory_functions;

/* notes.c */
void note_finding(const char *message, uint32_t line);
JSValue native_note(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv);

/* calls.c */
extern JSValue tool_error_prototype; /* of the prelude's ToolError */
JSValue native_call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv);
void calls_open(void);
void calls_close(void); /* from here on no call may start */
bool calls_pending(void);
void calls_answer(JSValueConst reply);
void calls_lose(void); /* an answer did not come through: takes the pending exception */
void calls_forget(void); /* reports answers that nobody looked at */

/* timers.c */
JSValue native_set_timer(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv);
JSValue native_clear_timer(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv);
bool timers_next(double *due);
bool timers_run_one(double until); /* false: none is due */
uint32_t timers_drop(void);        /* how many one-time timers never ran */

/* rejections.c */
void rejections_watch(void);
void rejections_report(JSValueConst except);

/* failure.c */
void encode_failure(JSContext *ctx, struct bytes *out, JSValueConst error, JSValueConst code);
/* The same where there is no memory left to say more. */
void encode_failure_without_room(struct bytes *out);
/* "Name: message" of anything that was thrown; runs no user code for an Error that was left as it is. */
void failure_summary(JSContext *ctx, struct bytes *out, JSValueConst error);
/* The first line of the user's code in its stack, 0 if there is none. */
uint32_t failure_line(JSContext *ctx, JSValueConst error);

/* natives.c and files.c: the functions that only the prelude sees. */
JSValue natives_new(void);
int files_add(JSContext *ctx, JSValue natives);
/* Lone surrogates, as the engine puts them into UTF-8, become U+FFFD. */
void replace_surrogates(uint8_t *text, size_t length);

/* inspect.c */
extern JSValue inspect_function; /* the prelude's, for values of locals */
extern JSValue prepare_function; /* (start message) -> code to run */

/* program.c */
struct program {
    void *body;
    JSAtom file;
    bool unparsed; /* it has a syntax error */
    bool failed_outside; /* an error that no promise holds: of a timer or a microtask */
    JSValue outside_error;
};
extern struct program program;
void program_fail_outside(void); /* takes the pending exception */
/* Runs one program to its end; leaves the message that says how it ended. */
void program_run(JSValueConst start, struct bytes *message);

/* The program itself, or its input, does not fit into memory. */
void program_refuse(struct bytes *message);

/* main.c: says something to the host and decodes the reply; an exception if that does not fit into memory. */
JSValue converse(const struct bytes *message);
#endif
