/**
 * Why targets are not met, found by profiling; shown on docs/benchmarks.md as long as they are not. By row, and by what the
 * target is of; `*` is for all of the row's.
 */
const TIMEOUT = 'The first turn of a thread arms a timeout of V8, which starts a thread and ends it again: a tenth of a millisecond on a quiet machine, over one on a shared one.';

export const REASONS: Record<string, Record<string, string>> = {
  'trivial-javascript': {
    'in the host process': 'It is about 0.2 ms of work; the rest is waiting for a processor that others use too.',
    'through the library': `${TIMEOUT} And a run crosses threads four times, waiting for a processor each time.`,
  },
  'trivial-python': {
    'in the host process': 'It is about 1.1 ms of work; the rest is waiting for a processor that others use too.',
    'through the library': `As above. ${TIMEOUT} And the used instance is compared with the base, page by page, before the next program has it.`,
  },
  'cold-javascript': {
    '*': 'Much of the processor time is for loading modules: 198 files in the main thread, 95 of them of zod, and 42 in the Worker. The rest is the Worker itself, and the first compilation of the interpreter by V8.',
  },
  'cold-python': {
    '*': 'As for JavaScript, and: 47 MB of image are read into new memory, and 12 MB of them copied once more to be compiled; the first machine compares all pages with those of the base; V8 compiles what the first program needs of the interpreter, and the hot part of that at once with its second compiler, too.',
  },
  'snapshot-size': {
    JavaScript: 'The program changes 63 pages, in which 3.1 KB differ from the base; compressed they are 3.7 KB, and the state of machine and task 0.6 KB.',
  },
  pause: {
    '*': 'A pause takes effect between two turns, of 8 ms of processor time each, more where the processor is shared. Then all of the memory is compared with the base to find the changed words, pages that were never touched included.',
  },
  continue: {
    '*': 'V8 compiles the interpreter when it first runs, and that is now, since the host has run nothing before; `fermata.prepare` does it in advance, see the next row.',
  },
  'cpu-python': {
    '*': 'The interpreter counts fuel at loops and calls, and Asyncify adds to every function that can be stopped. V8 compiles the hot functions with its second compiler after seconds of use only; until then they take twice as long.',
  },
  'cpu-javascript': {
    '*': 'The interpreter counts fuel at loops and calls, and Asyncify adds to every function that can be stopped.',
  },
  'tool-call': {
    '*': 'Two messages between threads, for each of which a thread wakes up, and the way through the interpreter.',
  },
  'durable-task': {
    'one alone':
      'Three commits stand one after the other - the task, the intent of its call, its end -, each synchronised with the disk; the row in memory is the same without them. A peer makes such commits too, and no machine.',
    '*': 'Three quarters of it are not durability but the program: a machine of its own for each, wiped and compared with its base before, two threads to cross, and a call. A peer runs a function of the host in their place.',
  },
};
