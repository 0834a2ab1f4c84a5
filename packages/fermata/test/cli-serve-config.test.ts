/** `fermata serve --config`: secrets, rules and headers, which no program sees; and what is wrong with a configuration. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClient, type FermataClient } from '@fermata/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadServeConfig } from '../src/cli/serve-config.ts';
import { Cli } from './cli.ts';

const cli = new Cli();
let client: FermataClient;
let service: Server;
let host: string;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  service = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('fine');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  cli.file('key.txt', 'from a file\n');
  cli.file(
    'serve.json',
    JSON.stringify({
      secrets: { own: { file: 'key.txt' }, theirs: { value: 'x', tenants: ['others'] } },
      policy: [{ tool: 'get.denied', action: 'deny', reason: 'never' }],
      network_headers: [{ hosts: [`http://${host}`], name: 'Authorization', secret: 'own', prefix: 'Bearer ' }],
    }),
  );
  const args = ['--machines', 'threads', '--allow-private-tools', '--config', 'serve.json', '--secret', 'env=FROM_ENVIRONMENT'];
  client = createClient(await cli.serve(args, { FROM_ENVIRONMENT: 'from the environment' }));
}, 120_000);
afterAll(() => {
  service.close();
  cli[Symbol.dispose]();
});

test('secrets go with the requests of tools, headers with those of programs, and rules hold', { timeout: 120_000 }, async () => {
  for (const name of ['own', 'theirs', 'env']) {
    await client.tools.add({ kind: 'http', name: `get.${name}`, method: 'GET', url: `http://${host}/`, headers: { authorization: { secret: name } } });
  }
  await client.tools.add({ kind: 'http', name: 'get.denied', method: 'GET', url: `http://${host}/` });
  const code = `said = []
for name in ("own", "env", "theirs", "denied"):
    try:
        said.append(tools["get." + name]())
    except Exception as error:
        said.append(str(error))
import requests
said + [requests.get(task_input).text]`;
  const task = await client.tasks.create({ language: 'python', code, input: `http://${host}/`, tool_constraints: { network_access: [host] }, wait_seconds: 60 });
  expect(task).toMatchObject({
    status: 'succeeded',
    result: { output: ['fine', 'fine', 'get.theirs: the server has no secret "theirs"', 'the call of get.denied is denied: never', 'fine'] },
  });
  expect(seen).toEqual(['from a file', 'from the environment', 'Bearer from a file']);
  expect((await client.policy.get()).server).toEqual([{ tool: 'get.denied', action: 'deny', reason: 'never' }]);
});

test.each([
  ['{"secret": {}}', /did you mean "secrets"/],
  ['{"secrets": {"a": {"env": "NO_SUCH_VARIABLE"}}}', /the secret a: the environment has no NO_SUCH_VARIABLE/],
  ['{"secrets": {"a": {"file": "nothing.txt"}}}', /the secret a: ENOENT/],
  ['{"policy": [{"tool": "x", "action": "rate_limit"}]}', /policy: rule 1: rate_limit needs a rate/],
  ['{"network_headers": [{"hosts": ["a.example"], "name": "X-Key", "secret": "a"}]}', /network_headers: there is no secret "a"/],
  ['{"network_headers": [{"hosts": ["a.example"], "name": "X Key", "value": "a"}]}', /cannot be the name of a header/],
])('%s is refused', async (text, said) => {
  await expect(loadServeConfig(join(cli.folder, cli.file('wrong.json', text)))).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(said) });
});

test('a secret of the command line is a name and a variable', async () => {
  await expect(loadServeConfig(undefined, ['token'])).rejects.toThrow('write it as name=VARIABLE');
});
