/* Cases of js_fast's switch: arithmetic and comparisons. */

        case OP_add: {
            JSValue x = sp[-2], y = sp[-1];
            if (likely(JS_VALUE_IS_BOTH_INT(x, y))) {
                int r;
                if (unlikely(__builtin_add_overflow(JS_VALUE_GET_INT(x), JS_VALUE_GET_INT(y), &r)))
                    sp[-2] = js_float64((double)JS_VALUE_GET_INT(x) + JS_VALUE_GET_INT(y));
                else
                    sp[-2] = js_int32(r);
            } else if (likely(is_plain_number(x) && is_plain_number(y))) {
                sp[-2] = js_float64(plain_number(x) + plain_number(y));
            } else if ((tag_is_string(JS_VALUE_GET_TAG(x)) && (tag_is_string(JS_VALUE_GET_TAG(y)) || is_plain_number(y))) ||
                       (is_plain_number(x) && tag_is_string(JS_VALUE_GET_TAG(y)))) {
                JSValue v = JS_ConcatString(ctx, x, y);
                sp[-2] = v;
                if (unlikely(JS_IsException(v))) {
                    sp[-2] = sp[-1] = JS_UNDEFINED;
                    LEAVE(LEAVE_THROW);
                }
            } else {
                STEP(1);
            }
            sp--;
            NEXT;
        }
        case OP_add_loc: {
            JSValue *at = &var_buf[*pc], x = *at, y = sp[-1];
            if (likely(JS_VALUE_IS_BOTH_INT(x, y))) {
                int r;
                if (unlikely(__builtin_add_overflow(JS_VALUE_GET_INT(x), JS_VALUE_GET_INT(y), &r)))
                    *at = js_float64((double)JS_VALUE_GET_INT(x) + JS_VALUE_GET_INT(y));
                else
                    *at = js_int32(r);
            } else if (is_plain_number(x) && is_plain_number(y)) {
                *at = js_float64(plain_number(x) + plain_number(y));
            } else if (tag_is_string(JS_VALUE_GET_TAG(x)) && (tag_is_string(JS_VALUE_GET_TAG(y)) || is_plain_number(y))) {
                JSValue v = JS_ConcatString(ctx, js_dup(x), y);
                if (unlikely(JS_IsException(v))) {
                    sp--;
                    LEAVE(LEAVE_THROW);
                }
                fast_set(ctx, at, v);
            } else {
                STEP(1);
            }
            sp--;
            pc += 1;
            NEXT;
        }
        case OP_sub: {
            JSValue x = sp[-2], y = sp[-1];
            if (likely(JS_VALUE_IS_BOTH_INT(x, y))) {
                int r;
                if (unlikely(__builtin_sub_overflow(JS_VALUE_GET_INT(x), JS_VALUE_GET_INT(y), &r)))
                    sp[-2] = js_float64((double)JS_VALUE_GET_INT(x) - JS_VALUE_GET_INT(y));
                else
                    sp[-2] = js_int32(r);
            } else if (likely(is_plain_number(x) && is_plain_number(y))) {
                sp[-2] = js_float64(plain_number(x) - plain_number(y));
            } else {
                STEP(1);
            }
            sp--;
            NEXT;
        }
        case OP_mul: {
            JSValue x = sp[-2], y = sp[-1];
            if (likely(JS_VALUE_IS_BOTH_INT(x, y))) {
                int64_t r = (int64_t)JS_VALUE_GET_INT(x) * JS_VALUE_GET_INT(y);
                if (unlikely((int)r != r))
                    sp[-2] = js_float64((double)r);
                else if (unlikely(r == 0 && (JS_VALUE_GET_INT(x) | JS_VALUE_GET_INT(y)) < 0))
                    sp[-2] = js_float64(-0.0);
                else
                    sp[-2] = js_int32(r);
            } else if (likely(is_plain_number(x) && is_plain_number(y))) {
                sp[-2] = js_float64(plain_number(x) * plain_number(y));
            } else {
                STEP(1);
            }
            sp--;
            NEXT;
        }
        case OP_div:
            if (unlikely(!is_plain_number(sp[-2]) || !is_plain_number(sp[-1])))
                STEP(1);
            sp[-2] = js_number(plain_number(sp[-2]) / plain_number(sp[-1]));
            sp--;
            NEXT;
        case OP_mod: {
            JSValue x = sp[-2], y = sp[-1];
            if (likely(JS_VALUE_IS_BOTH_INT(x, y) && JS_VALUE_GET_INT(x) >= 0 && JS_VALUE_GET_INT(y) > 0))
                sp[-2] = js_int32(JS_VALUE_GET_INT(x) % JS_VALUE_GET_INT(y));
            else if (is_plain_number(x) && is_plain_number(y))
                js_binary_arith_slow(ctx, sp, OP_mod);
            else
                STEP(1);
            sp--;
            NEXT;
        }
        case OP_pow:
            if (!is_plain_number(sp[-2]) || !is_plain_number(sp[-1]))
                STEP(1);
            js_binary_arith_slow(ctx, sp, OP_pow);
            sp--;
            NEXT;
        case OP_plus:
            if (!is_plain_number(sp[-1]))
                STEP(1);
            NEXT;
        case OP_neg: {
            JSValue x = sp[-1];
            if (JS_VALUE_GET_TAG(x) == JS_TAG_INT && JS_VALUE_GET_INT(x) != 0 && JS_VALUE_GET_INT(x) != INT32_MIN)
                sp[-1] = js_int32(-JS_VALUE_GET_INT(x));
            else if (is_plain_number(x))
                sp[-1] = js_float64(-plain_number(x));
            else
                STEP(1);
            NEXT;
        }
