/* The fast loop. It is on the list of what Asyncify leaves alone: nothing that it calls may stop. */

static no_inline enum leave js_fast(struct activation *a)
{
    JSContext *ctx = a->ctx;
    JSValue *var_buf = a->var_buf, *arg_buf = a->arg_buf, *sp = a->sp;
    JSVarRef **var_refs = a->var_refs;
    const uint8_t *pc = a->pc, *from = NULL; /* from: where the last jump was */
    enum leave leave;
    int call_argc;

#define NEXT continue
#define LEAVE(why) do { leave = (why); goto leave; } while (0)
/* Gives the instruction back, whose code and first n - 1 operand bytes were taken. */
#define STEP(n) do { pc -= (n); goto step; } while (0)
#define PUSH(v) do { JSValue pushed = (v); *sp++ = pushed; } while (0)
#define JUMP(distance) do { const uint8_t *to = pc + (distance); from = pc; pc = to; } while (0)
#define POLL() do { if (unlikely(--fermata_status.fuel < 0)) goto poll; } while (0)

    if (a->call_drop) {
        JSValue *bottom = sp - (a->call_drop & ~TAIL_CALL);
        bool tail = a->call_drop & TAIL_CALL;
        a->call_drop = 0;
        while (sp > bottom)
            fast_free(ctx, *--sp);
        if (tail)
            goto done;
        *sp++ = a->result;
    }
    for (;;) {
        switch (*pc++) {
        case OP_push_i32: PUSH(js_int32(get_u32(pc))); pc += 4; NEXT;
        case OP_push_i16: PUSH(js_int32(get_i16(pc))); pc += 2; NEXT;
        case OP_push_i8: PUSH(js_int32(get_i8(pc))); pc += 1; NEXT;
        case OP_push_minus1: PUSH(js_int32(-1)); NEXT;
        case OP_push_0: PUSH(js_int32(0)); NEXT;
        case OP_push_1: PUSH(js_int32(1)); NEXT;
        case OP_push_2: PUSH(js_int32(2)); NEXT;
        case OP_push_3: PUSH(js_int32(3)); NEXT;
        case OP_push_4: PUSH(js_int32(4)); NEXT;
        case OP_push_5: PUSH(js_int32(5)); NEXT;
        case OP_push_6: PUSH(js_int32(6)); NEXT;
        case OP_push_7: PUSH(js_int32(7)); NEXT;
        case OP_push_bigint_i32: PUSH(__JS_NewShortBigInt(ctx, (int)get_u32(pc))); pc += 4; NEXT;
        case OP_push_const: PUSH(js_dup(a->b->cpool[get_u32(pc)])); pc += 4; NEXT;
        case OP_push_const8: PUSH(js_dup(a->b->cpool[*pc])); pc += 1; NEXT;
        case OP_push_atom_value: PUSH(JS_AtomToValue(ctx, get_u32(pc))); pc += 4; NEXT;
        case OP_push_empty_string: PUSH(js_empty_string(ctx->rt)); NEXT;
        case OP_undefined: PUSH(JS_UNDEFINED); NEXT;
        case OP_null: PUSH(JS_NULL); NEXT;
        case OP_push_false: PUSH(JS_FALSE); NEXT;
        case OP_push_true: PUSH(JS_TRUE); NEXT;
        case OP_push_this:
            if (JS_VALUE_GET_TAG(a->this_obj) != JS_TAG_OBJECT && !a->b->is_strict_mode)
                STEP(1);
            PUSH(js_dup(a->this_obj));
            NEXT;

        case OP_fclosure:
        case OP_fclosure8: {
            bool wide = pc[-1] == OP_fclosure;
            JSValue v = js_closure(ctx, js_dup(a->b->cpool[wide ? get_u32(pc) : *pc]), var_refs, a->sf);
            pc += wide ? 4 : 1;
            *sp++ = v;
            if (unlikely(JS_IsException(v)))
                LEAVE(LEAVE_THROW);
            NEXT;
        }
        case OP_object: {
            JSValue v = JS_NewObject(ctx);
            *sp++ = v;
            if (unlikely(JS_IsException(v)))
                LEAVE(LEAVE_THROW);
            NEXT;
        }
        case OP_array_from: {
            int count = get_u16(pc);
            JSValue v = JS_NewArrayFrom(ctx, count, sp - count);
            pc += 2;
            sp -= count;
            if (unlikely(JS_IsException(v)))
                LEAVE(LEAVE_THROW);
            *sp++ = v;
            NEXT;
        }

        case OP_drop: sp--; fast_free(ctx, *sp); NEXT;
        case OP_nip: { JSValue v = sp[-2]; sp[-2] = sp[-1]; sp--; fast_free(ctx, v); NEXT; }
        case OP_nip1: { JSValue v = sp[-3]; sp[-3] = sp[-2]; sp[-2] = sp[-1]; sp--; fast_free(ctx, v); NEXT; }
        case OP_dup: sp[0] = js_dup(sp[-1]); sp++; NEXT;
        case OP_dup1: sp[0] = sp[-1]; sp[-1] = js_dup(sp[-2]); sp++; NEXT;
        case OP_dup2: sp[0] = js_dup(sp[-2]); sp[1] = js_dup(sp[-1]); sp += 2; NEXT;
        case OP_dup3: sp[0] = js_dup(sp[-3]); sp[1] = js_dup(sp[-2]); sp[2] = js_dup(sp[-1]); sp += 3; NEXT;
        case OP_insert2: sp[0] = sp[-1]; sp[-1] = sp[-2]; sp[-2] = js_dup(sp[0]); sp++; NEXT;
        case OP_insert3: sp[0] = sp[-1]; sp[-1] = sp[-2]; sp[-2] = sp[-3]; sp[-3] = js_dup(sp[0]); sp++; NEXT;
        case OP_insert4:
            sp[0] = sp[-1]; sp[-1] = sp[-2]; sp[-2] = sp[-3]; sp[-3] = sp[-4]; sp[-4] = js_dup(sp[0]); sp++;
            NEXT;
        case OP_perm3: { JSValue v = sp[-2]; sp[-2] = sp[-3]; sp[-3] = v; NEXT; }
        case OP_perm4: { JSValue v = sp[-2]; sp[-2] = sp[-3]; sp[-3] = sp[-4]; sp[-4] = v; NEXT; }
        case OP_perm5: { JSValue v = sp[-2]; sp[-2] = sp[-3]; sp[-3] = sp[-4]; sp[-4] = sp[-5]; sp[-5] = v; NEXT; }
        case OP_rot3l: { JSValue v = sp[-3]; sp[-3] = sp[-2]; sp[-2] = sp[-1]; sp[-1] = v; NEXT; }
        case OP_rot3r: { JSValue v = sp[-1]; sp[-1] = sp[-2]; sp[-2] = sp[-3]; sp[-3] = v; NEXT; }
        case OP_rot4l: { JSValue v = sp[-4]; sp[-4] = sp[-3]; sp[-3] = sp[-2]; sp[-2] = sp[-1]; sp[-1] = v; NEXT; }
        case OP_swap: { JSValue v = sp[-2]; sp[-2] = sp[-1]; sp[-1] = v; NEXT; }

        case OP_call0: call_argc = 0; goto call;
        case OP_call1: call_argc = 1; goto call;
        case OP_call2: call_argc = 2; goto call;
        case OP_call3: call_argc = 3; goto call;
        case OP_call:
            call_argc = get_u16(pc);
            pc += 2;
        call:
            a->call_drop = call_argc + 1;
            goto leave_for_call;
        case OP_tail_call:
            call_argc = get_u16(pc);
            pc += 2;
            a->call_drop = (call_argc + 1) | TAIL_CALL;
            goto leave_for_call;
        case OP_call_method: {
            JSValue v;
            call_argc = get_u16(pc);
            pc += 2;
            if (fast_math(sp[-1 - call_argc], call_argc, vc(sp - call_argc), &v)) {
                while (call_argc-- > -2)
                    fast_free(ctx, *--sp);
                *sp++ = v;
                NEXT;
            }
            a->call_drop = call_argc + 2;
            a->call_argc = call_argc;
            a->call_this = sp[-2 - call_argc];
            LEAVE(call_leave(ctx, sp[-1 - call_argc]));
        }
        case OP_tail_call_method:
            call_argc = get_u16(pc);
            pc += 2;
            a->call_drop = (call_argc + 2) | TAIL_CALL;
            a->call_argc = call_argc;
            a->call_this = sp[-2 - call_argc];
            LEAVE(call_leave(ctx, sp[-1 - call_argc]));
        case OP_call_constructor:
            call_argc = get_u16(pc);
            pc += 2;
            a->call_argc = call_argc;
            a->call_drop = call_argc + 2;
            LEAVE(LEAVE_CONSTRUCT);
        case OP_return:
            a->result = *--sp;
            goto done;
        case OP_return_undef: /* there need not be room on the stack: the compiler leaves out a drop just before */
            a->result = JS_UNDEFINED;
            goto done;

        case OP_get_var:
        case OP_get_var_undef: {
            JSProperty *pr;
            JSShapeProperty *prs = find_own_property(&pr, JS_VALUE_GET_OBJ(ctx->global_var_obj), get_u32(pc));
            if (!prs)
                prs = find_own_property(&pr, JS_VALUE_GET_OBJ(ctx->global_obj), get_u32(pc));
            if (unlikely(!prs || (prs->flags & JS_PROP_TMASK) || JS_IsUninitialized(pr->u.value)))
                STEP(1);
            PUSH(js_dup(pr->u.value));
            pc += 4;
            NEXT;
        }

#define EACH_BUFFER(DO) DO(loc, var_buf) DO(arg, arg_buf)
#define VARIABLE(kind, buf)                                                                                         \
        case OP_get_##kind: PUSH(js_dup(buf[get_u16(pc)])); pc += 2; NEXT;                                          \
        case OP_put_##kind: sp--; fast_set(ctx, &buf[get_u16(pc)], *sp); pc += 2; NEXT;                             \
        case OP_set_##kind: fast_set(ctx, &buf[get_u16(pc)], js_dup(sp[-1])); pc += 2; NEXT;                        \
        case OP_get_##kind##0: PUSH(js_dup(buf[0])); NEXT;                                                          \
        case OP_get_##kind##1: PUSH(js_dup(buf[1])); NEXT;                                                          \
        case OP_get_##kind##2: PUSH(js_dup(buf[2])); NEXT;                                                          \
        case OP_get_##kind##3: PUSH(js_dup(buf[3])); NEXT;                                                          \
        case OP_put_##kind##0: sp--; fast_set(ctx, &buf[0], *sp); NEXT;                                             \
        case OP_put_##kind##1: sp--; fast_set(ctx, &buf[1], *sp); NEXT;                                             \
        case OP_put_##kind##2: sp--; fast_set(ctx, &buf[2], *sp); NEXT;                                             \
        case OP_put_##kind##3: sp--; fast_set(ctx, &buf[3], *sp); NEXT;                                             \
        case OP_set_##kind##0: fast_set(ctx, &buf[0], js_dup(sp[-1])); NEXT;                                        \
        case OP_set_##kind##1: fast_set(ctx, &buf[1], js_dup(sp[-1])); NEXT;                                        \
        case OP_set_##kind##2: fast_set(ctx, &buf[2], js_dup(sp[-1])); NEXT;                                        \
        case OP_set_##kind##3: fast_set(ctx, &buf[3], js_dup(sp[-1])); NEXT;
        EACH_BUFFER(VARIABLE)
        case OP_get_loc8: PUSH(js_dup(var_buf[*pc])); pc += 1; NEXT;
        case OP_put_loc8: sp--; fast_set(ctx, &var_buf[*pc], *sp); pc += 1; NEXT;
        case OP_set_loc8: fast_set(ctx, &var_buf[*pc], js_dup(sp[-1])); pc += 1; NEXT;
        case OP_get_loc0_loc1: sp[0] = js_dup(var_buf[0]); sp[1] = js_dup(var_buf[1]); sp += 2; NEXT;
        case OP_set_loc_uninitialized: fast_set(ctx, &var_buf[get_u16(pc)], JS_UNINITIALIZED); pc += 2; NEXT;
        case OP_get_loc_check:
            if (unlikely(JS_IsUninitialized(var_buf[get_u16(pc)])))
                STEP(1);
            PUSH(js_dup(var_buf[get_u16(pc)]));
            pc += 2;
            NEXT;
        case OP_put_loc_check:
            if (unlikely(JS_IsUninitialized(var_buf[get_u16(pc)])))
                STEP(1);
            sp--;
            fast_set(ctx, &var_buf[get_u16(pc)], *sp);
            pc += 2;
            NEXT;
        case OP_close_loc: close_lexical_var(ctx, a->b, a->sf, get_u16(pc)); pc += 2; NEXT;

#define REFERENCE(n)                                                                                                \
        case OP_get_var_ref##n: PUSH(js_dup(*var_refs[n]->pvalue)); NEXT;                                           \
        case OP_put_var_ref##n: sp--; fast_set(ctx, var_refs[n]->pvalue, *sp); NEXT;                                \
        case OP_set_var_ref##n: fast_set(ctx, var_refs[n]->pvalue, js_dup(sp[-1])); NEXT;
        REFERENCE(0) REFERENCE(1) REFERENCE(2) REFERENCE(3)
        case OP_get_var_ref: PUSH(js_dup(*var_refs[get_u16(pc)]->pvalue)); pc += 2; NEXT;
        case OP_put_var_ref: sp--; fast_set(ctx, var_refs[get_u16(pc)]->pvalue, *sp); pc += 2; NEXT;
        case OP_set_var_ref: fast_set(ctx, var_refs[get_u16(pc)]->pvalue, js_dup(sp[-1])); pc += 2; NEXT;
        case OP_get_var_ref_check: {
            JSValue v = *var_refs[get_u16(pc)]->pvalue;
            if (unlikely(JS_IsUninitialized(v)))
                STEP(1);
            PUSH(js_dup(v));
            pc += 2;
            NEXT;
        }
        case OP_put_var_ref_check: {
            JSValue *at = var_refs[get_u16(pc)]->pvalue;
            if (unlikely(JS_IsUninitialized(*at)))
                STEP(1);
            sp--;
            fast_set(ctx, at, *sp);
            pc += 2;
            NEXT;
        }

        /* Every loop has a jump backwards: only those are checks. */
        case OP_goto: JUMP((int32_t)get_u32(pc)); POLL(); NEXT;
        case OP_goto16: JUMP((int16_t)get_u16(pc)); POLL(); NEXT;
        case OP_goto8: JUMP((int8_t)pc[0]); POLL(); NEXT;
#define BRANCH(name, want, width, distance)                                                                         \
        case name: {                                                                                                \
            JSValue v = sp[-1];                                                                                     \
            int truth = (uint32_t)JS_VALUE_GET_TAG(v) <= JS_TAG_UNDEFINED ? JS_VALUE_GET_INT(v) : JS_ToBoolFree(ctx, v); \
            sp--;                                                                                                   \
            if ((truth != 0) == want) {                                                                             \
                int32_t by = (distance);                                                                            \
                JUMP(by);                                                                                            \
                if (by < 0)                                                                                         \
                    POLL();                                                                                         \
            } else {                                                                                                \
                pc += width;                                                                                        \
            }                                                                                                       \
            NEXT;                                                                                                   \
        }
        BRANCH(OP_if_true, true, 4, (int32_t)get_u32(pc))
        BRANCH(OP_if_false, false, 4, (int32_t)get_u32(pc))
        BRANCH(OP_if_true8, true, 1, (int8_t)pc[0])
        BRANCH(OP_if_false8, false, 1, (int8_t)pc[0])
        case OP_catch: PUSH(JS_NewCatchOffset(ctx, pc + (int32_t)get_u32(pc) - a->b->byte_code_buf)); pc += 4; NEXT;
        case OP_gosub: PUSH(js_int32(pc + 4 - a->b->byte_code_buf)); pc += (int32_t)get_u32(pc); NEXT;
        case OP_ret:
            if (unlikely(JS_VALUE_GET_TAG(sp[-1]) != JS_TAG_INT || (uint32_t)JS_VALUE_GET_INT(sp[-1]) >= a->b->byte_code_len))
                STEP(1);
            sp--;
            pc = a->b->byte_code_buf + JS_VALUE_GET_INT(*sp);
            NEXT;
        case OP_nop: NEXT;

#include "interpreter-properties.c"
#include "interpreter-numbers.c"

        case OP_typeof: {
            JSValue v = sp[-1];
            sp[-1] = JS_AtomToString(ctx, js_operator_typeof(ctx, v));
            fast_free(ctx, v);
            NEXT;
        }
#define ASK(name, answer)                                                                                           \
        case name: {                                                                                                \
            JSValue v = sp[-1];                                                                                     \
            sp[-1] = js_bool(answer);                                                                               \
            fast_free(ctx, v);                                                                                      \
            NEXT;                                                                                                   \
        }
        ASK(OP_is_undefined_or_null, JS_VALUE_GET_TAG(v) == JS_TAG_UNDEFINED || JS_VALUE_GET_TAG(v) == JS_TAG_NULL)
        ASK(OP_is_undefined, JS_VALUE_GET_TAG(v) == JS_TAG_UNDEFINED)
        ASK(OP_is_null, JS_VALUE_GET_TAG(v) == JS_TAG_NULL)
        ASK(OP_typeof_is_undefined, js_operator_typeof(ctx, v) == JS_ATOM_undefined)
        ASK(OP_typeof_is_function, js_operator_typeof(ctx, v) == JS_ATOM_function)
        case OP_to_object:
            if (JS_VALUE_GET_TAG(sp[-1]) != JS_TAG_OBJECT)
                STEP(1);
            NEXT;
        case OP_to_propkey2:
            if (JS_IsUndefined(sp[-2]) || JS_IsNull(sp[-2]))
                STEP(1);
            /* fall through */
        case OP_to_propkey: {
            int tag = JS_VALUE_GET_TAG(sp[-1]);
            if (tag != JS_TAG_INT && tag != JS_TAG_STRING && tag != JS_TAG_SYMBOL)
                STEP(1);
            NEXT;
        }
        default:
            STEP(1);
        }
    }
leave_for_call:
    a->call_argc = call_argc;
    a->call_this = JS_UNDEFINED;
    LEAVE(call_leave(ctx, sp[-1 - call_argc]));
done:
    fast_finish(a, sp);
    LEAVE(LEAVE_DONE);
poll:
    /* A jump keeps no cur_pc, but who stops here wants the line. What it was is put back after, because what lies in memory
       must not depend on where the stops were. */
    a->result = (uintptr_t)a->sf->cur_pc;
    a->sf->cur_pc = (uint8_t *)from;
    LEAVE(LEAVE_POLL);
step:
    leave = LEAVE_STEP;
leave:
    a->pc = (uint8_t *)pc;
    a->sp = sp;
    return leave;
}
