/** Tests of CPython that end otherwise in a machine; see known-differences.ts. */
import type { KnownDifference } from './known-differences.ts';

const NO_PROCESSES = 'there are no other processes in a machine';
const NO_THREADS = 'there are no threads in a machine';
const NO_NETWORK = 'there is no network in a machine';
const NO_TEST_MODULES = 'it needs one of CPython\u2019s test modules in C, which the image does not have';
const NO_SUCH_MODULE = 'it needs a module that is left out of the image';
const NO_SOURCES = 'the library is there as bytecode in an archive, and the test asks for its sources or files';
const NO_SUCH_CALL = 'WASI has no such system call';
const RUNS_HERE = 'it is skipped natively for a property of that build or system, and runs in the machine';

export const CPYTHON_DIFFERENCES: readonly KnownDifference[] = [
  { reference: 'skipped', machine: 'ok', why: RUNS_HERE },
  // By what the machine says.
  {
    detail:
      /requires subprocess|module requires subprocess|this machine has no other processes|sys\.executable required|requires os\.pipe|requires working os\.fork|all examples were skipped|requires multiprocessing|requires (ifconfig|ip|arp|lanscan|netstat)\b|a shell\b/,
    why: NO_PROCESSES,
  },
  { detail: /requires threading support|this machine has no threads|requires working threading|need threading|requires threads/, why: NO_THREADS },
  {
    detail: /this machine has no network|IPv6|UNIX Sockets|Unix sockets|requires socket support|socket\.accept is broken|asyncio does not work under|gethostname/,
    why: NO_NETWORK,
  },
  {
    detail:
      /_test(capi|internalcapi|limitedcapi|singlephase|multiphase|buffer|clinic\w*|import\w*|external\w*)\b|requires xxsubtype|ContainerNoGC|which the image does not have|ndarray object required/,
    why: NO_TEST_MODULES,
  },
  {
    detail:
      /No module named '_?(ctypes|ssl|curses|readline|tkinter|multiprocessing|mmap|fcntl|resource|pwd|grp|termios|xmlrpc|wsgiref|pydoc_data|__phello__|site|venv|ensurepip|idlelib|turtle|lib2to3|syslog|select|hashlib)\b|No ssl module|requires ctypes|C _uuid module|_hashlib|_hashopenssl|OpenSSL|(the|requires|require) (pwd|grp) module|pwd module|with termios|ctypes/i,
    why: NO_SUCH_MODULE,
  },
  {
    detail:
      /\b(os|posix)\.\w+|scheduler|pidfd|file holes|no function|mknod|sched_get_priority|fd parameter|tzset|time\.\w+|clock_settime|CLOCK_\w+|getcpuclockid|thread_time|thread_clock|st_blksize|pty and signal modules|sched affinity|extended attribute|fd support|signal\.\w+|SIG[A-Z]+|getrusage|mkfifo|symlink|symbolic link|hard ?links?|chmod|umask|setlocale|RLIMIT|fchmod|dir_fd|sparse|sync|disk_usage|command to run|safe rmtree|grp and pwd|mode 000|getuid/,
    machine: 'skipped',
    why: NO_SUCH_CALL,
  },
  { detail: /\[Errno 58\] Not supported: .* -> /, why: 'files in a machine have no links' },
  { detail: /\/usr\/share\/zoneinfo/, why: 'time zones are in a package of the library and not in the system\u2019s folder' },
  {
    detail: /utf-8 mode is enabled|UTF-8 mode|-E was given|unless there's a site module/i,
    machine: 'skipped',
    why: 'the guest starts in UTF-8 mode, without environment and without `site`',
  },
  { detail: /is not an external binary module|dynamic loading|zlib is a builtin module/i, why: 'all modules in C are built in' },
  {
    detail:
      /Not a directory: '\/usr\/local\/lib\/python313\.zip|could not get source code|source code not available|is a built-in class|_exit_wrapper|python313\.zip\/(os|importlib\/_bootstrap\w*)\.pyc|has no attribute '__file__'|__p?hello__|'zipimporter' object/,
    why: NO_SOURCES,
  },
  { detail: /importlib\/resources\/res\.txt/, why: 'importlib.resources takes itself for the caller where it is bytecode without source (mended upstream later, gh-123085)' },
  { detail: /doesn't implement IEE 754-2008/, why: 'fma of wasi-libc does not give the sign of a zero that IEEE 754 asks for' },
  { detail: /64[- ]?bit|not enough memory/i, machine: 'skipped', why: 'a machine has 32-bit pointers' },
  { id: 'test.test_compile.TestSpecifics.test_32_63_bit_values', why: 'a machine has 32-bit pointers' },
  { detail: /subinterpreters/, machine: 'skipped', why: 'there are no subinterpreters in a machine' },
  { detail: /limited (C )?stack|WASI|wasm32|wasm/i, machine: 'skipped', why: 'CPython\u2019s tests themselves leave it out under WASI' },
  {
    detail: /_WorkItem/,
    why: 'the stand-in for concurrent.futures.thread has none of its private names',
    fault: true,
  },
  { detail: /No module named '_pyrepl'/, why: 'pydoc, and with it help(), imports _pyrepl, which is left out of the image', fault: true },
  // By name.
  { id: 'test.test_pdb.test_pdb_interact_command', why: 'the guest starts without `site`' },
  { id: 'test.test_pdb.test_pdb_breakpoints_preserved_across_interactive_sessions', why: NO_SOURCES },
  {
    id: /^test\.test_linecache\.|Test_TestResult\.test_addFailure_filter_traceback_frames|^test\.test_trace\.|TestRoundtrip\.test_random_files$|SysModuleTest\.test_stdlib_dir$|\.test_module_repr_source$/,
    why: NO_SOURCES,
  },
  { id: /^test\.test_doctest\.|test_pdb_return_to_different_file$/, detail: /Failed doctest/, why: NO_SOURCES },
  { id: /^test\.test_io\..*large_file_ops$/, why: 'the file is larger than a task may have' },
  { id: /^test\.test_asyncio\.test_futures\..*\.test_wrap_future$/, why: 'it asks for two threads; an executor of a machine runs its tasks in turn' },
  {
    id: 'test.test_asyncio.test_base_events.BaseEventLoopWithSelectorTests.test_call_coroutine',
    why: 'the loop of the prelude takes a coroutine for a callback, also in debug mode',
    fault: true,
  },
  { id: /^test\.test_asyncio\.test_base_events\.BaseEventLoopWithSelectorTests\./, why: NO_NETWORK },
  { id: /^enum_rst|^enum\./, why: 'it reads the documentation or the source of the library, which are not in the image' },
  { id: /^test\.test_code\.CoExtra\./, why: NO_SUCH_MODULE },
  { id: /^test\.test_import\.SinglephaseInitTests\./, why: NO_TEST_MODULES },
  { detail: /TESTFN_UNENCODABLE|TESTFN_UNDECODABLE|undecodable|unencodable/i, machine: 'skipped', why: 'file names are any text in a machine' },
  { id: 'test.test_bdb.StateTestCase.test_skip', why: 'locks are written in Python in a machine, and a tracer sees into them' },
  { id: 'test.test_funcattrs.BuiltinFunctionPropertiesTest.test_builtin__self__', why: 'time.sleep is written in Python in a machine' },
  {
    id: /^test\.test_(cprofile|profile|sys_setprofile)\./,
    why: 'profilers are never told c_return and c_exception: GO_TO_INSTRUCTION of split-eval.h sets `opcode`, so that the body of CALL, CALL_KW and CALL_FUNCTION_EX takes an instrumented call for a plain one',
    fault: true,
  },
  { id: /^test\.test_os\.UtimeTests\./, why: 'a file has one time: what is set as the time of access is not kept', fault: true },
  { id: 'test.test_builtin.BuiltinTest.test_input', why: 'input() of the prelude does not pass over a stdout that cannot be flushed', fault: true },
  {
    id: 'test.test_time.TimeTestCase.test_sleep_exceptions',
    why: 'time.sleep of the prelude takes a text that is no number for a wrong value, and not for a wrong type',
    fault: true,
  },
  { id: 'test.test_reprlib.ReprTests.test_custom_repr', why: 'sys.stdin, stdout and stderr have their descriptors for names, and not <stdin>, <stdout> and <stderr>', fault: true },
  {
    id: 'test.test_shutil.TestArchives.test_unpack_archive_xztar',
    detail: /MemoryError/,
    why: 'an xz compressor takes 94 MB, and those in cycles stay until the next collection: together more than the limit',
  },
  {
    id: /^test\.test_sqlite3\..*\.(test_locking|test_raise_timeout)$/,
    why: 'SQLite is built without locks of files: two connections of a program do not keep each other out',
    fault: true,
  },
  { id: 'test.test_posixpath.PosixPathTest.test_realpath_invalid_paths', reference: 'error', why: 'it fails natively as well, at another place' },
  { id: 'test.test_call.CFunctionCallsErrorMessages.test_varargs1max', why: 'input() of the prelude has another name in the message for too many arguments', fault: true },
];
