// fetch, Request and Response. Each request is a call of the host, which judges, makes and records it; redirects are followed
// here, each by a request of its own.
(function (natives, shared) {
  'use strict';
  const { String, Uint8Array, TypeError, Promise, promiseThen, startsWith, endsWith, push, RangeError, slice } = shared.js;
  const { call, utf8Encode, utf8Decode, classOf } = natives;
  const { Headers, headerPairs } = shared;
  const { URL, URLSearchParams } = globalThis;
  const parseJson = JSON.parse;
  const toJson = JSON.stringify;
  const toUpperCase = Function.prototype.call.bind(String.prototype.toUpperCase);
  const asyncIterator = Symbol.asyncIterator;

  const READS = { __proto__: null, GET: true, HEAD: true, OPTIONS: true };
  const SENDS = { __proto__: null, POST: true, PUT: true, PATCH: true, DELETE: true };
  const MAX_REDIRECTS = 20;
  // They say who asks, to the host that was asked.
  const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];

  // Bytes, and the type that goes with them where none is said.
  function bodyOf(body) {
    if (body === undefined || body === null) return { bytes: undefined, type: undefined };
    if (typeof body === 'string') return { bytes: utf8Encode(body), type: 'text/plain;charset=UTF-8' };
    if (body instanceof URLSearchParams) return { bytes: utf8Encode(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    const kind = classOf(body) ?? '';
    if (kind === 'ArrayBuffer') return { bytes: new Uint8Array(body), type: undefined };
    if (endsWith(kind, 'Array') && kind !== 'Array') return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), type: undefined };
    if (kind === 'DataView') return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), type: undefined };
    if (typeof body === 'object') throw new TypeError('the body of a request is a text, bytes or URLSearchParams: turn an object into JSON with JSON.stringify(...)');
    return { bytes: utf8Encode(String(body)), type: 'text/plain;charset=UTF-8' };
  }

  // What Request and Response have in common.
  class Message {
    #bytes;
    #used = false;
    #headers;
    constructor(headers, body) {
      const { bytes, type } = bodyOf(body);
      this.#headers = headers;
      this.#bytes = bytes;
      if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
    }
    get headers() {
      return this.#headers;
    }
    get bodyUsed() {
      return this.#used;
    }
    get body() {
      if (this.#bytes === undefined) return null;
      const take = () => this.bytes();
      let done = false;
      const next = async () => {
        if (done) return { done: true, value: undefined };
        done = true;
        const value = await take();
        return value.length === 0 ? { done: true, value: undefined } : { done: false, value };
      };
      return { getReader: () => ({ read: next, releaseLock() {}, cancel: async () => {} }), cancel: async () => {}, [asyncIterator]: () => ({ next }) };
    }
    async bytes() {
      if (this.#used) throw new TypeError('Body is unusable: it has been read already');
      if (this.#bytes === undefined) return new Uint8Array(0);
      this.#used = true;
      return this.#bytes;
    }
    async arrayBuffer() {
      const bytes = await this.bytes();
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    }
    async text() {
      const text = utf8Decode(await this.bytes(), false);
      return startsWith(text, '\ufeff') ? slice(text, 1) : text;
    }
    async json() {
      return parseJson(await this.text());
    }
    static bytesOf(message) {
      if (message.#used) throw new TypeError('Body is unusable: it has been read already');
      return message.#bytes;
    }
  }
  const { bytesOf } = Message;
  delete Message.bytesOf;

  class Request extends Message {
    #url;
    #method;
    #redirect;
    #signal;
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : undefined;
      init ??= {};
      const method = toUpperCase(String(init.method ?? from?.method ?? 'GET'));
      const body = init.body ?? (from && bytesOf(from));
      if (body !== undefined && body !== null && (method === 'GET' || method === 'HEAD')) throw new TypeError('Request with GET/HEAD method cannot have body.');
      super(new Headers(init.headers ?? from?.headers), body);
      let url;
      try {
        url = new URL(from ? from.url : String(input));
      } catch (cause) {
        throw new TypeError(`Failed to parse URL from ${String(input)}`, { cause });
      }
      url.hash = '';
      this.#url = url.href;
      this.#method = method;
      this.#redirect = init.redirect ?? from?.redirect ?? 'follow';
      this.#signal = init.signal ?? from?.signal ?? null;
    }
    get url() {
      return this.#url;
    }
    get method() {
      return this.#method;
    }
    get redirect() {
      return this.#redirect;
    }
    get signal() {
      return this.#signal;
    }
    clone() {
      return new Request(this);
    }
  }

  let place;
  class Response extends Message {
    #status;
    #statusText;
    #url = '';
    #redirected = false;
    constructor(body = null, init = {}) {
      const status = init?.status ?? 200;
      if (!(status >= 200 && status <= 599)) throw new RangeError('The status of a Response is from 200 to 599');
      super(new Headers(init?.headers), body);
      this.#status = +status;
      this.#statusText = String(init?.statusText ?? '');
    }
    get status() {
      return this.#status;
    }
    get statusText() {
      return this.#statusText;
    }
    get ok() {
      return this.#status >= 200 && this.#status <= 299;
    }
    get url() {
      return this.#url;
    }
    get redirected() {
      return this.#redirected;
    }
    get type() {
      return this.#url === '' ? 'default' : 'basic';
    }
    clone() {
      const copy = new Response(bytesOf(this), { status: this.#status, statusText: this.#statusText, headers: this.headers });
      return place(copy, this.#url, this.#redirected);
    }
    static json(data, init = {}) {
      const headers = new Headers(init?.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(toJson(data), { status: init?.status, statusText: init?.statusText, headers });
    }
    static placed(response, url, redirected) {
      response.#url = url;
      response.#redirected = redirected;
      return response;
    }
  }
  place = Response.placed;
  delete Response.placed;

  const REASONS = {
    ...{ __proto__: null, 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content', 301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified' },
    ...{ 307: 'Temporary Redirect', 308: 'Permanent Redirect', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 409: 'Conflict' },
    ...{ 410: 'Gone', 418: "I'm a Teapot", 422: 'Unprocessable Entity', 429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway' },
    ...{ 503: 'Service Unavailable', 504: 'Gateway Timeout' },
  };

  function failed(error) {
    const off = error?.toolErrorName === 'UnknownTool';
    const why = off ? 'this task has no network. Have a tool fetch it, or give the task network_access to the host' : error?.message;
    return new TypeError(`fetch failed: ${why}`, { cause: error });
  }

  // Settles as soon as the signal says so; the call itself goes on.
  function heeding(signal, promise) {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort);
      const done = (settle) => (value) => {
        signal.removeEventListener('abort', abort);
        settle(value);
      };
      promiseThen(promise, done(resolve), done(reject));
    });
  }

  function asked(url, method, headers, bytes) {
    const name = READS[method] ? 'network.get' : SENDS[method] ? 'network.send' : undefined;
    if (name === undefined) throw new TypeError(`fetch: the method ${method} cannot be used`);
    const pairs = [];
    const own = headerPairs(headers);
    for (let i = 0; i < own.length; i++) push(pairs, own[i]);
    const args = { url, method, headers: pairs };
    if (bytes !== undefined) args.body = bytes;
    return promiseThen(call(name, args), undefined, (error) => {
      throw failed(error);
    });
  }

  async function fetch(input, init = undefined) {
    const request = new Request(input, init);
    const { signal, redirect } = request;
    const headers = new Headers(request.headers);
    let { url, method } = request;
    let bytes = bytesOf(request);
    for (let redirects = 0; ; redirects++) {
      if (signal?.aborted) throw signal.reason;
      const answer = await heeding(signal, asked(url, method, headers, bytes));
      const { status } = answer;
      const answered = new Headers(answer.headers);
      const location = answered.get('location');
      const leads = (status === 301 || status === 302 || status === 303 || status === 307 || status === 308) && location !== null;
      if (!leads || redirect === 'manual') {
        const empty = status === 204 || status === 205 || status === 304 || method === 'HEAD';
        return place(new Response(empty ? null : answer.body, { status, statusText: REASONS[status] ?? '', headers: answered }), url, redirects > 0);
      }
      if (redirect === 'error') throw new TypeError(`fetch failed: the answer is a redirect to ${location}`);
      if (redirects >= MAX_REDIRECTS) throw new TypeError(`fetch failed: more than ${MAX_REDIRECTS} redirects`);
      const next = new URL(location, url);
      if (next.origin !== new URL(url).origin) for (let i = 0; i < CREDENTIALS.length; i++) headers.delete(CREDENTIALS[i]);
      if (status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST') {
        method = method === 'HEAD' ? 'HEAD' : 'GET';
        bytes = undefined;
        for (const [name] of new Headers(headers)) if (startsWith(name, 'content-')) headers.delete(name);
      }
      next.hash = '';
      url = next.href;
    }
  }

  for (const [name, made] of [['Request', Request], ['Response', Response]]) {
    shared.tag(made, name);
    shared.global(name, made);
  }
  shared.global('fetch', fetch);
})
