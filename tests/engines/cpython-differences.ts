/** Tests of CPython that end otherwise in a machine; see known-differences.ts. */
import type { KnownDifference } from './known-differences.ts';

const NO_PROCESSES = 'there are no other processes in a machine';
const NO_THREADS = 'there are no threads in a machine';
const NO_NETWORK = 'there is no network in a machine';
const NO_TEST_MODULES = 'it needs one of CPython\u2019s test modules in C, which the image does not have';
const NO_SUCH_MODULE = 'it needs a module that is left out of the image';
const NO_SOURCES = 'the library is there as bytecode, and the test reads its source';
const NO_SUCH_CALL = 'WASI has no such system call';
const RUNS_HERE = 'it is skipped natively for a property of that build or system, and runs in the machine';

export const CPYTHON_DIFFERENCES: readonly KnownDifference[] = [
  { reference: 'skipped', machine: 'ok', why: RUNS_HERE },
  // By what the machine says.
  {
    detail:
      /requires subprocess support|module requires subprocess|this machine has no other processes|sys\.executable required|requires os\.pipe|requires working os\.fork|does not support fork/,
    why: NO_PROCESSES,
  },
  { detail: /requires threading support|this machine has no threads|requires working threading/, why: NO_THREADS },
  {
    detail: /this machine has no network|no IPv6 support|IPv6 not supported|No UNIX Sockets|requires socket support|socket\.accept is broken|asyncio does not work under/,
    why: NO_NETWORK,
  },
  {
    detail: /_test(limited|internal|multiphase|singlephase|import|clinic)?(capi|phase|buffer|multiple|clinic)\w*|requires xxsubtype|needs _test|which the image does not have/,
    why: NO_TEST_MODULES,
  },
  {
    detail:
      /No module named '_?(ctypes|ssl|_ctypes|curses|readline|tkinter|multiprocessing|mmap|fcntl|resource|pwd|grp|termios|xmlrpc|wsgiref|pydoc_data|__phello__|site|_multiprocessing)\b|No ssl module|requires ctypes/,
    why: NO_SUCH_MODULE,
  },
  {
    detail:
      /requires working os\.chmod|test needs os\.umask|requires working os\.umask|os\.umask|tzset|st_blksize|pty and signal modules|os\.(symlink|link|mkfifo|mknod|fork|getuid|chown|kill|dup2?|pipe)\b|symlink/,
    machine: 'skipped',
    why: NO_SUCH_CALL,
  },
  { detail: /\/usr\/share\/zoneinfo/, why: 'time zones are in a package of the library and not in the system\u2019s folder' },
  { detail: /utf-8 mode is enabled|-E was given|unless there's a site module/, why: 'the guest starts in UTF-8 mode, without environment and without `site`' },
  { detail: /Not a directory: '\/usr\/local\/lib\/python313\.zip/, why: NO_SOURCES },
  { id: /test_exit_exception_traceback$/, detail: /_exit_wrapper/, why: NO_SOURCES },
  { detail: /limited (C )?stack|WASI|wasm32/, machine: 'skipped', why: 'CPython\u2019s tests themselves leave it out under WASI' },
];
