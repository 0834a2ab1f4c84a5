/** The file system: names, links, sizes and numbers that break others, and the files of other tasks. */
import { fails, succeeds } from '../outcome.ts';
import type { OwnAttack } from './attack.ts';

const SLOWLY = { timeout_ms: 120_000, cpu_ms: 100_000 };

export const FILES: readonly OwnAttack[] = [
  {
    id: 'own-py-names',
    language: 'python',
    program: `
import os
for name in ("a\\0b", "..", ".", "", "/work/../etc/passwd", "../../../../etc/passwd", "x" * 1_000_000, "d/" * 100_000 + "x", "/work//./../work/ok", "a" * 255, "a" * 256):
    try:
        with open(name, "w") as f:
            f.write("1")
        print("wrote", name[:20])
    except (OSError, ValueError) as e:
        print(type(e).__name__)
print(sorted(name[:3] for name in os.listdir("/work")), sorted(os.listdir("/work/..")))`,
    outcome: succeeds('a name that is none is an ordinary exception, and `..` ends at the root of the machine', {
      stdout: [
        'ValueError',
        'IsADirectoryError',
        'IsADirectoryError',
        'IsADirectoryError',
        'FileNotFoundError',
        'FileNotFoundError',
        'OSError',
        'FileNotFoundError',
        'wrote /work//./../work/ok',
        'wrote aaaaaaaaaaaaaaaaaaaa',
        'OSError',
        "['aaa', 'ok'] ['dev', 'tmp', 'usr', 'work']",
      ].join('\n'),
    }),
  },
  {
    id: 'own-js-names',
    language: 'javascript',
    program: `
for (const name of ['a\\0b', '..', '.', '', '/work/../etc/passwd', '../../../../etc/passwd', 'x'.repeat(1_000_000), 'd/'.repeat(100_000) + 'x', 'a'.repeat(255), 'a'.repeat(256), '\\ud800', null, {}, Symbol.iterator, { toString() { return '/etc/passwd'; } }]) {
  try { files.write(name, '1'); console.log('wrote'); } catch (e) { console.log(e.name, e.code ?? ''); }
}
return files.list('/work').map((name) => name.slice(0, 3));`,
    outcome: succeeds('a name that is none is an ordinary exception', {
      stdout: [
        'TypeError ',
        'Error EISDIR',
        'Error EISDIR',
        'TypeError ',
        'Error ENOENT',
        'Error ENOENT',
        'Error ENAMETOOLONG',
        'Error ENOENT',
        'wrote',
        'Error ENAMETOOLONG',
        'wrote',
        'TypeError ',
        'TypeError ',
        'TypeError ',
        'TypeError ',
      ].join('\n'),
      output: ['aaa', '\ud800'],
    }),
  },
  {
    id: 'own-py-links',
    language: 'python',
    program: `
import os, shutil
open("/work/a", "w").write("mine")
def tried(name, action):
    try:
        print(name, action())
    except Exception as e:
        print(name, type(e).__name__)
tried("symlink", lambda: os.symlink("/etc/passwd", "/work/link"))
tried("symlink up", lambda: os.symlink("..", "/work/up"))
tried("link", lambda: os.link("/work/a", "/work/b"))
tried("readlink", lambda: os.readlink("/work/a"))
tried("rename out", lambda: os.rename("/work/a", "/lib/a"))
tried("rename over", lambda: os.rename("/work", "/tmp/work"))
tried("rename into itself", lambda: (os.mkdir("/work/d"), os.rename("/work/d", "/work/d/d")))
tried("mkfifo", lambda: os.mkfifo("/work/fifo"))
tried("mknod", lambda: os.mknod("/work/mem", 0o020666, 0x0103))
tried("chroot", lambda: os.chroot("/work"))
tried("mount", lambda: os.mount)
tried("zip", lambda: shutil.unpack_archive("/work/a", "/"))
tried("realpath", lambda: os.path.realpath("/work/../../../etc/passwd"))
tried("still mine", lambda: open("/work/a").read())`,
    outcome: succeeds('there are no links and no devices to make, and nothing leaves /work and /tmp', { stdout_lines: 14, stdout_contains: ['symlink ', 'still mine mine'] }),
  },
  {
    id: 'own-py-image-files',
    language: 'python',
    program: `
import os
written = 0
for folder, _, names in os.walk("/"):
    for name in names[:20]:
        path = os.path.join(folder, name)
        if folder.startswith(("/work", "/tmp", "/dev")):
            continue
        for action in (lambda: open(path, "r+b").write(b"owned"), lambda: os.remove(path), lambda: os.truncate(path, 0), lambda: os.rename(path, path + "x")):
            try:
                action()
                written += 1
            except OSError:
                pass
written`,
    outcome: succeeds('the files of the image are read-only', { output: 0 }),
  },
  {
    id: 'own-py-tiny-files',
    language: 'python',
    program: 'for n in range(100_000):\n    with open(f"/work/{n}", "w") as f:\n        f.write("x")\nn',
    limits: { ...SLOWLY, disk_mb: 8 },
    outcome: fails('disk_limit', 'a file counts with what it takes besides its bytes', { error_name: 'OSError', error_contains: ['maxDiskBytes'] }),
  },
  {
    id: 'own-py-tiny-files-allowed',
    language: 'python',
    program: 'for n in range(100_000):\n    with open(f"/tmp/{n}", "w") as f:\n        f.write("x")\nn',
    limits: { ...SLOWLY, disk_mb: 64 },
    outcome: succeeds('a hundred thousand files fit into 64 MiB', { output: 99_999 }),
  },
  {
    id: 'own-js-tiny-files',
    language: 'javascript',
    program: "for (let n = 0; n < 100_000; n++) files.write(`/work/${n}`, 'x');",
    limits: { ...SLOWLY, disk_mb: 8 },
    outcome: fails('disk_limit', 'a file counts with what it takes besides its bytes', { error_name: 'Error', error_contains: ['ENOSPC'] }),
  },
  {
    id: 'own-py-holes',
    language: 'python',
    program: `
def tried(action):
    try:
        action()
        print("done")
    except OSError as e:
        print("refused")
for size in (2**62, 10**12, 2**31, 65 * 2**20):
    with open("/work/hole", "wb", buffering=0) as f:
        tried(lambda: f.truncate(size))
        tried(lambda: (f.seek(size), f.write(b"x")))`,
    limits: { disk_mb: 64 },
    outcome: succeeds('a hole counts as what it would hold', { stdout: 'refused\n'.repeat(8) }),
  },
  {
    id: 'own-py-deep-folders',
    language: 'python',
    program: `
import os
path, made = "/work", 0
try:
    while made < 10_000:
        path += "/d"
        os.mkdir(path)
        made += 1
except OSError as e:
    print(type(e).__name__, made < 100)
os.chdir(path.rpartition("/")[0])
try:
    for _ in range(10_000):
        os.mkdir("d")
        os.chdir("d")
except OSError as e:
    print(type(e).__name__)
import shutil
os.chdir("/work")
shutil.rmtree("/work/d")
os.listdir("/work")`,
    outcome: succeeds('folders go 64 deep, and what is deep can be removed', { stdout: 'OSError True\nOSError', output: [] }),
  },
  {
    id: 'own-py-unlinked',
    language: 'python',
    program: `
import os
held = []
for n in range(400):
    f = open("/tmp/gone", "wb")
    os.remove("/tmp/gone")
    f.write(b"x" * 1_000_000)
    f.flush()
    held.append(f)`,
    limits: { disk_mb: 32 },
    outcome: fails('disk_limit', 'a file that no folder names counts as long as it is open', { error_name: 'OSError' }),
  },
  {
    id: 'own-py-other-task',
    language: 'python',
    program: `
import os
found = []
for folder, _, names in os.walk("/"):
    for name in names:
        if not folder.startswith("/dev"):
            with open(os.path.join(folder, name), "rb") as f:
                if b"neighbour-" + b"secret" in f.read():
                    found.append(name)
import gc
found += [o[:40] for o in gc.get_objects() if isinstance(o, str) and "neighbour-" + "secret" in o]
found`,
    scenario: [
      {
        run: 'secret = "neighbour-" + "secret"\nopen("/work/s", "w").write(secret)\nopen("/tmp/s", "w").write(secret)\nimport os\nos.environ["S"] = secret',
        expect: { status: 'completed' },
      },
      { run: '@program' },
    ],
    limits: SLOWLY,
    outcome: succeeds('a machine that another task has used is as if new', { output: [] }),
  },
  {
    id: 'own-js-other-task',
    language: 'javascript',
    program: "return [files.list('/work'), files.list('/tmp'), typeof leaked, [].leaked === undefined]",
    scenario: [
      {
        run: "files.write('/work/s', 'neighbour-secret'); files.write('/tmp/s', 'neighbour-secret'); globalThis.leaked = 1; Array.prototype.leaked = 1;",
        expect: { status: 'completed' },
      },
      { run: '@program' },
    ],
    outcome: succeeds('a machine that another task has used is as if new', { output: [[], [], 'undefined', true] }),
  },
];
