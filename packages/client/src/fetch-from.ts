/** `fetch` out of whatever answers requests in this process. */

/** As the platform's own one it rejects when the signal aborts, and breaks off a body that is still read then. */
export function fetchFrom(answer: (request: Request) => Response | Promise<Response>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const stop = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const answered = Promise.resolve(answer(request));
    try {
      const response = await Promise.race([answered, aborted.promise]);
      const { body, status, headers } = response;
      return body === null ? response : new Response(body.pipeThrough(new TransformStream(), { signal }), { status, headers });
    } catch (error) {
      // Nobody will read an answer that comes now.
      answered.then(({ body }) => body?.cancel()).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
}
