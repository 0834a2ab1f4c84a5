/** Puts a question to the user of the client, by elicitation. Who does not answer, or goes away, has decided nothing. */
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpExtra, McpRequest, UserDecision } from './mcp-tool.ts';

const NO_REASON = 'the user rejected it';

const FORM = {
  type: 'object' as const,
  properties: {
    decision: { type: 'string' as const, title: 'Decision', enum: ['approve', 'reject'] },
    reason: { type: 'string' as const, title: 'Reason', description: 'Of a rejection; the program is told' },
  },
  required: ['decision'],
};

export function askUser({ sendRequest }: Pick<McpExtra, 'sendRequest'>, timeoutMs: number): NonNullable<McpRequest['ask']> {
  return async (message, signal): Promise<UserDecision | undefined> => {
    try {
      const params = { mode: 'form' as const, message, requestedSchema: FORM };
      const { action, content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, { timeout: timeoutMs, signal });
      if (action === 'decline') return { approve: false, reason: NO_REASON };
      if (action !== 'accept') return undefined;
      if (content?.decision === 'approve') return { approve: true };
      const { reason } = content ?? {};
      return content?.decision === 'reject' ? { approve: false, reason: typeof reason === 'string' && reason !== '' ? reason : NO_REASON } : undefined;
    } catch {
      return undefined;
    }
  };
}
