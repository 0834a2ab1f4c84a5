/** The list of libraries is what programs of the image can import. */
import { expect, test } from 'vitest';
import { librariesOf } from '../src/index.ts';
import { resultOf } from './run-python.ts';

test('every library of the list can be imported, and no other module is there', () => {
  const code = [
    'import importlib, io, pkgutil, sys',
    'names = sorted(set(sys.builtin_module_names) | {module.name for module in pkgutil.iter_modules()})',
    'def there(name):',
    '    sys.stdout = io.StringIO()',
    '    try: return bool(importlib.import_module(name))',
    '    except ImportError: return False',
    '    finally: sys.stdout = sys.__stdout__',
    '[name for name in names if there(name)]',
  ].join('\n');
  const found = resultOf(code) as string[];
  // What says hello, what only builds or other systems need, and the part of `_pyrepl` that `pydoc` needs.
  const left = new Set(['__hello__', '_pyrepl', '_aix_support', '_osx_support', 'nturl2path']);
  expect(found.filter((name) => !left.has(name) && !name.startsWith('_sysconfigdata'))).toEqual(librariesOf('cpython'));
  expect(librariesOf('quickjs')).toEqual([]);
});
