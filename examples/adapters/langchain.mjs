// A graph of LangGraph's whose agent has one code tool in place of ten. A payment inside of the program interrupts the graph, and is
// approved after the process has been killed. Run with: npx node examples/adapters/langchain.mjs
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { codeTool } from 'fermata/langchain';
import { example, QUESTION, sealKey, tools } from './shop.mjs';

const ten = tools.map(({ name, description, schema, execute }) => tool(execute, { name, description, schema }));
const code = codeTool(ten, { sealKey, interruptOn: { pay: true } });
const thread = { configurable: { thread_id: '1' } };

function graphOf(url, some, checkpointer) {
  const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL: `${url}/v1` } }).bindTools(some);
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addNode('tools', new ToolNode(some))
    .addEdge('__start__', 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile({ checkpointer });
}

// A checkpointer with a database needs none of this; that in memory is written out and read back by hand.
const written = ({ storage, writes }) =>
  JSON.stringify({ storage, writes }, (_, value) => (value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value));
const read = (text) =>
  Object.assign(
    new MemorySaver(),
    JSON.parse(text, (_, value) => (typeof value?.base64 === 'string' ? new Uint8Array(Buffer.from(value.base64, 'base64')) : value)),
  );

await example(import.meta.url, {
  direct: (url) => graphOf(url, ten, new MemorySaver()).invoke({ messages: [new HumanMessage(QUESTION)] }, thread),
  async ask(url) {
    const checkpointer = new MemorySaver();
    const { __interrupt__ } = await graphOf(url, [code], checkpointer).invoke({ messages: [new HumanMessage(QUESTION)] }, thread);
    for (const { name, args } of __interrupt__[0].value.actionRequests) console.log('asked to approve:', name, args);
    return written(checkpointer);
  },
  async approve(url, kept) {
    const { messages } = await graphOf(url, [code], read(kept)).invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), thread);
    return messages.at(-1).content;
  },
});
