// setTimeout and its family, sleep, queueMicrotask, performance. Time is the host's; a waiting program costs nothing.
(function (natives, shared) {
  'use strict';
  const { sliceList, TypeError, Promise, Math } = shared.js;
  const { setTimer, clearTimer, now, queueJob } = natives;
  const LONGEST = 2 ** 31 - 1;

  const delay = (ms) => {
    const number = +ms;
    return number >= 1 && number <= LONGEST ? Math.floor(number) : 1; // as Node does, NaN and negative included
  };
  const start = (name, repeats) => (callback, ms, ...args) => {
    if (typeof callback !== 'function') throw new TypeError(`${name}: the callback must be a function, not ${callback === null ? 'null' : typeof callback}`);
    return setTimer(callback, delay(ms), repeats, args.length ? sliceList(args, 0, 16) : undefined);
  };
  const stop = (id) => {
    if (typeof id === 'number' || typeof id === 'string') clearTimer(+id);
  };

  const setTimeout = start('setTimeout', false);
  shared.global('setTimeout', setTimeout);
  shared.global('setInterval', start('setInterval', true));
  shared.global('setImmediate', (callback, ...args) => setTimeout(callback, 0, ...args));
  shared.global('clearTimeout', (id) => stop(id));
  shared.global('clearInterval', (id) => stop(id));
  shared.global('clearImmediate', (id) => stop(id));
  shared.global('queueMicrotask', (callback) => {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask: the callback must be a function');
    queueJob(callback);
  });
  // Not held to 24 days, as setTimeout is.
  shared.global('sleep', (seconds) => {
    const number = +seconds;
    if (!(number >= 0)) throw new TypeError('sleep(seconds): the number of seconds must be zero or more');
    return new Promise((resolve) => {
      setTimer(() => resolve(undefined), number * 1000, false, undefined);
    });
  });

  let origin = now();
  shared.startClock = () => {
    origin = now();
  };
  const performance = {
    now: () => now() - origin,
    get timeOrigin() {
      return origin;
    },
    toJSON: () => ({ timeOrigin: origin }),
    mark() {},
    measure() {},
  };
  shared.global('performance', performance);
})
