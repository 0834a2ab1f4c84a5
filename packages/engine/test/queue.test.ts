/** Who runs next. */
import { expect, test } from 'vitest';
import { Queue } from '../src/queue.ts';

const task = (taskId: string, tenant = 'a', priority = 0) => ({ taskId, tenant, priority });
const options = { maxRunning: 10, maxRunningPerTenant: 10, maxBusy: 10 };

function taken(queue: Queue): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) names.push(next.ref.taskId);
  return names;
}

test('a higher priority comes first, and among equals the older', () => {
  const queue = new Queue(options);
  for (const one of [task('1'), task('2', 'a', 5), task('3'), task('4', 'a', 5)]) queue.add(one);
  expect(taken(queue)).toEqual(['2', '4', '1', '3']);
});

test('the tenant with the least running is served first', () => {
  const queue = new Queue({ ...options, maxRunning: 4 });
  for (const one of [task('a1'), task('a2'), task('a3'), task('b1', 'b'), task('b2', 'b'), task('c1', 'c')]) queue.add(one);
  expect(taken(queue)).toEqual(['a1', 'b1', 'c1', 'a2']);
});

test('a tenant has no more running than it may have, and others go on', () => {
  const queue = new Queue({ ...options, maxRunningPerTenant: 1 });
  for (const one of [task('a1'), task('a2'), task('b1', 'b')]) queue.add(one);
  expect(taken(queue)).toEqual(['a1', 'b1']);
  expect(queue.placeOf({ tenant: 'a', taskId: 'a2' })).toEqual({ position: 0, reason: '1 tasks of the tenant run already' });
});

test('a gate lets through as many as it is wide, and those behind it do not wait for it', () => {
  const queue = new Queue(options);
  const gates = [{ name: 'batch x', width: 1 }];
  queue.add(task('x1'), gates);
  queue.add(task('x2'), gates);
  queue.add(task('y'));
  const first = queue.take();
  expect([first?.ref.taskId, queue.take()?.ref.taskId, queue.take()]).toEqual(['x1', 'y', undefined]);
  first?.done();
  expect(queue.take()?.ref.taskId).toBe('x2');
});

test('while programs are busy no other one begins; one that waits makes room', () => {
  const queue = new Queue({ ...options, maxBusy: 1 });
  queue.add(task('1'));
  queue.add(task('2'));
  const first = queue.take();
  expect(queue.take()).toBeUndefined();
  first?.rests(true);
  const second = queue.take();
  expect(second?.ref.taskId).toBe('2');
  first?.rests(false);
  first?.done();
  second?.done();
  expect(queue.running).toBe(0);
  queue.add(task('3'));
  expect(queue.take()?.ref.taskId).toBe('3');
});

test('the same task is in it once, and can be taken out', () => {
  const queue = new Queue(options);
  queue.add(task('1'));
  queue.add(task('1'));
  queue.add(task('2'));
  queue.remove({ tenant: 'a', taskId: '1' });
  expect(taken(queue)).toEqual(['2']);
});
