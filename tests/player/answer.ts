/** What a case came to, in the words of the case bank and in the product's own. */
import type { TaskWire } from '@fermata/protocol/wire';
import { type TaskError, type TaskResult, toWire } from 'fermata';

export interface Answer {
  status: string;
  limitKind: string | undefined;
  /** The code of the error, and its name in the program. */
  code: TaskError['code'] | undefined;
  name: string | undefined;
  output: unknown;
  stdout: string;
  stderr: string;
  error: string;
  truncated: boolean;
}

const LIMIT_KINDS: Partial<Record<TaskError['code'], string>> = {
  cpu_limit: 'cpu',
  memory_limit: 'memory',
  disk_limit: 'disk',
  output_limit: 'output',
  tool_call_limit: 'tool_calls',
};
const STATUSES: Partial<Record<TaskResult['status'], string>> = { succeeded: 'completed', waiting: 'paused' };

export function answerOf({ status, output, stdout, stderr, error, truncated }: TaskResult): Answer {
  return {
    status: error ? statusOfError(error) : (STATUSES[status] ?? status),
    limitKind: error && LIMIT_KINDS[error.code],
    code: error?.code,
    name: error?.name,
    output: status === 'succeeded' ? toWire(output) : null,
    stdout,
    stderr,
    error: error ? [error.message, error.traceback, error.hint, `code ${error.code}`].filter(Boolean).join('\n') : '',
    truncated,
  };
}

/** The answer where the product refused to go on, by a named error. */
export function refusal({ code, message }: Pick<TaskError, 'code' | 'message'>): Answer {
  return {
    status: 'failed',
    limitKind: undefined,
    code,
    name: undefined,
    output: null,
    stdout: '',
    stderr: '',
    error: `${message}\ncode ${code}`,
    truncated: false,
  };
}

function statusOfError({ code }: TaskError): string {
  if (code === 'timeout') return 'timeout';
  if (code === 'library_not_allowed') return 'blocked';
  return LIMIT_KINDS[code] ? 'limit' : 'failed';
}

/** The answer of a server. */
export function answerOfWire(task: TaskWire): Answer {
  const { stdout = '', stderr = '', output = null, truncated = false } = 'result' in task ? task.result : {};
  const fault = task.status === 'failed' ? task.error : undefined;
  const code = fault?.code as TaskError['code'] | undefined;
  return {
    status: fault ? statusOfError(fault as TaskError) : (STATUSES[task.status as TaskResult['status']] ?? task.status),
    limitKind: code && LIMIT_KINDS[code],
    ...{ code, name: fault?.name, output, stdout, stderr, truncated },
    error: fault ? [fault.message, fault.traceback, fault.hint, `code ${code}`].filter(Boolean).join('\n') : '',
  };
}
