/** What the adapters' types tell: inputs, contexts and decisions are those of the tools that were given. */
import { Agent, tool as agentsTool } from '@openai/agents';
import { generateText, type LanguageModel, tool } from 'ai';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type CodeOutcome, codeTool, codeWaits, type WaitingCodeCall, waitingCode } from '../../src/adapters/ai-sdk.ts';
import { type CodeDecisions, codeTool as langChainCodeTool } from '../../src/adapters/langchain.ts';
import { codeTool as agentsCodeTool } from '../../src/adapters/openai-agents.ts';

const tools = {
  find: tool({ inputSchema: z.object({ name: z.string() }), contextSchema: z.object({ key: z.string() }), execute: ({ name }) => name.length }),
  pay: tool({ inputSchema: z.object({ amount: z.number() }), execute: ({ amount }) => `paid ${amount}` }),
};

test("AI SDK: approvals see the input of their tool, and `toolsContext` is asked for by the tools' names", () => {
  const code = codeTool(tools, {
    toolApproval: {
      pay: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ amount: number }>();
        return input.amount > 10 ? 'user-approval' : undefined;
      },
    },
  });
  // @ts-expect-error there is no such tool
  codeTool(tools, { toolApproval: { pya: 'denied' } });
  expectTypeOf(code.execute).returns.resolves.toEqualTypeOf<CodeOutcome>();
  expectTypeOf(waitingCode).returns.toEqualTypeOf<WaitingCodeCall[]>();
  const ask = (model: LanguageModel) => generateText({ model, tools: { code }, toolsContext: { code: { find: { key: 'k' } } }, stopWhen: codeWaits, prompt: '' });
  // @ts-expect-error the key is a text
  const wrong = (model: LanguageModel) => generateText({ model, tools: { code }, toolsContext: { code: { find: { key: 5 } } }, prompt: '' });
  const plain = (model: LanguageModel) => generateText({ model, tools: { code: codeTool({ pay: tools.pay }) }, prompt: '' });
  expectTypeOf([ask, wrong, plain]).toBeArray();
});

test('LangChain and OpenAI Agents: the tool is one of theirs', () => {
  expectTypeOf(langChainCodeTool).returns.toHaveProperty('invoke');
  expectTypeOf<CodeDecisions['decisions'][number]['type']>().toEqualTypeOf<'approve' | 'edit' | 'reject' | 'respond'>();
  const pay = agentsTool<z.ZodObject<{ amount: z.ZodNumber }>, { user: string }>({
    name: 'pay',
    description: '',
    parameters: z.object({ amount: z.number() }),
    execute: () => 'paid',
  });
  const agent = new Agent<{ user: string }>({ name: 'a', tools: [agentsCodeTool([pay])] });
  expectTypeOf(agent.tools).toBeArray();
});
