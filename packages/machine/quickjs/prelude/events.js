// Event, CustomEvent, EventTarget, AbortController, AbortSignal.
(function (natives, shared) {
  'use strict';
  const { push, sliceList, splice, mapGet, mapSet, Map, String, TypeError } = shared.js;
  const { setTimer, now } = natives;

  class Event {
    #type;
    #options;
    #stopped = false;
    defaultPrevented = false;
    target = null;
    currentTarget = null;
    timeStamp = now();
    constructor(type, options = {}) {
      this.#type = String(type);
      this.#options = options ?? {};
    }
    get type() {
      return this.#type;
    }
    get bubbles() {
      return !!this.#options.bubbles;
    }
    get cancelable() {
      return !!this.#options.cancelable;
    }
    preventDefault() {
      if (this.cancelable) this.defaultPrevented = true;
    }
    stopPropagation() {}
    stopImmediatePropagation() {
      this.#stopped = true;
    }
    static isStopped(event) {
      return event.#stopped;
    }
  }
  const { isStopped } = Event;
  delete Event.isStopped;

  class CustomEvent extends Event {
    #detail;
    constructor(type, options) {
      super(type, options);
      this.#detail = options?.detail ?? null;
    }
    get detail() {
      return this.#detail;
    }
  }

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      const name = String(type);
      const list = mapGet(this.#listeners, name) ?? [];
      mapSet(this.#listeners, name, list);
      for (let i = 0; i < list.length; i++) if (list[i].callback === callback) return;
      const { once = false, signal } = typeof options === 'object' && options !== null ? options : {};
      if (signal?.aborted) return;
      push(list, { callback, once });
      signal?.addEventListener('abort', () => this.removeEventListener(name, callback), { once: true });
    }
    removeEventListener(type, callback) {
      const list = mapGet(this.#listeners, String(type)) ?? [];
      for (let i = 0; i < list.length; i++) {
        if (list[i].callback !== callback) continue;
        splice(list, i, 1);
        return;
      }
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('dispatchEvent: an Event is needed');
      event.target = this;
      event.currentTarget = this;
      const list = sliceList(mapGet(this.#listeners, event.type) ?? []);
      const handler = this[`on${event.type}`];
      if (typeof handler === 'function') push(list, { callback: handler, once: false });
      for (let i = 0; i < list.length && !isStopped(event); i++) {
        const { callback, once } = list[i];
        if (once) this.removeEventListener(event.type, callback);
        if (typeof callback === 'function') shared.js.apply(callback, this, [event]);
        else callback.handleEvent(event);
      }
      event.currentTarget = null;
      return !event.defaultPrevented;
    }
  }

  const key = Symbol('construct');
  let abort;
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    onabort = null;
    constructor(secret) {
      if (secret !== key) throw new TypeError('Illegal constructor');
      super();
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    static abort(reason) {
      const signal = new AbortSignal(key);
      abort(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(key);
      setTimer(() => abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), +ms || 0, false, undefined);
      return signal;
    }
    static any(signals) {
      const all = new AbortSignal(key);
      for (const signal of signals) {
        if (signal.aborted) {
          abort(all, signal.reason);
          break;
        }
        signal.addEventListener('abort', () => abort(all, signal.reason), { once: true });
      }
      return all;
    }
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
        signal.dispatchEvent(new Event('abort'));
      };
    }
  }

  class AbortController {
    #signal = new AbortSignal(key);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      abort(this.#signal, reason);
    }
  }

  const all = { Event, CustomEvent, EventTarget, AbortSignal, AbortController };
  for (const name of Object.keys(all)) {
    shared.tag(all[name], name);
    shared.global(name, all[name]);
  }
})
