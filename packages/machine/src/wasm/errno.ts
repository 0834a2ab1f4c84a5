/** WASI preview 1 error numbers (those that this host answers). */
export const ERRNO = {
  success: 0,
  acces: 2,
  badf: 8,
  exist: 20,
  fbig: 22,
  inval: 28,
  io: 29,
  isdir: 31,
  mfile: 33,
  nametoolong: 37,
  noent: 44,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  notsup: 58,
  rofs: 69,
  spipe: 70,
} as const;

/** An operation refused with an error number; the WASI layer turns it into the return value. */
export class Errno extends Error {
  override readonly name = 'Errno';
  readonly errno: number;
  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}
