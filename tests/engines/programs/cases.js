// Goes before each test file of QuickJS-ng, natively and in a machine: keeps what its tests came to, and what it printed.
(() => {
  const outcomes = {};
  const printed = [];
  const settle = (name, error, failed) => {
    outcomes[name] = failed ? { is: `throws ${error?.name ?? typeof error}`, detail: String(error?.message ?? error) } : { is: 'ok' };
  };
  const [then, stringify] = [Function.prototype.call.bind(Promise.prototype.then), JSON.stringify];
  globalThis.print = (...values) => printed.push(values.map(String).join(' '));
  globalThis.__case = (name, result) => {
    if (!(result instanceof Promise)) return settle(name);
    outcomes[name] = { is: 'never settled' };
    then(result, () => settle(name), (error) => settle(name, error, true));
  };
  globalThis.__threw = (name, error) => settle(name, error, true);
  globalThis.__settled = () => Object.values(outcomes).every(({ is }) => is !== 'never settled');
  globalThis.__file = (error, failed) => settle('', error, failed);
  globalThis.__report = () => stringify({ outcomes, printed });
})();
