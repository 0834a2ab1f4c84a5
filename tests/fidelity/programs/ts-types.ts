// TypeScript that needs code of its own: enums, namespaces, parameter properties, generics, overloads.
enum Level { Low = 1, High = 5, Next }
namespace Shapes {
  export const scale = 3;
  export function area(...sides: number[]): number {
    return sides.reduce((product, side) => product * side * scale, 1);
  }
}
abstract class Shape<T extends { id: number }> {
  constructor(protected readonly items: T[], public name = 'shape') {}
  abstract total(): number;
  find(id: number): T | undefined { return this.items.find((item) => item.id === id); }
}
class Sum<T extends { id: number; n?: number }> extends Shape<T> {
  total(): number { return this.items.reduce((sum, { n = 1 }) => sum + n, 0); }
}
function pick<K extends string>(record: Record<K, number>, key: K): number;
function pick(record: Record<string, number>, key: string): number { return record[key]! satisfies number; }
const sum = new Sum(Array.from({ length: 50 }, (_, id) => ({ id, n: id % 3 })));
const echoed = (await tools.echo({ level: Level[Level.Next] })) as { level: string };
console.log(Level.High, Level[1], Shapes.area(1, 2, 3), sum.total(), sum.find(7)?.n, sum.name, pick({ a: 4 }, 'a'), echoed.level);
return { total: sum.total() } as const;
