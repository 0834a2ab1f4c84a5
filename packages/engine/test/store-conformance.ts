/** What every store must do: one suite, run by a test file per store. */
import type { Store, WaitKind } from '@fermata/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { all, birth, callRow, checkpointRow, documentRow, entryRow, outboxRow, ref, step, TENANT, taskRow } from './store-rows.ts';

const code = (name: string) => expect.objectContaining({ code: name });
const ids = (rows: { taskId: string }[]) => rows.map(({ taskId }) => taskId);

export function storeConformance(name: string, open: () => Promise<Store> | Store): void {
  describe(name, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    describe('a commit', () => {
      test('keeps a task, its entries, calls, checkpoint, outbox and documents as they were given', async () => {
        const row = taskRow('a', { dueAt: 5, output: { x: [1, null, 'ü'] }, error: { code: 'tool_error', message: 'no' }, sessionId: 's', batchId: 'b', priority: -3 });
        const calls = [callRow(1), callRow(2, { status: 'settled', result: '{"ok":1}', by: 'me', settledAt: 7, delivered: true })];
        const checkpoint = { row: checkpointRow('c1'), data: new Uint8Array([1, 2, 3, 0]) };
        const outbox = [outboxRow('o1', { taskId: 'a' })];
        await store.commit([{ task: { row, expect: 0 }, entries: [entryRow(1, '{ "kept":  "as written" }')], calls, checkpoint, outbox, documents: [{ row: documentRow('d') }] }]);
        expect(await store.task(ref('a'))).toEqual(row);
        expect(await store.entries(ref('a'), 0, 10)).toEqual([entryRow(1, '{ "kept":  "as written" }')]);
        expect(await store.calls(ref('a'))).toEqual(calls);
        expect(await store.checkpoints(ref('a'))).toEqual([checkpoint.row]);
        expect(await store.checkpointData(ref('a'), 'c1')).toEqual(checkpoint.data);
        expect(await store.outboxOf(ref('a'))).toEqual(outbox);
        expect(await store.document('batch', TENANT, 'd')).toEqual(documentRow('d'));
      });

      test('shares no object with its caller, neither those that went in nor those that came out', async () => {
        const row = taskRow('a');
        const data = new Uint8Array([1, 2, 3]);
        const done = store.commit([{ task: { row, expect: 0 }, checkpoint: { row: checkpointRow('c'), data }, outbox: [outboxRow('o')] }]);
        row.status = 'failed';
        row.usage.fuel = 99;
        data.fill(9);
        await done;
        const first = await store.task(ref('a'));
        expect(first).toEqual(taskRow('a'));
        if (first) first.request.code = 'changed';
        (await store.checkpointData(ref('a'), 'c')).fill(7);
        expect(await store.task(ref('a'))).toEqual(taskRow('a'));
        expect(await store.checkpointData(ref('a'), 'c')).toEqual(new Uint8Array([1, 2, 3]));
      });

      test('is refused with `conflict` where the task is not at `expect`, and nothing of the call has happened', async () => {
        await store.commit([birth('a')]);
        const beside = { documents: [{ row: documentRow('d') }], outbox: [outboxRow('o')] };
        for (const commits of [[birth('a')], [step('a', 2)], [step('missing', 1)], [birth('b'), beside, step('a', 7)], [beside, birth('b'), birth('b')]]) {
          await expect(store.commit(commits)).rejects.toEqual(code('conflict'));
        }
        expect(await store.task(ref('a'))).toEqual(taskRow('a'));
        expect(await store.entries(ref('a'), 0, 10)).toEqual([entryRow(1)]);
        expect(await store.task(ref('b'))).toBeUndefined();
        expect(await store.document('batch', TENANT, 'd')).toBeUndefined();
        expect(await store.outboxDue(1e15, 10)).toEqual([]);
      });

      test('with an entry or a checkpoint that the task has already is refused with `conflict`', async () => {
        await store.commit([{ ...birth('a'), checkpoint: { row: checkpointRow('c'), data: new Uint8Array([1]) } }]);
        await expect(store.commit([{ task: { row: taskRow('a', { seq: 2, status: 'running' }), expect: 1 }, entries: [entryRow(1)] }])).rejects.toEqual(code('conflict'));
        await expect(store.commit([step('a', 1, {}, { checkpoint: { row: checkpointRow('c'), data: new Uint8Array([2]) } })])).rejects.toEqual(code('conflict'));
        expect(await store.task(ref('a'))).toEqual(taskRow('a'));
        expect(await store.checkpointData(ref('a'), 'c')).toEqual(new Uint8Array([1]));
      });

      test('of entries, calls or a checkpoint without their task is refused', async () => {
        await expect(store.commit([{ entries: [entryRow(1)] }])).rejects.toEqual(code('internal'));
        await expect(store.commit([{ calls: [callRow(1)] }])).rejects.toEqual(code('internal'));
      });

      test('that is refused leaves the others of the same turn alone', async () => {
        await store.commit([birth('a')]);
        const group = [
          store.commit([step('a', 1, { status: 'running' })]),
          store.commit([birth('b'), step('a', 1)]),
          store.commit([birth('c')]),
          store.commit([step('a', 2, { status: 'waiting' })]),
        ];
        const outcomes = await Promise.allSettled(group);
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
        expect((await store.task(ref('a')))?.status).toBe('waiting');
        expect(await store.task(ref('b'))).toBeUndefined();
        expect(await store.task(ref('c'))).toBeDefined();
      });

      test('takes effect after those that were made before it, however large their checkpoints are', async () => {
        const large = { row: checkpointRow('c'), data: new Uint8Array(300_000).fill(5) };
        await Promise.all([store.commit([{ ...birth('a'), checkpoint: large }]), store.commit([step('a', 1)])]);
        await Promise.all([store.commit([step('a', 2, {}, { dropCheckpoints: ['c'] })]), store.commit([step('a', 3, {}, { checkpoint: large })])]);
        expect((await store.task(ref('a')))?.seq).toBe(4);
        expect(await store.checkpointData(ref('a'), 'c')).toEqual(large.data);
      });

      test('may hold several steps of one task', async () => {
        await store.commit([birth('a'), step('a', 1), step('a', 2, { status: 'running' })]);
        expect(await store.task(ref('a'))).toEqual(taskRow('a', { seq: 3, status: 'running' }));
        expect((await store.entries(ref('a'), 0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
      });

      test('of nothing is done at once', async () => {
        await store.commit([]);
        await store.commit([{}]);
      });

      test('leaves what a task was made of as its first commit said', async () => {
        await store.commit([birth('a')]);
        const changed = { createdAt: 5, sessionId: 'other', batchId: 'other', request: { language: 'python' as const, code: 'other' } };
        await store.commit([step('a', 1, changed)]);
        expect(await store.task(ref('a'))).toEqual(taskRow('a', { seq: 2 }));
      });

      test('tells tenants apart', async () => {
        await store.commit([birth('a'), birth('a', { tenant: 'other', status: 'running' })]);
        expect((await store.task(ref('a')))?.status).toBe('pending');
        expect((await store.task(ref('a', 'other')))?.status).toBe('running');
        expect(await store.task(ref('a', 'third'))).toBeUndefined();
      });

      test('with half a character in a name is refused', async () => {
        await expect(store.commit([birth('a\ud800')])).rejects.toEqual(code('invalid_request'));
        await expect(store.commit([{ documents: [{ row: documentRow('a', { tenant: '\udc00' }) }] }])).rejects.toEqual(code('invalid_request'));
      });

      test.each([2 ** 60, 1e300, 1.5, -1])('may have %d as a time', async (time) => {
        await store.commit([
          birth('a', { createdAt: time, dueAt: time, priority: time }),
          { outbox: [outboxRow('o', { dueAt: time })], documents: [{ row: documentRow('d', { createdAt: time }) }] },
        ]);
        expect(await store.task(ref('a'))).toEqual(taskRow('a', { createdAt: time, dueAt: time, priority: time }));
        expect([await store.nextDue(), await store.nextOutboxDue(), (await store.document('batch', TENANT, 'd'))?.createdAt]).toEqual([time, time, time]);
        await store.commit([birth('b', { createdAt: time })]);
        const { cursor = '' } = await store.tasks({ tenant: TENANT, limit: 1 });
        expect(ids((await store.tasks({ tenant: TENANT, limit: 1, cursor })).items)).toEqual(['a']);
      });

      test('may have any characters in names', async () => {
        const id = `a/../ä'"%_\u{1f40d}`;
        await store.commit([birth(id, { tenant: id }), { documents: [{ row: documentRow(id, { kind: id, tenant: id }) }] }]);
        expect((await store.task({ tenant: id, taskId: id }))?.taskId).toBe(id);
        expect((await store.document(id, id, id))?.id).toBe(id);
      });
    });

    describe('tasks', () => {
      beforeEach(async () => {
        await store.commit([
          birth('a', { createdAt: 10, status: 'running', sessionId: 's' }),
          birth('b', { createdAt: 30, status: 'succeeded', batchId: 'x' }),
          birth('c', { createdAt: 20, status: 'running', batchId: 'x', sessionId: 's' }),
          birth('d', { createdAt: 20, status: 'failed' }),
          birth('e', { createdAt: 20, status: 'running', tenant: 'other', batchId: 'x' }),
          { task: { row: taskRow('f', { createdAt: 5, status: 'waiting' }), expect: 0 }, calls: [callRow(1, { tool: 'mail' }), callRow(2, { tool: 'mail' })] },
        ]);
      });

      test('come newest first, and of one moment the later first', async () => {
        expect(ids((await store.tasks({ tenant: TENANT, limit: 10 })).items)).toEqual(['b', 'd', 'c', 'a', 'f']);
      });

      test('come in pages; the last has no cursor', async () => {
        const pages: string[][] = [];
        let cursor: string | undefined;
        do {
          const page = await store.tasks({ tenant: TENANT, limit: 2, ...(cursor !== undefined && { cursor }) });
          pages.push(ids(page.items));
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(pages).toEqual([['b', 'd'], ['c', 'a'], ['f']]);
        expect(await store.tasks({ tenant: TENANT, limit: 5 })).not.toHaveProperty('cursor');
      });

      test('a page goes on where the one before ended, whatever was added meanwhile', async () => {
        const { cursor = '' } = await store.tasks({ tenant: TENANT, limit: 2 });
        await store.commit([birth('newer', { createdAt: 99 })]);
        expect(ids((await store.tasks({ tenant: TENANT, limit: 2, cursor })).items)).toEqual(['c', 'a']);
      });

      test('a cursor that no page gave is refused', async () => {
        for (const cursor of ['', 'x', '1', '1_2_3', "1_'"]) await expect(store.tasks({ tenant: TENANT, limit: 2, cursor })).rejects.toEqual(code('invalid_request'));
      });

      test.each([
        [{ status: ['running'] }, ['c', 'a']],
        [{ status: ['running', 'failed'] }, ['d', 'c', 'a']],
        [{ status: [] }, []],
        [{ sessionId: 's' }, ['c', 'a']],
        [{ batchId: 'x' }, ['b', 'c']],
        [{ batchId: 'x', status: ['running'] }, ['c']],
        [{ batchId: 'x', oldestFirst: true }, ['c', 'b']],
        [{ tool: 'mail' }, ['f']],
        [{ tool: 'nothing' }, []],
        [{ createdAfter: 10 }, ['b', 'd', 'c']],
        [{ createdAfter: 10, status: ['running'], sessionId: 's', batchId: 'x' }, ['c']],
      ])('are chosen by %j', async (filter, expected) => {
        expect(ids((await store.tasks({ tenant: TENANT, limit: 10, ...filter })).items)).toEqual(expected);
      });

      test('are counted by status, of a tenant, of all, of a batch', async () => {
        expect(await store.counts(TENANT)).toEqual({ running: 2, succeeded: 1, failed: 1, waiting: 1 });
        expect(await store.counts()).toEqual({ running: 3, succeeded: 1, failed: 1, waiting: 1 });
        expect(await store.counts(TENANT, 'x')).toEqual({ running: 1, succeeded: 1 });
        expect(await store.counts(undefined, 'x')).toEqual({ running: 2, succeeded: 1 });
        expect(await store.counts('nobody')).toEqual({});
      });

      test('that have not ended are told whole, in the order of creation', async () => {
        const rows = await all(store.unended());
        expect(ids(rows)).toEqual(['f', 'a', 'c', 'e']);
        expect(rows[1]).toEqual(taskRow('a', { createdAt: 10, status: 'running', sessionId: 's' }));
      });

      test('are streamed while they change', async () => {
        await store.commit(Array.from({ length: 450 }, (_, i) => birth(`many${i}`, { createdAt: 1000 + i })));
        const seen = new Set<string>();
        for await (const { taskId } of store.unended()) {
          seen.add(taskId);
          if (taskId === 'many0') await store.commit([step('many400', 1, { status: 'succeeded' })]);
        }
        expect([...seen].filter((id) => id !== 'many400')).toHaveLength(453);
      });
    });

    describe('due', () => {
      test('are tasks whose time has come, earliest first, up to the limit', async () => {
        await store.commit([
          birth('a', { dueAt: 30 }),
          birth('b', { dueAt: 10 }),
          birth('c', { dueAt: 20 }),
          birth('d'),
          birth('e', { dueAt: 12, status: 'failed' }),
          birth('f', { dueAt: 31 }),
        ]);
        expect(ids(await store.due(30, 10))).toEqual(['b', 'e', 'c', 'a']);
        expect(ids(await store.due(30, 2))).toEqual(['b', 'e']);
        expect(await store.due(9, 10)).toEqual([]);
        expect(await store.nextDue()).toBe(10);
      });

      test('follows the changes of a task', async () => {
        expect(await store.nextDue()).toBeUndefined();
        await store.commit([birth('a', { dueAt: 30 })]);
        await store.commit([step('a', 1, { dueAt: 50 })]);
        expect(await store.nextDue()).toBe(50);
        await store.commit([step('a', 2, { dueAt: null, status: 'cancelled' })]);
        expect(await store.nextDue()).toBeUndefined();
        expect(await store.due(100, 1)).toEqual([]);
      });
    });

    describe('a journal', () => {
      test('is told in order, after an entry, up to the limit', async () => {
        const entries = Array.from({ length: 12 }, (_, i) => entryRow(i + 1, JSON.stringify('x'.repeat(i * 500))));
        await store.commit([{ task: { row: taskRow('a', { seq: 12 }), expect: 0 }, entries }, birth('b')]);
        expect(await store.entries(ref('a'), 0, 100)).toEqual(entries);
        expect(await store.entries(ref('a'), 3, 4)).toEqual(entries.slice(3, 7));
        expect(await store.entries(ref('a'), 12, 4)).toEqual([]);
        expect(await store.entries(ref('nobody'), 0, 4)).toEqual([]);
      });
    });

    describe('calls', () => {
      test('are put in the place of those with the same number', async () => {
        await store.commit([{ ...birth('a'), calls: [callRow(2), callRow(1)] }]);
        const settled = callRow(1, { status: 'settled', tries: 2, result: '{"value":1}', settledAt: 9, tool: 'mail', args: '{}', createdAt: 3, editedArgs: '{"q":2}' });
        await store.commit([step('a', 1, {}, { calls: [settled] })]);
        expect(await store.calls(ref('a'))).toEqual([settled, callRow(2)]);
        expect(await store.calls(ref('nobody'))).toEqual([]);
      });

      test('that are ready or started are told of unended tasks', async () => {
        await store.commit([
          { ...birth('a', { createdAt: 2 }), calls: [callRow(1, { status: 'started' }), callRow(2, { status: 'waiting', waitsFor: 'approval' }), callRow(3)] },
          { ...birth('b', { createdAt: 1, tenant: 'other' }), calls: [callRow(4), callRow(5, { status: 'settled' })] },
          { ...birth('c', { status: 'cancelled' }), calls: [callRow(1)] },
        ]);
        expect(await store.openCalls()).toEqual([
          { tenant: 'other', taskId: 'b', n: 4 },
          { tenant: TENANT, taskId: 'a', n: 1 },
          { tenant: TENANT, taskId: 'a', n: 3 },
        ]);
      });

      test('that wait are told over all tasks of a tenant, oldest first, by kind and in pages', async () => {
        const waiting = (n: number, createdAt: number, waitsFor: WaitKind) => callRow(n, { status: 'waiting', waitsFor, createdAt });
        await store.commit([
          { ...birth('a'), calls: [waiting(1, 30, 'approval'), waiting(2, 10, 'client_tool'), callRow(3)] },
          { ...birth('b'), calls: [waiting(1, 20, 'approval'), waiting(2, 20, 'review')] },
          { ...birth('c', { tenant: 'other' }), calls: [waiting(1, 1, 'approval')] },
        ]);
        const told = async (query: object) => {
          const page = await store.waits({ tenant: TENANT, limit: 10, ...query });
          return { calls: page.items.map(({ taskId, n }) => taskId + n), cursor: page.cursor };
        };
        expect((await told({})).calls).toEqual(['a2', 'b1', 'b2', 'a1']);
        expect((await told({ kinds: ['approval'] })).calls).toEqual(['b1', 'a1']);
        expect((await told({ kinds: ['approval', 'review'] })).calls).toEqual(['b1', 'b2', 'a1']);
        expect((await told({ kinds: [] })).calls).toEqual([]);
        const first = await told({ limit: 3 });
        expect(first.calls).toEqual(['a2', 'b1', 'b2']);
        expect(await told({ limit: 3, cursor: first.cursor })).toEqual({ calls: ['a1'], cursor: undefined });
        expect((await store.waits({ tenant: TENANT, limit: 1 })).items).toEqual([{ ...waiting(2, 10, 'client_tool'), taskId: 'a' }]);
        await store.commit([step('a', 1, {}, { calls: [callRow(2, { status: 'settled' })] })]);
        expect((await told({})).calls).toEqual(['b1', 'b2', 'a1']);
      });
    });

    describe('checkpoints', () => {
      const sizes = [0, 1, 5000, 40_000, 3_000_000];
      test.each(sizes)('of %d bytes come back as they were', async (size) => {
        const data = new Uint8Array(size).map((_, i) => (i * 7) % 251);
        await store.commit([{ ...birth('a'), checkpoint: { row: checkpointRow('c'), data } }]);
        expect(Buffer.compare(await store.checkpointData(ref('a'), 'c'), data)).toBe(0);
      });

      test('are told newest first, and are gone when they are dropped', async () => {
        const checkpoint = (id: string, createdAt: number, size = 10) => ({ checkpoint: { row: checkpointRow(id, { createdAt }), data: new Uint8Array(size).fill(createdAt) } });
        await store.commit([{ ...birth('a'), ...checkpoint('c1', 1) }, step('a', 1, {}, checkpoint('c2', 2, 100_000)), step('a', 2, {}, checkpoint('c3', 2))]);
        expect((await store.checkpoints(ref('a'))).map(({ checkpointId }) => checkpointId)).toEqual(['c3', 'c2', 'c1']);
        await store.commit([step('a', 3, {}, { dropCheckpoints: ['c1', 'c2', 'never'] })]);
        expect((await store.checkpoints(ref('a'))).map(({ checkpointId }) => checkpointId)).toEqual(['c3']);
        for (const id of ['c1', 'c2', 'never']) await expect(store.checkpointData(ref('a'), id)).rejects.toEqual(code('checkpoint_invalid'));
        await expect(store.checkpointData(ref('nobody'), 'c3')).rejects.toEqual(code('checkpoint_invalid'));
      });
    });

    describe('the outbox', () => {
      test('is told by time, of a task, and until it is dropped', async () => {
        await store.commit([
          {
            outbox: [
              outboxRow('a', { dueAt: 20, taskId: 't' }),
              outboxRow('b', { dueAt: 10 }),
              outboxRow('c', { dueAt: null, taskId: 't' }),
              outboxRow('d', { tenant: 'other', taskId: 't', dueAt: 30 }),
            ],
          },
        ]);
        expect((await store.outboxDue(20, 10)).map(({ id }) => id)).toEqual(['b', 'a']);
        expect((await store.outboxDue(20, 1)).map(({ id }) => id)).toEqual(['b']);
        expect(await store.nextOutboxDue()).toBe(10);
        expect((await store.outboxOf(ref('t'))).map(({ id }) => id)).toEqual(['a', 'c']);
        await store.commit([{ outbox: [outboxRow('b', { dueAt: 40, tries: 1, body: '{"x":1}' })], dropOutbox: ['a', 'never'] }]);
        expect(await store.nextOutboxDue()).toBe(30);
        expect(await store.outboxDue(40, 10)).toEqual([outboxRow('d', { tenant: 'other', taskId: 't', dueAt: 30 }), outboxRow('b', { dueAt: 40, tries: 1, body: '{"x":1}' })]);
        await store.commit([{ dropOutbox: ['b', 'd'] }]);
        expect(await store.nextOutboxDue()).toBeUndefined();
      });
    });

    describe('documents', () => {
      test('change only from the version that was expected, where one was', async () => {
        const put = (version: number, expected?: number) =>
          store.commit([{ documents: [{ row: documentRow('d', { version }), ...(expected !== undefined && { expect: expected }) }] }]);
        await expect(put(1, 1)).rejects.toEqual(code('conflict'));
        await put(1, 0);
        await expect(put(1, 0)).rejects.toEqual(code('conflict'));
        await put(2, 1);
        await expect(put(2, 1)).rejects.toEqual(code('conflict'));
        await put(9);
        expect((await store.document('batch', TENANT, 'd'))?.version).toBe(9);
      });

      test('are told in the order of creation, by kind and tenant, in pages, until they are dropped', async () => {
        const put = (id: string, changes = {}) => ({ documents: [{ row: documentRow(id, changes) }] });
        await store.commit([put('b', { createdAt: 2 }), put('a', { createdAt: 2 }), put('c', { createdAt: 1 }), put('d', { kind: 'session' }), put('e', { tenant: 'other' })]);
        const first = await store.documents({ kind: 'batch', tenant: TENANT, limit: 2 });
        expect(first.items.map(({ id }) => id)).toEqual(['c', 'b']);
        const second = await store.documents({ kind: 'batch', tenant: TENANT, limit: 2, cursor: first.cursor ?? '' });
        expect(second).toEqual({ items: [documentRow('a', { createdAt: 2 })] });
        await store.commit([
          {
            dropDocuments: [
              { kind: 'batch', tenant: TENANT, id: 'c' },
              { kind: 'batch', tenant: TENANT, id: 'never' },
            ],
          },
        ]);
        expect(await store.document('batch', TENANT, 'c')).toBeUndefined();
        expect((await store.documents({ kind: 'batch', tenant: TENANT, limit: 9 })).items.map(({ id }) => id)).toEqual(['b', 'a']);
      });
    });

    describe('blobs', () => {
      test.each([0, 10, 100_000])('of %d bytes are kept under their name until they are dropped', async (size) => {
        const data = new Uint8Array(size).fill(3);
        const put = store.putBlob('x/../y', data);
        data.fill(4);
        await put;
        expect(await store.blob('x/../y')).toEqual(new Uint8Array(size).fill(3));
        await store.putBlob('x/../y', new Uint8Array(size + 50_000));
        expect(await store.blob('x/../y')).toEqual(new Uint8Array(size + 50_000));
        await store.dropBlob('x/../y');
        await store.dropBlob('x/../y');
        expect(await store.blob('x/../y')).toBeUndefined();
      });
    });

    describe('a purge', () => {
      test('takes everything of the task and nothing of others', async () => {
        const whole = (tenant: string, taskId: string) => ({
          task: { row: taskRow(taskId, { tenant, dueAt: 1 }), expect: 0 },
          entries: [entryRow(1)],
          calls: [callRow(1, { status: 'waiting', waitsFor: 'approval' as const })],
          checkpoint: { row: checkpointRow('c'), data: new Uint8Array(50_000) },
          outbox: [outboxRow(tenant + taskId, { tenant, taskId })],
        });
        await store.commit([whole(TENANT, 'a'), whole(TENANT, 'b'), whole('other', 'a')]);
        await store.purge(ref('a'));
        await store.purge(ref('a'));
        expect(await store.task(ref('a'))).toBeUndefined();
        expect([await store.entries(ref('a'), 0, 9), await store.calls(ref('a')), await store.checkpoints(ref('a')), await store.outboxOf(ref('a'))]).toEqual([[], [], [], []]);
        await expect(store.checkpointData(ref('a'), 'c')).rejects.toEqual(code('checkpoint_invalid'));
        expect(ids((await store.waits({ tenant: TENANT, limit: 9 })).items)).toEqual(['b']);
        for (const left of [ref('b'), ref('a', 'other')]) {
          expect(await store.task(left)).toBeDefined();
          expect([
            (await store.entries(left, 0, 9)).length,
            (await store.calls(left)).length,
            (await store.checkpointData(left, 'c')).length,
            (await store.outboxOf(left)).length,
          ]).toEqual([1, 1, 50_000, 1]);
        }
        await store.commit([birth('a')]);
        expect([await store.calls(ref('a')), await store.checkpoints(ref('a'))]).toEqual([[], []]);
      });

      test('comes after the commits that were made before it', async () => {
        await Promise.all([store.commit([birth('a')]), store.purge(ref('a'))]);
        expect(await store.task(ref('a'))).toBeUndefined();
      });
    });

    test('its size grows with what is in it', async () => {
      const empty = await store.size();
      await store.commit([{ ...birth('a'), checkpoint: { row: checkpointRow('c'), data: new Uint8Array(200_000) } }]);
      const { tasks, bytes } = await store.size();
      expect(tasks).toBe(1);
      expect(bytes).toBeGreaterThanOrEqual(empty.bytes + 200_000);
    });

    test('when it is closed what was asked for before is done, and it answers `store_failed`', async () => {
      const before = store.commit([birth('a')]);
      await store.close();
      await store.close();
      await before;
      await expect(store.commit([birth('b')])).rejects.toEqual(code('store_failed'));
      await expect(store.task(ref('a'))).rejects.toEqual(code('store_failed'));
      await expect(store.purge(ref('a'))).rejects.toEqual(code('store_failed'));
      await expect(store.putBlob('a', new Uint8Array(1))).rejects.toEqual(code('store_failed'));
      await expect(all(store.unended())).rejects.toEqual(code('store_failed'));
    });
  });
}
