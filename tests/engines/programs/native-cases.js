// Runs one test file of QuickJS-ng natively: qjs native-cases.js <cases.js> <test file> module|script
import * as os from 'qjs:os';
import * as std from 'qjs:std';

const [, cases, file, kind] = scriptArgs;
std.loadScript(cases);
try {
  if (kind === 'module') await import(file);
  else std.loadScript(file);
  __file();
} catch (error) {
  __file(error, true);
}
for (let turn = 0; turn < 100 && (turn === 0 || !__settled()); turn++) await new Promise((resolve) => os.setTimeout(resolve, 1));
std.out.puts(__report());
