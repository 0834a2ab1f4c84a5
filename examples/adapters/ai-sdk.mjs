// An agent of the Vercel AI SDK with one code tool in place of ten. A payment inside of the program is approved by the SDK's own
// approval flow, after the process has been killed. Run with: npx node examples/adapters/ai-sdk.mjs
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, tool, wrapLanguageModel } from 'ai';
import { codeApprovals, codeTool } from 'fermata/ai-sdk';
import { example, QUESTION, sealKey, tools } from './shop.mjs';

const ten = Object.fromEntries(tools.map(({ name, description, schema, execute }) => [name, tool({ description, inputSchema: schema, execute })]));
const code = codeTool(ten, { sealKey, toolApproval: { pay: 'user-approval' } });

const modelAt = (url) => createOpenAICompatible({ name: 'scripted', baseURL: `${url}/v1`, apiKey: 'none' })('scripted');
const question = { role: 'user', content: QUESTION };

/** Goes on with a conversation; gives all its messages, and what they are asked to approve. */
async function goOn(url, messages) {
  const model = wrapLanguageModel({ model: modelAt(url), middleware: codeApprovals() });
  const { text, content, responseMessages } = await generateText({ model, tools: { code }, messages, stopWhen: isStepCount(10) });
  return { text, messages: [...messages, ...responseMessages], requests: content.filter(({ type }) => type === 'tool-approval-request') };
}

await example(import.meta.url, {
  direct: (url) => generateText({ model: modelAt(url), tools: ten, messages: [question], stopWhen: isStepCount(10) }),
  async ask(url) {
    const { messages, requests } = await goOn(url, [question]);
    for (const { toolCall } of requests) console.log('asked to approve:', toolCall.input.call.tool, toolCall.input.call.arguments);
    return JSON.stringify({ messages, approvals: requests.map(({ approvalId }) => approvalId) });
  },
  async approve(url, kept) {
    const { messages, approvals } = JSON.parse(kept);
    const content = approvals.map((approvalId) => ({ type: 'tool-approval-response', approvalId, approved: true }));
    return (await goOn(url, [...messages, { role: 'tool', content }])).text;
  },
});
