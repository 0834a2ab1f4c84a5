/** Small concurrent programs as trees, to be written out in JavaScript or Python and run by different schedulers. */
import fc from 'fast-check';

export type Tree =
  | { kind: 'call'; tool: 'ok' | 'fail'; n: number }
  | { kind: 'sleep'; ms: number }
  | { kind: 'seq' | 'all' | 'settled' | 'race'; parts: Tree[] }
  | { kind: 'caught'; part: Tree }
  | { kind: 'yield'; times: number };

export const trees: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('call' as const), tool: fc.constantFrom('ok' as const, 'ok' as const, 'fail' as const), n: fc.nat(99) }),
    fc.record({ kind: fc.constant('sleep' as const), ms: fc.integer({ min: 1, max: 5 }).map((n) => n * 1000) }),
    fc.record({ kind: fc.constant('yield' as const), times: fc.nat(3) }),
    fc.record({ kind: fc.constantFrom('seq' as const, 'all' as const, 'settled' as const, 'race' as const), parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ kind: fc.constant('caught' as const), part: tie('tree') }),
  ),
})).tree;

/** The body of an async function that logs what happens, in order, and returns the log. */
export function toJavaScript(tree: Tree): string {
  let id = 0;
  const write = (node: Tree): string => {
    const me = id++;
    const parts = () => (node as { parts: Tree[] }).parts.map((part) => `(${write(part)})()`).join(', ');
    const body = (): string => {
      switch (node.kind) {
        case 'call':
          return `return (await tools.${node.tool}({ n: ${node.n} })).n;`;
        case 'sleep':
          return `await new Promise((resolve) => setTimeout(resolve, ${node.ms})); return ${node.ms};`;
        case 'yield':
          return `for (let i = 0; i < ${node.times}; i++) await null; return ${node.times};`;
        case 'seq':
          return `const got = []; ${node.parts.map((part) => `got.push(await (${write(part)})());`).join(' ')} return got;`;
        case 'all':
          return `return await Promise.all([${parts()}]);`;
        case 'settled':
          return `return (await Promise.allSettled([${parts()}])).map((s) => s.status);`;
        case 'race':
          return `return await Promise.race([${parts()}]);`;
        case 'caught':
          return `try { return await (${write(node.part)})(); } catch (error) { return error.message; }`;
      }
    };
    return `async () => { log.push('+${me}'); try { ${body()} } finally { log.push('-${me}'); } }`;
  };
  return `const log = []; let end; try { end = await (${write({ kind: 'caught', part: tree })})(); } finally { log.push('end'); } return { log: log.slice(), end };`;
}

export function toPython(tree: Tree): string {
  let id = 0;
  const lines: string[] = ['import asyncio', 'log = []'];
  const write = (node: Tree): string => {
    const me = id++;
    const inner = 'parts' in node ? node.parts.map(write) : 'part' in node ? [write(node.part)] : [];
    const started = inner.map((name) => `asyncio.ensure_future(${name}())`).join(', ');
    const body: Record<Tree['kind'], () => string[]> = {
      call: () => [`return (await tools.${(node as { tool: string }).tool}(n=${(node as { n: number }).n}))["n"]`],
      sleep: () => [`await asyncio.sleep(${(node as { ms: number }).ms / 1000})`, `return ${(node as { ms: number }).ms}`],
      yield: () => [`for i in range(${(node as { times: number }).times}): await asyncio.sleep(0)`, `return ${(node as { times: number }).times}`],
      seq: () => ['got = []', ...inner.map((name) => `got.append(await ${name}())`), 'return got'],
      all: () => [`return list(await asyncio.gather(${started}))`],
      settled: () => [`done = await asyncio.gather(${started}, return_exceptions=True)`, 'return ["rejected" if isinstance(d, Exception) else "fulfilled" for d in done]'],
      race: () => [`for first in asyncio.as_completed([${started}]): return await first`],
      caught: () => [`return await ${inner[0]}()`],
    };
    const code = body[node.kind]().map((line) => `        ${line}`);
    const except = node.kind === 'caught' ? ['    except Exception as error: return str(error)'] : [];
    lines.push(`async def f${me}():`, `    log.append("+${me}")`, '    try:', ...code, ...except, `    finally: log.append("-${me}")`);
    return `f${me}`;
  };
  const root = write({ kind: 'caught', part: tree });
  return `${lines.join('\n')}\nasync def main():\n    end = await ${root}()\n    log.append("end")\n    return {"log": log[:], "end": end}\n`;
}
