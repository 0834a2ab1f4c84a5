/** What `strict` refuses, and what needs a network, by name. */

export const STRICT_NAMES = {
  /** Builtins of Python, and the names under which all of them are found. */
  python: new Set(['eval', 'exec', 'compile', '__import__', '__builtins__', '__loader__', '__spec__']),
  /** Attributes that lead from any object to those. */
  attributes: new Set(['__globals__', '__builtins__', '__subclasses__', '__loader__', '__spec__', '__import__', 'f_globals', 'f_builtins', 'gi_frame', 'cr_frame', 'tb_frame']),
  /** The five that the word stands for, and modules that are the same by another name. */
  modules: new Set([
    ...['os', 'sys', 'subprocess', 'importlib', 'ctypes'],
    ...['builtins', 'posix', '_posixsubprocess', '_ctypes', '_imp', 'imp', '_frozen_importlib', '_frozen_importlib_external', 'zipimport'],
    ...['runpy', 'pkgutil', 'code', 'codeop'],
  ]),
} as const;

export const NETWORK_MODULES = new Set([
  ...['socket', 'ssl', 'ftplib', 'smtplib', 'poplib', 'imaplib', 'telnetlib', 'socketserver', 'http.client', 'http.server', 'urllib.request', 'xmlrpc.client'],
  ...['requests', 'httpx', 'aiohttp', 'urllib3', 'websocket', 'websockets'],
]);

export const NETWORK_GLOBALS = new Set(['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource']);
