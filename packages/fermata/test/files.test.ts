/** Files go in and come out by `/work`; nothing else of the host is there. */
import { createFermata } from 'fermata';
import { afterAll, expect, test } from 'vitest';

const fermata = createFermata();
afterAll(() => fermata.close());

test('input files are there, and what is left in /work comes back', async () => {
  const code = [
    'import os',
    'text = open("/work/in/data.csv").read()',
    'raw = open("/tmp/raw.bin", "rb").read()',
    'os.remove("/work/in/data.csv")',
    'os.makedirs("/work/out")',
    'open("/work/out/result.txt", "w").write(text.upper())',
    'open("/tmp/scratch", "w").write("gone")',
    'list(raw)',
  ].join('\n');
  const result = await fermata.run({
    language: 'python',
    code,
    files: [
      { path: '/work/in/data.csv', data: 'a,\u00e9\n' },
      { path: '/tmp/raw.bin', data: new Uint8Array([0, 255, 10]) },
    ],
  });
  expect(result).toMatchObject({ status: 'succeeded', output: [0, 255, 10] });
  expect(result.files.map(({ path, data }) => [path, Buffer.from(data).toString()])).toEqual([['/work/out/result.txt', 'A,\u00c9\n']]);
});

test('every task has its own files', async () => {
  const code = 'import os\nfound = os.listdir("/work") + os.listdir("/tmp")\nopen("/tmp/left", "w").write("x")\nfound';
  for (let i = 0; i < 2; i++) expect((await fermata.run({ language: 'python', code })).output).toEqual([]);
});

test('the host shows nowhere: no folders of its own, no environment, nothing to write outside of /work and /tmp', async () => {
  const code = [
    'import os',
    'refused = []',
    'for path in ("/etc/passwd", "/proc/self/environ", "/work/../etc/passwd", "/root", "../../../../etc/hostname"):',
    '    try:',
    '        open(path).read(); refused.append(path)',
    '    except OSError: pass',
    'for path in ("/x", "/lib/x", "/dev/x"):',
    '    try:',
    '        open(path, "w"); refused.append(path)',
    '    except OSError: pass',
    '[refused, [k for k in os.environ if k in ("PATH", "USER", "HOSTNAME", "FERMATA_SECRET")]]',
  ].join('\n');
  process.env.FERMATA_SECRET = 'canary';
  expect((await fermata.run({ language: 'python', code })).output).toEqual([[], []]);
});

test('input files count against the disk limit', async () => {
  const result = await fermata
    .run({ language: 'javascript', code: '1', files: [{ path: '/work/big', data: new Uint8Array(4096) }], limits: { maxDiskBytes: 1024 } })
    .catch((error: { code: string }) => error);
  expect(JSON.stringify(result)).toMatch(/disk_limit|invalid_request/);
});
