/** An engine that dies at a moment, as if its process was killed there; what it stored is left to the next one. */
import type { Models, Store } from '@fermata/protocol';
import type { EngineOptions, Moment } from '../src/index.ts';
import { type Premises, premises, type TestTool } from './premises.ts';

/** A store that stays open when an engine on it is closed. */
export function lasting(store: Store): Store {
  return new Proxy(store, { get: (target, name) => (name === 'close' ? async () => {} : (Reflect.get(target, name) as (...args: never[]) => unknown).bind(target)) });
}

export interface Mortal extends Premises {
  died: Promise<void>;
  /** How often each moment came. */
  seen: ReadonlyMap<Moment, number>;
}

/** `at`: the moment, and the how-manieth of them. After it nothing of this engine has any effect. */
export async function mortalEngine(
  store: Store,
  tools: readonly TestTool[],
  models: Models,
  at?: { moment: Moment; count: number },
  options: Partial<EngineOptions> = {},
): Promise<Mortal> {
  const died = Promise.withResolvers<void>();
  const seen = new Map<Moment, number>();
  let isDead = false;
  const never = () => new Promise<never>(() => {});
  const dying = new Proxy(store, {
    get: (target, name) => {
      const own = Reflect.get(target, name);
      if (typeof own !== 'function') return own;
      return (...args: unknown[]) => {
        if (name === 'close') return Promise.resolve();
        // A commit that fails has machines put away; nothing else comes back.
        if (isDead) return name === 'commit' ? Promise.reject(new Error('dead')) : never();
        return own.apply(target, args);
      };
    },
  });
  const alive = tools.map((tool) => ({
    ...tool,
    ...(tool.execute ? { execute: (...args: never[]) => (isDead ? never() : (tool.execute as (...args: never[]) => unknown)(...args)) } : {}),
  }));
  const moment = (name: Moment) => {
    if (isDead) return;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    if (name !== at?.moment || seen.get(name) !== at.count) return;
    isDead = true;
    died.resolve();
  };
  const find: Models['find'] = (name) => {
    const model = models.find(name);
    return { name: model.name, generate: (...args) => (isDead ? never() : model.generate(...args)) };
  };
  const made = await premises(alive as TestTool[], { ...options, store: dying, models: { defaultName: models.defaultName, find }, moment });
  return { ...made, died: died.promise, seen };
}
