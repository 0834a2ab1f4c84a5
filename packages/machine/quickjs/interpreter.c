/* The interpreter's fast loop, and JS_CallInternal around it. Part of quickjs.c.
 *
 * V8 compiles a function badly that Asyncify has rewritten, the more so the larger it is. So instructions are run in
 * three places:
 *
 *   js_fast          what can neither run user code nor stop: plain, and nearly everything that a program does
 *   js_step          one instruction, any one; upstream's interpreter, stoppable
 *   JS_CallInternal  small, stoppable: goes from one to the other, and makes the calls
 *
 * The fast loop takes an instruction only if it can finish it. What it cannot, it leaves as it was, with pc on it. Which
 * loop runs an instruction depends on values alone, never on fuel, so the fuel used and the memory left behind do not
 * depend on where the stops are: at a poll, too, it only leaves and comes back, and everything that it writes on
 * leaving is written again before anybody reads it.
 */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#include "interpreter-values.c"
#include "interpreter-loop.c"
#include "interpreter-call.c"
