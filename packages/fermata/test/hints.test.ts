/** Errors that programs typically meet say in one sentence what to do instead. */
import { createFermata, type Language } from 'fermata';
import { afterAll, describe, expect, test } from 'vitest';
import { hintOf } from '../src/hints.ts';

const fermata = createFermata();
afterAll(() => fermata.close());

const MISTAKES: [Language, string, RegExp][] = [
  ['javascript', 'require("fs")', /no modules.*globals/],
  ['javascript', 'module.exports = 1', /no modules/],
  ['javascript', 'import fs from "fs";', /no modules/],
  ['javascript', 'const fs = await import("node:fs");', /no modules/],
  ['typescript', 'import { readFile } from "node:fs/promises";\nconst x: number = 1;', /no modules/],
  ['typescript', 'const fs: any = require("fs");', /no modules/],
  ['javascript', 'await fetch("https://example.com")', /no network.*tool/],
  ['javascript', 'process.argv', /not Node/],
  ['javascript', 'Buffer.from("x")', /Uint8Array/],
  ['javascript', 'fs.readFileSync("x")', /files\.readText/],
  ['javascript', 'files.readText("/etc/passwd")', /Only \/work and \/tmp/],
  ['javascript', 'files.write("/home/x", "y")', /Only \/work and \/tmp/],
  ['javascript', 'files.readText("data.csv")', /give the program its files/],
  ['python', 'import numpy as np', /no packages.*math/],
  ['python', 'from pandas import DataFrame', /no packages/],
  ['python', 'import requests\nrequests.get("http://example.com")', /no network.*tool/],
  ['python', 'import httpx', /requests/],
  ['python', 'import yaml', /Only the standard library/],
  ['python', 'input("name? ")', /Standard input is at its end.*stdin/],
  ['python', 'open("/etc/passwd")', /Only \/work and \/tmp/],
  ['python', 'open("/home/me/out.txt", "w")', /Only \/work and \/tmp/],
  ['python', 'import os\nos.makedirs("/data")', /Only \/work and \/tmp/],
  ['python', 'open("data.csv")', /give the program its files/],
  ['python', 'import subprocess\nsubprocess.run(["ls"])', /No other program/],
  ['python', 'import os\nos.system("ls")', /No other program/],
  ['python', 'import urllib.request\nurllib.request.urlopen("http://example.com")', /no network/],
];

test.each(MISTAKES)('in %s: %s', async (language, code, hint) => {
  const { status, error } = await fermata.run({ language, code });
  expect(status).toBe('failed');
  expect(error?.hint).toMatch(hint);
  expect(error?.hint).toMatch(/^[A-Z][^\n]*\.$/);
});

test('an error of the program itself gets no hint', async () => {
  for (const [language, code] of [
    ['python', 'raise ValueError("no network here")'],
    ['python', 'open("/work/x", "w").write("x")\nraise OSError(5, "broken", "/work/x")'],
    ['javascript', 'throw new Error("fetch is not defined")'],
    ['javascript', 'undefinedName'],
  ] as const) {
    expect((await fermata.run({ language, code })).error, code).not.toHaveProperty('hint');
  }
});

describe('advice is given in the words of who reads it', () => {
  test('of a limit', async () => {
    const { error } = await fermata.run({ language: 'python', code: 'print("x" * 100)', limits: { maxOutputBytes: 10 } });
    expect(error?.hint).toContain('maxOutputBytes');
    expect(hintOf({ code: 'output_limit', message: '' }, 'cli')).toMatch(/--max-output/);
  });
  test('of files and standard input', () => {
    const missing = { code: 'guest_error', message: "FileNotFoundError: [Errno 44] No such file or directory: 'a'" } as const;
    expect(hintOf(missing, 'library', 'python')).toContain('`files`');
    expect(hintOf(missing, 'cli', 'python')).toContain('--file');
    const ended = { code: 'guest_error', message: 'EOFError: EOF when reading a line' } as const;
    expect(hintOf(ended, 'library', 'python')).toContain('`stdin`');
    expect(hintOf(ended, 'cli', 'python')).toContain('< data');
    expect(hintOf(ended, 'cli', 'javascript')).toBeUndefined();
  });
});
