/** A thousand tiny programs: hardly more time than their processor time takes on the cores that there are. */
import { availableParallelism } from 'node:os';
import { createFermata } from 'fermata';
import type { Findings, Load } from './main.ts';
import { ordinary } from './programs.ts';

export async function tiny({ host, size = 1000, say }: Load): Promise<Findings> {
  await using fermata = createFermata({ host });
  await fermata.prepare();
  await Promise.all(Array.from({ length: 50 }, (_, number) => fermata.run(ordinary(number).options)));
  const began = performance.now();
  const wrong: string[] = [];
  const cpu = await Promise.all(
    Array.from({ length: size }, async (_, number) => {
      const { options, output } = ordinary(number);
      const result = await fermata.run(options);
      if (result.output !== output) wrong.push(`program ${number} gave ${result.output}, not ${output} (${result.status} ${result.error?.message})`);
      return result.resourcesUsed.cpuTimeMs;
    }),
  );
  const totalMs = performance.now() - began;
  const cpuMs = cpu.reduce((a, b) => a + b, 0);
  const ideal = cpuMs / availableParallelism();
  say(`${size} programs of ${(cpuMs / size).toFixed(2)} ms of processor time each, on ${availableParallelism()} cores`);
  return {
    wrong,
    measured: { 'total ms': totalMs, 'summed cpu ms': cpuMs, ratio: totalMs / ideal },
    wanted: 'total at most 1.3 times the summed processor time divided by the cores',
    met: totalMs <= 1.3 * ideal,
  };
}