#define INCREMENT(name, at, to, by, limit, operand)                                                                 \
        case name: {                                                                                                \
            JSValue x = (at);                                                                                       \
            if (likely(JS_VALUE_GET_TAG(x) == JS_TAG_INT && JS_VALUE_GET_INT(x) != (limit)))                        \
                to = js_int32(JS_VALUE_GET_INT(x) + (by));                                                          \
            else if (is_plain_number(x))                                                                            \
                to = js_float64(plain_number(x) + (by));                                                            \
            else                                                                                                    \
                STEP(1);                                                                                            \
            pc += operand;                                                                                          \
        }
        INCREMENT(OP_inc, sp[-1], sp[-1], 1, INT32_MAX, 0) NEXT;
        INCREMENT(OP_dec, sp[-1], sp[-1], -1, INT32_MIN, 0) NEXT;
        INCREMENT(OP_post_inc, sp[-1], sp[0], 1, INT32_MAX, 0) sp++; NEXT;
        INCREMENT(OP_post_dec, sp[-1], sp[0], -1, INT32_MIN, 0) sp++; NEXT;
        INCREMENT(OP_inc_loc, var_buf[*pc], var_buf[*pc], 1, INT32_MAX, 1) NEXT;
        INCREMENT(OP_dec_loc, var_buf[*pc], var_buf[*pc], -1, INT32_MIN, 1) NEXT;
        case OP_not:
            if (JS_VALUE_GET_TAG(sp[-1]) != JS_TAG_INT)
                STEP(1);
            sp[-1] = js_int32(~JS_VALUE_GET_INT(sp[-1]));
            NEXT;
#define LOGIC(name, result, otherwise)                                                                              \
        case name: {                                                                                                \
            JSValue x = sp[-2], y = sp[-1];                                                                         \
            if (likely(JS_VALUE_IS_BOTH_INT(x, y)))                                                                 \
                sp[-2] = (result);                                                                                  \
            else if (is_plain_number(x) && is_plain_number(y))                                                      \
                otherwise;                                                                                          \
            else                                                                                                    \
                STEP(1);                                                                                            \
            sp--;                                                                                                   \
            NEXT;                                                                                                   \
        }
        LOGIC(OP_and, js_int32(JS_VALUE_GET_INT(x) & JS_VALUE_GET_INT(y)), js_binary_logic_slow(ctx, sp, OP_and))
        LOGIC(OP_or, js_int32(JS_VALUE_GET_INT(x) | JS_VALUE_GET_INT(y)), js_binary_logic_slow(ctx, sp, OP_or))
        LOGIC(OP_xor, js_int32(JS_VALUE_GET_INT(x) ^ JS_VALUE_GET_INT(y)), js_binary_logic_slow(ctx, sp, OP_xor))
        LOGIC(OP_shl, js_int32((uint32_t)JS_VALUE_GET_INT(x) << (JS_VALUE_GET_INT(y) & 31)), js_binary_logic_slow(ctx, sp, OP_shl))
        LOGIC(OP_sar, js_int32(JS_VALUE_GET_INT(x) >> (JS_VALUE_GET_INT(y) & 31)), js_binary_logic_slow(ctx, sp, OP_sar))
        LOGIC(OP_shr, js_uint32((uint32_t)JS_VALUE_GET_INT(x) >> (JS_VALUE_GET_INT(y) & 31)), js_shr_slow(ctx, sp))

#define COMPARE(name, op)                                                                                           \
        case name: {                                                                                                \
            JSValue x = sp[-2], y = sp[-1];                                                                         \
            if (likely(JS_VALUE_IS_BOTH_INT(x, y)))                                                                 \
                sp[-2] = js_bool(JS_VALUE_GET_INT(x) op JS_VALUE_GET_INT(y));                                       \
            else if (is_plain_number(x) && is_plain_number(y))                                                      \
                sp[-2] = js_bool(plain_number(x) op plain_number(y));                                               \
            else if (tag_is_string(JS_VALUE_GET_TAG(x)) && tag_is_string(JS_VALUE_GET_TAG(y)))                      \
                js_relational_slow(ctx, sp, name);                                                                  \
            else                                                                                                    \
                STEP(1);                                                                                            \
            sp--;                                                                                                   \
            NEXT;                                                                                                   \
        }
        COMPARE(OP_lt, <)
        COMPARE(OP_lte, <=)
        COMPARE(OP_gt, >)
        COMPARE(OP_gte, >=)
#define EQUAL(name, op, is_strict, slow)                                                                            \
        case name: {                                                                                                \
            JSValue x = sp[-2], y = sp[-1];                                                                         \
            if (likely(JS_VALUE_IS_BOTH_INT(x, y)))                                                                 \
                sp[-2] = js_bool(JS_VALUE_GET_INT(x) op JS_VALUE_GET_INT(y));                                       \
            else if (is_strict || is_plain_comparison(x, y))                                                        \
                slow;                                                                                               \
            else                                                                                                    \
                STEP(1);                                                                                            \
            sp--;                                                                                                   \
            NEXT;                                                                                                   \
        }
        EQUAL(OP_eq, ==, false, (void)js_eq_slow(ctx, sp, 0))
        EQUAL(OP_neq, !=, false, (void)js_eq_slow(ctx, sp, 1))
        EQUAL(OP_strict_eq, ==, true, (void)js_strict_eq_slow(ctx, sp, 0))
        EQUAL(OP_strict_neq, !=, true, (void)js_strict_eq_slow(ctx, sp, 1))
        case OP_lnot: {
            JSValue v = sp[-1];
            int truth = (uint32_t)JS_VALUE_GET_TAG(v) <= JS_TAG_UNDEFINED ? JS_VALUE_GET_INT(v) : JS_ToBoolFree(ctx, v);
            sp[-1] = js_bool(!truth);
            NEXT;
        }
