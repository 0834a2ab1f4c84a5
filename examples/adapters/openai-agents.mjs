// An agent of the OpenAI Agents SDK with one code tool in place of ten. A payment inside of the program is an interruption of the
// run, approved after the process has been killed. Run with: npx node examples/adapters/openai-agents.mjs
import { Agent, OpenAIProvider, Runner, RunState, setTracingDisabled, tool } from '@openai/agents';
import { codeTool } from 'fermata/openai-agents';
import { example, QUESTION, sealKey, tools } from './shop.mjs';

setTracingDisabled(true);
const asks = process.argv.length > 2; // the run with ten tools is only there to be counted
const ten = tools.map(({ name, description, schema, execute }) => tool({ name, description, parameters: schema, execute, needsApproval: asks && name === 'pay' }));

const agentWith = (some) => new Agent({ name: 'shopkeeper', instructions: 'You keep a shop.', model: 'scripted', tools: some });
const agent = agentWith([codeTool(ten, { sealKey })]);
const runnerAt = (url) => new Runner({ modelProvider: new OpenAIProvider({ apiKey: 'none', baseURL: `${url}/v1`, useResponses: false }) });

await example(import.meta.url, {
  direct: (url) => runnerAt(url).run(agentWith(ten), QUESTION),
  async ask(url) {
    const { state, interruptions } = await runnerAt(url).run(agent, QUESTION);
    for (const call of interruptions) console.log('asked to approve:', call.name, JSON.parse(call.arguments));
    return state.toString();
  },
  async approve(url, kept) {
    const state = await RunState.fromString(agent, kept);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    return (await runnerAt(url).run(agent, state)).finalOutput;
  },
});
