/* Cases of js_fast's switch: iteration, properties, elements of arrays. */

        case OP_for_of_next: {
            JSValue v;
            int at = -3 - pc[0];
            if (!fast_next(sp[at], sp[at + 1], &v))
                STEP(1);
            pc += 1;
            sp[0] = v;
            sp[1] = JS_FALSE;
            sp += 2;
            NEXT;
        }

        case OP_get_length: {
            JSValue v = sp[-1], length;
            if (JS_VALUE_GET_TAG(v) == JS_TAG_STRING) {
                length = js_int32(JS_VALUE_GET_STRING(v)->len);
            } else if (JS_VALUE_GET_TAG(v) == JS_TAG_STRING_ROPE) {
                length = js_int32(JS_VALUE_GET_STRING_ROPE(v)->len);
            } else if (JS_VALUE_GET_TAG(v) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(v)->class_id == JS_CLASS_ARRAY) {
                length = js_dup(JS_VALUE_GET_OBJ(v)->prop[0].u.value);
            } else {
                JSValue *found = JS_VALUE_GET_TAG(v) == JS_TAG_OBJECT ? fast_lookup(JS_VALUE_GET_OBJ(v), JS_ATOM_length) : NULL;
                if (!found)
                    STEP(1);
                length = js_dup(*found);
            }
            sp[-1] = length;
            fast_free(ctx, v);
            NEXT;
        }
        case OP_get_field:
        case OP_get_field2: {
            JSAtom atom = get_u32(pc);
            JSObject *p = fast_holder(ctx, sp[-1]);
            JSProperty *pr;
            JSShapeProperty *prs;
            JSValue *found;
            if (unlikely(!p || (atom == JS_ATOM_length && has_length_of_its_own(sp[-1]))))
                STEP(1);
            prs = find_own_property(&pr, p, atom);
            if (likely(prs && !(prs->flags & JS_PROP_TMASK)))
                found = &pr->u.value;
            else if (unlikely(prs || !(found = fast_lookup(p, atom))))
                STEP(1);
            if (pc[-1] == OP_get_field2) {
                PUSH(js_dup(*found));
            } else {
                JSValue v = sp[-1];
                sp[-1] = js_dup(*found);
                fast_free(ctx, v);
            }
            pc += 4;
            NEXT;
        }
        case OP_put_field: {
            JSAtom atom = get_u32(pc);
            JSValue obj = sp[-2];
            JSProperty *pr;
            JSShapeProperty *prs;
            if (unlikely(JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT))
                STEP(1);
            prs = find_own_property(&pr, JS_VALUE_GET_OBJ(obj), atom);
            if (likely(prs && (prs->flags & (JS_PROP_TMASK | JS_PROP_WRITABLE | JS_PROP_LENGTH)) == JS_PROP_WRITABLE))
                fast_set(ctx, &pr->u.value, sp[-1]);
            else if (prs || !fast_add_property(ctx, JS_VALUE_GET_OBJ(obj), atom, sp[-1], true))
                STEP(1);
            sp -= 2;
            fast_free(ctx, obj);
            pc += 4;
            NEXT;
        }
        case OP_define_field:
            if (JS_VALUE_GET_TAG(sp[-2]) != JS_TAG_OBJECT ||
                !fast_add_property(ctx, JS_VALUE_GET_OBJ(sp[-2]), get_u32(pc), sp[-1], false))
                STEP(1);
            sp--;
            pc += 4;
            NEXT;
        case OP_get_private_field: {
            JSProperty *pr;
            JSValue obj = sp[-2], name = sp[-1];
            if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT || JS_VALUE_GET_TAG(name) != JS_TAG_SYMBOL ||
                !find_own_property(&pr, JS_VALUE_GET_OBJ(obj), js_symbol_to_atom(ctx, name)))
                STEP(1);
            sp[-2] = js_dup(pr->u.value);
            sp--;
            fast_free(ctx, name);
            fast_free(ctx, obj);
            NEXT;
        }
        case OP_put_private_field: { /* obj value name */
            JSProperty *pr;
            JSValue obj = sp[-3], name = sp[-1];
            if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT || JS_VALUE_GET_TAG(name) != JS_TAG_SYMBOL ||
                !find_own_property(&pr, JS_VALUE_GET_OBJ(obj), js_symbol_to_atom(ctx, name)))
                STEP(1);
            fast_set(ctx, &pr->u.value, sp[-2]);
            sp -= 3;
            fast_free(ctx, name);
            fast_free(ctx, obj);
            NEXT;
        }

        case OP_get_array_el:
        case OP_get_array_el2: {
            JSValue obj = sp[-2], key = sp[-1], v;
            if (likely(JS_VALUE_GET_TAG(key) == JS_TAG_INT)) {
                uint32_t index = JS_VALUE_GET_INT(key);
                if (likely(JS_VALUE_GET_TAG(obj) == JS_TAG_OBJECT)) {
                    JSObject *p = JS_VALUE_GET_OBJ(obj);
                    if (likely(p->class_id == JS_CLASS_ARRAY && index < p->u.array.count))
                        v = js_dup(p->u.array.u.values[index]);
                    else if (!js_get_fast_array_element(ctx, p, index, &v))
                        STEP(1);
                } else if (JS_VALUE_GET_TAG(obj) == JS_TAG_STRING && index < JS_VALUE_GET_STRING(obj)->len) {
                    v = js_new_string_char(ctx, string_get(JS_VALUE_GET_STRING(obj), index));
                } else {
                    STEP(1);
                }
                if (unlikely(JS_IsException(v)))
                    LEAVE(LEAVE_THROW);
            } else {
                JSValue *found = fast_element(ctx, obj, key);
                if (!found)
                    STEP(1);
                v = js_dup(*found);
                fast_free(ctx, key);
            }
            if (pc[-1] == OP_get_array_el2) {
                sp[-1] = v;
            } else {
                sp[-2] = v;
                sp--;
                fast_free(ctx, obj);
            }
            NEXT;
        }
        case OP_put_array_el: {
            JSValue obj = sp[-3], value = sp[-1];
            uint32_t index = JS_VALUE_GET_INT(sp[-2]);
            JSObject *p;
            if (unlikely(JS_VALUE_GET_TAG(sp[-2]) != JS_TAG_INT || JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT))
                STEP(1);
            p = JS_VALUE_GET_OBJ(obj);
            if (unlikely(p->class_id != JS_CLASS_ARRAY)) {
                if (!fast_put_typed(ctx, p, index, value))
                    STEP(1);
            } else if (likely(index < p->u.array.count)) {
                fast_set(ctx, &p->u.array.u.values[index], value);
            } else if (index == p->u.array.count && p->fast_array && p->extensible && ctx->std_array_prototype &&
                       p->shape->proto == JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]) &&
                       JS_VALUE_GET_TAG(p->prop[0].u.value) == JS_TAG_INT &&
                       (get_shape_prop(p->shape)->flags & JS_PROP_WRITABLE) && index < p->u.array.u1.size) {
                p->u.array.u.values[index] = value;
                p->u.array.count = index + 1;
                if ((int)index >= JS_VALUE_GET_INT(p->prop[0].u.value))
                    p->prop[0].u.value = js_int32(index + 1);
            } else {
                STEP(1);
            }
            sp -= 3;
            fast_free(ctx, obj);
            NEXT;
        }
