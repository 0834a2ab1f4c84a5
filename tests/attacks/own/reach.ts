/** Ways out: files, processes and environment of the host, by every name that they go by. */
import { fails, succeeds } from '../outcome.ts';
import type { OwnAttack } from './attack.ts';

const CANARIES = ['canary-env-7f3a', 'canary-file-91bd', 'canary-ssh-55e0', 'root:x:'];
const expect = { not_contains: CANARIES };

export const REACH: readonly OwnAttack[] = [
  {
    id: 'own-py-file-urls',
    language: 'python',
    program: `
import urllib.request
for url in ("file:///etc/passwd", "file:///var/tmp/casebank-canary/secret.txt", "file://localhost/proc/self/environ", "FILE:/etc/passwd", "local_file:///etc/passwd", "ftp://127.0.0.1:47653/x", "jar:file:///etc/passwd"):
    try:
        print("REACHED", urllib.request.urlopen(url, timeout=1).read()[:100])
    except Exception as e:
        print(type(e).__name__)
try:
    print("REACHED", urllib.request.FileHandler().open_local_file(urllib.request.Request("file:///etc/passwd")).read())
except Exception as e:
    print(type(e).__name__)`,
    expect: { not_contains: [...CANARIES, 'REACHED'] },
    outcome: succeeds('a file URL leads to the files of the machine, and no other scheme leads anywhere', { stdout: 'URLError\n'.repeat(8) }),
  },
  {
    id: 'own-js-file-urls',
    language: 'javascript',
    program: `
const roads = {
  fetch: () => fetch('file:///etc/passwd'),
  import: () => import('file:///etc/passwd'),
  json: () => import('file:///etc/passwd', { with: { type: 'json' } }),
  read: () => files.readText('file:///etc/passwd'),
  url: () => files.readText(new URL('file:///etc/passwd').pathname),
  list: () => files.list('file:///'),
};
for (const [name, road] of Object.entries(roads)) {
  try { console.log(name, 'REACHED', await road()); } catch (e) { console.log(name, e.name, e.code ?? ''); }
}`,
    expect: { not_contains: [...CANARIES, 'REACHED'] },
    outcome: succeeds('a file URL is no path, and there is no loader', {
      stdout: 'fetch TypeError \nimport ReferenceError \njson ReferenceError \nread Error ENOENT\nurl Error ENOENT\nlist Error ENOENT',
    }),
  },
  {
    id: 'own-py-etc-passwd',
    language: 'python',
    program: 'open("/etc/passwd").read()',
    expect,
    outcome: fails('guest_error', 'there is no such file', { error_name: 'FileNotFoundError', error_contains: ["'/etc/passwd'"] }),
  },
  {
    id: 'own-js-etc-passwd',
    language: 'javascript',
    program: "return files.readText('/etc/passwd')",
    expect,
    outcome: fails('guest_error', 'there is no such file', { error_name: 'Error', error_contains: ['ENOENT'] }),
  },
  {
    id: 'own-py-proc-environ',
    language: 'python',
    program: `
import os
print([name for name in os.environ if "SECRET" in name or "FERMATA" in name], os.getenv("CASEBANK_HOST_SECRET"), os.getpid())
open("/proc/self/environ", "rb").read()`,
    expect,
    outcome: fails('guest_error', 'the environment is made up, and there is no /proc', { error_name: 'FileNotFoundError', stdout_contains: ['[] None '] }),
  },
  {
    id: 'own-js-proc-environ',
    language: 'javascript',
    program: "console.log(typeof process, typeof globalThis.Deno, typeof std);\nreturn files.read('/proc/self/environ')",
    expect,
    outcome: fails('guest_error', 'there is no environment, and no /proc', { error_name: 'Error', error_contains: ['ENOENT'], stdout: 'undefined undefined undefined' }),
  },
  {
    id: 'own-py-os-system',
    language: 'python',
    program: 'import os\nprint("before")\nos.system("cat /etc/passwd; touch /var/tmp/casebank-canary/owned")',
    expect,
    outcome: fails('guest_error', 'no process can be started', { error_name: 'OSError', error_contains: ['no other processes'], stdout: 'before' }),
  },
  {
    id: 'own-js-os-system',
    language: 'javascript',
    program: "console.log(typeof std, typeof bjson);\nreturn os.exec(['/bin/sh', '-c', 'cat /etc/passwd'])",
    expect,
    outcome: fails('guest_error', 'the modules of the qjs program are not in the image', {
      error_name: 'ReferenceError',
      error_contains: ['os is not defined'],
      stdout: 'undefined undefined',
    }),
  },
  {
    id: 'own-py-subprocess',
    language: 'python',
    program: 'import subprocess\nsubprocess.run(["/bin/cat", "/etc/passwd"], capture_output=True)',
    expect,
    outcome: fails('guest_error', 'no process can be started', { error_name: 'OSError', error_contains: ['no other processes'] }),
  },
  {
    id: 'own-py-every-start',
    language: 'python',
    program: `
import os
def tried(name, start):
    try:
        print(name, "RAN", start())
    except BaseException as e:
        print(name, "no")
import subprocess, asyncio, concurrent.futures
tried("call", lambda: subprocess.call("id", shell=True))
tried("getoutput", lambda: subprocess.getoutput("id"))
tried("popen", lambda: os.popen("id").read())
tried("spawn", lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]))
tried("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
tried("exec", lambda: os.execl("/bin/true", "true"))
tried("fork", lambda: os.fork())
tried("asyncio", lambda: asyncio.run(asyncio.create_subprocess_shell("id")))
tried("kill", lambda: os.kill(1, 9))
tried("pty", lambda: __import__("pty").spawn("id"))
tried("multiprocessing", lambda: __import__("multiprocessing").Process(target=print).start())
tried("posixsubprocess", lambda: __import__("_posixsubprocess").fork_exec)
tried("ctypes", lambda: __import__("ctypes").CDLL(None).system(b"id"))`,
    expect: { not_contains: [...CANARIES, 'RAN'] },
    outcome: succeeds('no name of the library starts a process or reaches one', {
      stdout: ['call', 'getoutput', 'popen', 'spawn', 'posix_spawn', 'exec', 'fork', 'asyncio', 'kill', 'pty', 'multiprocessing', 'posixsubprocess', 'ctypes']
        .map((name) => `${name} no\n`)
        .join(''),
    }),
  },
  {
    id: 'own-js-child-process',
    language: 'javascript',
    program: `
const roads = {
  require: () => require('child_process'),
  import: () => import('node:child_process'),
  hidden: () => (0, eval)('im' + 'port("child_process")'),
  made: () => new Function('return import("child_process")')(),
  async: () => (async () => {}).constructor('return await import("node:child_process")')(),
  binding: () => process.binding('spawn_sync'),
  constructor: () => this.constructor.constructor('return process')().mainModule.require('child_process'),
  error: () => { try { null.x; } catch (e) { return e.constructor.constructor('return process')(); } },
  tool: () => tools.ok.constructor.constructor('return process')(),
  files: () => files.read.constructor('return process')(),
  promise: () => tools.ok({}).constructor.constructor('return process')(),
  answer: async () => (await tools.ok({})).constructor.constructor('return process')(),
  prepare: () => { Error.prepareStackTrace = (_, frames) => frames; return new Error().stack[0].getThis(); },
  realm: () => new ShadowRealm().evaluate('process'),
};
for (const [name, road] of Object.entries(roads)) {
  try { const found = await road(); console.log(name, found?.exec || found?.pid || found?.mainModule ? 'REACHED' : typeof found); } catch (e) { console.log(name, e.name); }
}`,
    tools: { ok: { returns: { a: 1 } } },
    expect: { not_contains: [...CANARIES, 'REACHED'] },
    outcome: succeeds('what the host hands in was made in the machine, so its constructors are those of the machine', { stdout_lines: 14 }),
  },
  {
    id: 'own-py-network-modules',
    language: 'python',
    program: `
def tried(name, reach):
    try:
        reach()
        print(name, "REACHED")
    except BaseException as e:
        print(name, "no")
import socket, asyncio, http.client, smtplib, ftplib, poplib, imaplib, socketserver, urllib.request
port = 47653
tried("asyncio", lambda: asyncio.run(asyncio.open_connection("127.0.0.1", port)))
tried("http", lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=1).request("GET", "/"))
tried("smtp", lambda: smtplib.SMTP("127.0.0.1", port, timeout=1))
tried("ftp", lambda: ftplib.FTP().connect("127.0.0.1", port, timeout=1))
tried("pop", lambda: poplib.POP3("127.0.0.1", port, timeout=1))
tried("imap", lambda: imaplib.IMAP4("127.0.0.1", port, timeout=1))
tried("server", lambda: socketserver.TCPServer(("127.0.0.1", 47700), None))
tried("unix", lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
tried("pair", lambda: socket.socketpair())
tried("fd", lambda: socket.socket(fileno=0).recv(1))
tried("name", lambda: socket.getaddrinfo("localhost", port))
tried("logging", lambda: __import__("logging.handlers").handlers.SysLogHandler(("127.0.0.1", port)).socket.send(b"x"))`,
    expect: { port_closed_from_host: 47700, not_contains: ['REACHED'] },
    outcome: succeeds('no module of the library has a network under it', { stdout_lines: 13 }),
  },
];
