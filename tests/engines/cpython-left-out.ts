/** What of CPython's tests is not run, and why: modules that are about what a machine does not have, and tests that take too long. */

const NO_THREADS = 'it needs threads';
const NO_PROCESSES = 'it starts other processes';
const NO_NETWORK = 'it needs sockets';
const NO_SUCH_MODULE = 'the module under test is not in the image';
const NO_SYSTEM = 'it is about system calls that WASI does not have';
const OTHER_PLATFORM = 'it is about another platform';
const BUILD = 'it is about building, installing or starting CPython';
const C_API = 'it needs the test modules in C, which the image does not have';
/** A fault of the guest: TestTracemallocEnabled ends in a call of a null function. */
const BREAKS = 'it breaks the machine down, by a call of a null function; to be mended in the guest';
const OWN_RUNNER = 'it tests CPython\u2019s own test runner and tools';

const REASONS: Record<string, string> = {
  [NO_THREADS]:
    'test_concurrent_futures test_free_threading test_thread test_threadedtempfile test_threading test_threading_local test_threadsignals test_interpreters test__interpreters test__interpchannels test_asyncio.test_free_threading test_asyncio.test_threads',
  [NO_PROCESSES]:
    'test_cmd_line test_cmd_line_script test_eintr test_faulthandler test_file_eintr test_fork1 test_multiprocessing_fork test_multiprocessing_forkserver test_multiprocessing_main_handling test_multiprocessing_spawn test_popen test_repl test_subprocess test_wait3 test_wait4 test_script_helper test_external_inspection test_gdb test_audit test_c_locale_coercion test_utf8_mode test_asyncio.test_subprocess test_asyncio.test_unix_events',
  [NO_NETWORK]:
    'test_asyncore test_docxmlrpc test_ftplib test_httplib test_httpservers test_imaplib test_poplib test_smtplib test_smtpnet test_socket test_socketserver test_ssl test_timeout test_urllib2_localnet test_urllib2net test_urllibnet test_xmlrpc test_wsgiref test_robotparser test_asyncio.test_sendfile test_asyncio.test_server test_asyncio.test_sock_lowlevel test_asyncio.test_ssl test_asyncio.test_buffered_proto test_asyncio.test_streams test_asyncio.test_events test_asyncio.test_selector_events test_asyncio.test_sslproto',
  [NO_SUCH_MODULE]:
    'test_ctypes test_curses test_dbm_gnu test_dbm_ndbm test_ensurepip test_fcntl test_grp test_idle test_ioctl test_mmap test_pyrepl test_readline test_resource test_stable_abi_ctypes test_syslog test_tcl test_termios test_tkinter test_ttk test_ttk_textonly test_tty test_turtle test_venv test_pty test_openpty test_pwd test_xxlimited test_xxtestfuzz test_dtrace test_crypt',
  [NO_SYSTEM]: 'test_devpoll test_epoll test_kqueue test_poll test_select test_selectors test_signal test_largefile test_bigaddrspace test_bigmem test_perf_profiler test_perfmaps',
  [OTHER_PLATFORM]:
    'test__osx_support test_android test_apple test_launcher test_msvcrt test_osx_env test_startfile test_winapi test_winconsoleio test_winreg test_winsound test_wmi test_asyncio.test_proactor_events test_asyncio.test_windows_events test_asyncio.test_windows_utils',
  [BUILD]:
    'test_cext test_clinic test_cppext test_embed test_getpath test_peg_generator test_site test_sysconfig test_tools test_asdl_parser test_generated_cases test_zipapp test_compileall',
  [C_API]: 'test_buffer test_capi test_compiler_assemble test_compiler_codegen test_dict_version test_fileutils test_lltrace test_opcache test_optimizer',
  [BREAKS]: 'test_tracemalloc',
  [OWN_RUNNER]: 'test_regrtest test_support',
};

export const LEFT_OUT: Record<string, string> = Object.fromEntries(Object.entries(REASONS).flatMap(([why, modules]) => modules.split(' ').map((module) => [module, why])));

/** Tests by module: class and method, or the end of the id, and why. */
export const LEFT_OUT_TESTS: Record<string, Record<string, string>> = {};
